import type { Change, ChangeFault } from '../../git/objects/changes.ts'
import { ChangeRefused } from '../../git/objects/changes.ts'
import type { Signature } from '../../git/objects/commit.ts'
import { isGitError } from '../../git/errors.ts'
import { isRefName, isSha } from '../../git/names.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { borrowCommit } from '../../git/borrowing.ts'
import { commitUnder, keepCommitKey } from '../repositories/commit_keys.ts'
import { repositoryPath } from '../places/projects.ts'
import { movingRefs } from './pushes.ts'

const HEADS = 'refs/heads/'
/** Times that a branch may move away under a commit, by another process, before the caller is told. */
const ATTEMPTS = 8

/** Why a commit was not made, in the published words. */
export class CommitRefused extends Error {}

interface Person {
  readonly name: string
  readonly email: string
}

/** Parts that a commit needs: the context of an operation with a repository. */
export interface Writing extends Pick<Instance, 'db' | 'git' | 'settings' | 'pendingRefUpdates'> {
  readonly project: { readonly id: number }
  readonly repository: Repository
  readonly actor: Person & { readonly id: number }
  readonly now: Date
  readonly stillMatches: () => Promise<void>
  readonly header: (name: string) => string | undefined
}

/** A commit that is wanted. Without a start it follows the tip of `branch`. */
export interface CommitPlan {
  readonly branch: string
  readonly startBranch?: string | undefined
  readonly startSha?: string | undefined
  /** The repository that it starts in, when that is another one. */
  readonly startIn?: string | undefined
  /** Lets the branch be replaced by what starts elsewhere; where it is protected only if `rewrites`. */
  readonly force?: boolean | undefined
  readonly rewrites?: boolean
  readonly message: string
  readonly author?: Partial<Person>
  readonly changes: readonly Change[]
  /** Files and the last commits of them that the caller knows of. */
  readonly known?: readonly { readonly path: string; readonly commit: string }[]
}

/** Makes a commit and moves the branch to it, or makes the branch. Its hash. Throws CommitRefused. */
export async function commitChanges(writing: Writing, plan: CommitPlan): Promise<string> {
  const { repository } = writing
  const start = await namedStart(writing, plan)
  const first =
    start === undefined
      ? (await startOf(repository, plan, start)).empty
      : plan.startIn !== undefined && (await repository.isEmpty())
  return moveBranch(writing, plan.branch, first, async (tip) => {
    const base = await checkedBase(repository, plan, start, tip)
    await checkKnown(repository, base, plan.known ?? [])
    const { commit } = await repository.writeChanges(base, plan.changes, {
      parents: base === undefined ? [] : [base],
      author: signatureOf(writing.actor, writing.now, plan.author),
      committer: signatureOf(writing.actor, writing.now),
      message: plan.message,
    })
    return commit
  }).catch((error: unknown) => {
    throw error instanceof ChangeRefused ? new CommitRefused(changeText(error)) : error
  })
}

/**
 * Moves a branch to the commit that `work` makes on top of its tip, which nobody else can move meanwhile. `work` runs
 * again when another process did. An `Idempotency-Key` under which the branch has a commit already gets that one. Throws
 * CommitRefused when the branch goes on moving, or its name cannot be.
 */
export async function moveBranch(
  writing: Writing,
  branch: string,
  first: boolean,
  work: (tip: string | undefined) => Promise<string>,
): Promise<string> {
  const { repository, project } = writing
  const ref = HEADS + branch
  const given = writing.header('idempotency-key')?.slice(0, 255)
  const key = given && { project_id: project.id, user_id: writing.actor.id, key: given, branch }
  const move = (): Promise<string> =>
    movingRefs(writing, project, first, () =>
      repository.locked([ref], async () => {
        await writing.stillMatches()
        const from = await tipOf(repository, branch)
        const made = key && (await commitUnder(writing.db, key))
        if (made && from && (await holds(repository, from, made))) return { result: made, moves: [] }
        const to = await work(from)
        if (key) await keepCommitKey(writing.db, key, to)
        const moves = [{ ref, from, to }]
        await repository.moveRefs(moves)
        return { result: to, moves }
      }),
    )
  for (let attempt = 1; ; attempt += 1)
    try {
      return await move()
    } catch (error) {
      // `a` cannot be a branch beside `a/b`.
      if (isGitError(error, 'refused') && !(await repository.ref(ref))) throw badName(branch)
      if (!isGitError(error, 'moved')) throw error
      if (attempt === ATTEMPTS)
        throw new CommitRefused(`Could not update ${ref}. Please refresh and try again.`)
    }
}

/** Whether the branch at `tip` has that commit, which may never have come to be. */
const holds = async (repository: Repository, tip: string, sha: string): Promise<boolean> =>
  (await repository.commit(sha)) !== undefined && repository.isAncestor(sha, tip)

/** A signature of now. What git cannot hold in one is left out. */
export function signatureOf(person: Person, now: Date, instead: Partial<Person> = {}): Signature {
  const clean = (text: string): string => text.replaceAll(/[<>\n\r\0]/g, '').trim()
  const name = clean(instead.name ?? '') || clean(person.name) || 'Unknown'
  const email = clean(instead.email ?? '') || clean(person.email)
  return { name, email, date: { seconds: Math.floor(now.getTime() / 1000), offset: '+0000' } }
}

