import type { Db } from '../../db/db.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import { compareBranches, headOf } from './comparing.ts'
import type { Noteable } from '../conversation/noteable.ts'
import { noteCompared, noteStatus, type Compared } from './rows.ts'
import { repositoryPath } from '../places/projects.ts'
import { parseCommands } from '../conversation/quick_action_text.ts'

// Reads git before the transaction that changes a merge request: no transaction waits for git.

const HEADS = 'refs/heads/'

/** The difference between a merge request's source branch and one target branch. */
interface Comparison {
  readonly target_branch: string
  /** The merge request's head when git was read: another head since then makes the comparison void. */
  readonly known_head: string | null
  /** Undefined where one of the two has no commit. */
  readonly compared: Compared | undefined
}

type Ends = Pick<
  MergeRequest,
  'project_id' | 'source_project_id' | 'source_branch' | 'target_branch' | 'head_sha'
>

/** The branches that a change of a merge request names, as they stood before its transaction. */
export interface TargetBranches {
  readonly existing: ReadonlySet<string>
  readonly comparisons: readonly Comparison[]
}

interface Wanted {
  /** The text whose commands may name branches. */
  readonly text: string
  readonly target_branch?: string | undefined
  readonly reopens?: boolean
}

const COMMANDS: ReadonlySet<string> = new Set(['target_branch', 'reopen'])

/** Looks up the branches that a change names, and compares with those that it may lead to. */
export async function readTargetBranches(
  git: Instance['git'],
  request: Ends,
  { text, target_branch, reopens = false }: Wanted,
): Promise<TargetBranches> {
  const { commands } = parseCommands(text, COMMANDS)
  const named = commands.flatMap(({ name, argument }) => (name === 'target_branch' ? [argument] : []))
  const asked = [...new Set([...named, ...(target_branch === undefined ? [] : [target_branch])])]
  const repository = git.repository(repositoryPath(request.project_id))
  const tips = await Promise.all(asked.map((branch) => repository.ref(HEADS + branch)))
  const existing = asked.filter((_, at) => tips[at] !== undefined)
  const again = reopens || commands.some(({ name }) => name === 'reopen')
  const last = named.findLast((branch) => existing.includes(branch))
  const wanted = new Set([last, target_branch, again ? request.target_branch : undefined])
  const comparisons: Comparison[] = []
  for (const branch of wanted)
    if (branch !== undefined && (again || branch !== request.target_branch))
      comparisons.push(await compareInto(git, request, branch))
  return { existing: new Set(existing), comparisons }
}

async function compareInto(git: Instance['git'], request: Ends, target_branch: string): Promise<Comparison> {
  const tip = await headOf(git, request)
  const head = tip ?? request.head_sha
  const repository = git.repository(repositoryPath(request.project_id))
  const found = head === null ? undefined : await compareBranches(repository, { head, target_branch })
  const compared = found && tip === undefined ? { ...found, status: 'broken' as const } : found
  return { target_branch, known_head: request.head_sha, compared }
}

const one = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('merge_requests').selectAll().where('id', '=', p.id),
)
/** The same for a text that is said about something; undefined where it names no branch of a merge request. */
export async function targetBranchesIn(
  { db, git }: Pick<Instance, 'db' | 'git'>,
  about: Noteable,
  text: string,
): Promise<TargetBranches | undefined> {
  if (about.kind !== 'merge_request' || parseCommands(text, COMMANDS).commands.length === 0) return undefined
  const request = await db.one(one, { id: about.id })
  return request && readTargetBranches(git, request, { text })
}

/** Writes down what the merge request compares from now on; without a comparison that holds, that nobody knows yet. */
export async function noteComparison(
  db: Db,
  request: Pick<MergeRequest, 'id' | 'head_sha' | 'target_branch'>,
  branches: TargetBranches | undefined,
): Promise<void> {
  const { id, head_sha, target_branch } = request
  const comparison = branches?.comparisons.find(
    (one) => one.target_branch === target_branch && one.known_head === head_sha,
  )
  if (comparison === undefined) return noteStatus(db, [id], 'unchecked')
  if (comparison.compared === undefined) return noteStatus(db, [id], 'broken')
  await noteCompared(db, id, comparison.compared)
}
