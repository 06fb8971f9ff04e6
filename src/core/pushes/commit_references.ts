import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { RefMove } from '../../git/refs/refs.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { everyTime, wanted, type Job, type Wanted } from '../../jobs/job.ts'
import { closeIssues, closingIn } from '../planning/closing_references.ts'
import { referencesIn } from '../conversation/mention_text.ts'
import { repositoryPath } from '../places/projects.ts'
import { findReferred, tellReferred, type Referred } from '../conversation/references.ts'
import type { Viewer } from '../sight/roles.ts'

// References in commit messages to issues and merge requests, processed when the commits reach a branch.

const HEADS = 'refs/heads/'
/** The newest commits that one push brings are looked at, and as much of a message. */
const MAX_COMMITS = 100
const MAX_MESSAGE_CHARACTERS = 100_000

interface Pushed {
  readonly project_id: number
  readonly user_id: number
  readonly moves: readonly { readonly branch: string; readonly from: string | null; readonly to: string }[]
}

interface Here extends Viewer {
  readonly full_path: string
  readonly default_branch: string | null
  readonly closes: boolean
}
const here = statement(
  (p: Slots<Pick<Pushed, 'project_id' | 'user_id'>>) => sql<Here>`
    select u.id, u.admin, u.external, p.full_path, p.default_branch,
           coalesce((p.settings->>'autoclose_referenced_issues')::boolean, true) as closes
      from users u, projects p
     where u.id = ${p.user_id} and u.state = 'active' and p.id = ${p.project_id} and not p.archived`,
)

/** The job that reads the commits of moved branches; none where one commit came that names nothing. */
export async function commitJobs(
  { git }: Pick<Instance, 'git'>,
  { project_id, user_id }: Pick<Pushed, 'project_id' | 'user_id'>,
  moved: readonly RefMove[],
): Promise<Wanted[]> {
  const moves = moved.flatMap(({ ref, from, to }) =>
    ref.startsWith(HEADS) && to !== undefined
      ? [{ branch: ref.slice(HEADS.length), from: from ?? null, to }]
      : [],
  )
  const [move] = moves
  if (move === undefined) return []
  if (moves.length === 1 && (await isQuiet(git.repository(repositoryPath(project_id)), move))) return []
  return [wanted(processCommitMessages, { project_id, user_id, moves: moves.slice(0, MAX_COMMITS) })]
}

async function isQuiet(repository: Repository, { from, to }: Pushed['moves'][number]): Promise<boolean> {
  const commit = await repository.commit(to)
  const isOnly = commit?.parents.length === (from === null ? 0 : 1) && (commit.parents[0] ?? null) === from
  return isOnly && !/[#!]\d/.test(commit.message)
}

/** Lets issues and merge requests hear of the commits that name them, and closes what the default branch says is done. */
export const processCommitMessages: Job<Pushed> = {
  name: 'hear_commits',
  run: async ({ db, git }, { project_id, user_id, moves }, once = everyTime) => {
    const place = await db.one(here, { project_id, user_id })
    const repository = git.repository(repositoryPath(project_id))
    if (place === undefined || !(await repository.exists())) return
    let left = MAX_COMMITS
    for (const { branch, from, to } of moves) {
      if (left === 0) return
      const isDefault = branch === place.default_branch
      const shas = await arrived(repository, { from, to }, isDefault ? null : place.default_branch, left)
      left -= shas.length
      for (const sha of shas.toReversed()) {
        const commit = await repository.commit(sha)
        if (commit !== undefined)
          await db.transaction(async (tx) => {
            // An issue that an earlier run closed may have been reopened meanwhile.
            if (await once(tx, `${branch} ${sha}`))
              await hear(tx, { ...place, project_id }, commit, isDefault && place.closes)
          })
      }
    }
  },
}

/** New commits of a branch; of a new branch, those that the default branch lacks. */
async function arrived(
  repository: Repository,
  { from, to }: { readonly from: string | null; readonly to: string },
  beside: string | null,
  limit: number,
): Promise<readonly string[]> {
  const before = from ?? (beside === null ? undefined : await repository.ref(HEADS + beside))
  const known = before !== undefined && (await repository.commit(before)) !== undefined
  if ((await repository.commit(to)) === undefined) return []
  return repository.log({ from: [to], ...(known && { exclude: [before] }), skip: 0, limit })
}

async function hear(
  db: Db,
  place: Here & { readonly project_id: number },
  { id: sha, message }: Commit,
  closes: boolean,
): Promise<void> {
  const text = message.slice(0, MAX_MESSAGE_CHARACTERS)
  const references = referencesIn(text)
  if (references.length === 0) return
  const project = { id: place.project_id, full_path: place.full_path }
  const found = await findReferred(db, place, project, references)
  const done = closes ? meantToClose(text, place, found) : []
  await close(db, place, sha, done)
  const commit = { id: 0, kind: 'commit', iid: null, sha } as const
  // Under what it closes stands that.
  const others = found.filter((one) => !done.includes(one))
  await tellReferred(db, { actor: place, about: commit, project }, others)
}

/** Closing references act where the pusher may close the issue. */
function meantToClose(text: string, place: Here, found: readonly Referred[]): Referred[] {
  const named = closingIn(text).map(({ path, iid }) => `${(path ?? place.full_path).toLowerCase()}#${iid}`)
  return found.filter(
    ({ kind, path, iid, changes }) =>
      kind === 'issue' && changes && named.includes(`${path.toLowerCase()}#${iid}`),
  )
}

async function close(
  db: Db,
  place: Here & { readonly project_id: number },
  sha: string,
  meant: readonly Referred[],
): Promise<void> {
  for (const project_id of new Set(meant.map((one) => one.project_id))) {
    const isHere = project_id === place.project_id
    const iids = meant.filter((one) => one.project_id === project_id).map(({ iid }) => iid)
    const via = `commit ${isHere ? '' : `${place.full_path}@`}${sha}`
    await closeIssues(db, iids, { project_id, user_id: place.id, via, code_of: place.project_id })
  }
}