/** Whether a branch may be made under this name: what reads as a hash, or as another kind of ref, would be taken for it. */
export const isBranchName = (name: string): boolean =>
  isRefName(name) &&
  name !== 'HEAD' &&
  !isSha(name.toLowerCase()) &&
  !/^refs\/(heads|tags|remotes)\//.test(name)

const badName = (branch: string): CommitRefused =>
  new CommitRefused(
    `Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`,
  )

const onNoBranch = (): CommitRefused =>
  new CommitRefused('You can only create or edit files when you are on a branch')

const taken = (branch: string): CommitRefused =>
  new CommitRefused(
    `A branch called '${branch}' already exists. Switch to that branch in order to make changes`,
  )

async function checkedSha(repository: Repository, sha: string): Promise<string> {
  const hash = sha.toLowerCase()
  if (!isSha(hash)) throw new CommitRefused(`Invalid start_sha '${sha}'`)
  if ((await repository.commit(hash)) === undefined) throw new CommitRefused(`Cannot find start_sha '${sha}'`)
  return hash
}

/** The commit to start from, where the plan names one or another repository, from which it is brought here. */
async function namedStart(
  { git, project, repository }: Writing,
  { branch, startBranch = branch, startSha, startIn, force = false }: CommitPlan,
): Promise<string | undefined> {
  if (startIn === undefined) return startSha === undefined ? undefined : checkedSha(repository, startSha)
  const there = git.repository(startIn)
  const sha = startSha === undefined ? await tipOf(there, startBranch) : await checkedSha(there, startSha)
  if (sha === undefined) throw onNoBranch()
  // Nothing is brought here for a branch that will not be.
  if (!force && (await tipOf(repository, branch)) !== undefined) throw taken(branch)
  if (!isBranchName(branch)) throw badName(branch)
  if ((await repository.commit(sha)) === undefined)
    await borrowCommit(git, sha, { from: startIn, to: repositoryPath(project.id) })
  return sha
}

interface Start {
  /** The commit that the new one follows, when that is not the branch's own tip. */
  readonly sha: string | undefined
  readonly empty: boolean
}

/** Where the commit starts; there is no such place in an empty repository only. */
async function startOf(
  repository: Repository,
  { branch, startBranch = branch }: CommitPlan,
  start: string | undefined,
): Promise<Start> {
  if (start !== undefined) return { sha: start, empty: false }
  const tip = await tipOf(repository, startBranch)
  if (tip !== undefined) return { sha: tip, empty: false }
  if (await repository.isEmpty()) return { sha: undefined, empty: true }
  // It may have been made since it was looked for: by the first commit of another.
  const made = await tipOf(repository, startBranch)
  if (made === undefined) throw onNoBranch()
  return { sha: made, empty: false }
}

const tipOf = async (repository: Repository, branch: string): Promise<string | undefined> =>
  isRefName(branch) ? repository.ref(HEADS + branch) : undefined

async function checkedBase(
  repository: Repository,
  plan: CommitPlan,
  start: string | undefined,
  tip: string | undefined,
): Promise<string | undefined> {
  const { branch, startBranch = branch, force = false, rewrites = true } = plan
  const different = start !== undefined || startBranch !== branch
  if (!different && tip !== undefined) return tip
  const { sha, empty } = await startOf(repository, plan, start)
  if (tip !== undefined && !force) throw taken(branch)
  if ((different || empty) && !isBranchName(branch)) throw badName(branch)
  if (tip !== undefined && sha !== undefined && !rewrites && !(await repository.isAncestor(tip, sha)))
    throw new CommitRefused('You are not allowed to force push code to a protected branch on this project.')
  return sha
}

/** Refuses to change a file that has changed since the commit that the caller knows of. */
async function checkKnown(
  repository: Repository,
  base: string | undefined,
  known: NonNullable<CommitPlan['known']>,
): Promise<void> {
  if (base === undefined) return
  const ids = new Map<string, string | undefined>()
  for (const { commit } of known) if (!ids.has(commit)) ids.set(commit, await repository.resolve(commit))
  for (const { path, commit } of known) {
    const seen = ids.get(commit)
    if (seen === undefined || seen === base) continue
    const [before, now] = [await lastTouch(repository, seen, path), await lastTouch(repository, base, path)]
    // A side without a known value contradicts nothing, as published.
    if (before !== undefined && now !== undefined && before !== now)
      throw new CommitRefused(`The file has changed since you started editing it: ${path}`)
  }
}

const lastTouch = async (repository: Repository, from: string, path: string): Promise<string | undefined> =>
  (await repository.log({ from: [from], path, skip: 0, limit: 1 }))[0]

const CHANGE_TEXTS: Readonly<Record<ChangeFault, (path: string) => string>> = {
  exists: () => 'A file with this name already exists',
  missing: () => "A file with this name doesn't exist",
  empty_path: () => 'You must provide a file path',
  traversal: () => 'Path cannot include directory traversal',
  invalid_path: (path) => `invalid path: '${path}'`,
  gitmodules: (path) => `disallowed content of '${path}'`,
}
const changeText = ({ reason, path }: ChangeRefused): string => CHANGE_TEXTS[reason](path)
