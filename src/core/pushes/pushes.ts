import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import { pointHead } from '../../git/refs/head.ts'
import type { RefMove } from '../../git/refs/refs.ts'
import type { Instance } from '../../instance.ts'
import { enqueue } from '../../jobs/job.ts'
import { tellOfPush } from './news.ts'
import type { PushOptions } from './options.ts'
import type { UndeliveredPush } from './undelivered_pushes.ts'
import { followBranches } from '../merge_requests/moves.ts'
import { repositoryPath } from '../places/projects.ts'
import { protectDefaultBranch } from '../repositories/protected_branches.ts'
import { findReadme } from '../repositories/readmes.ts'
import { maintainRepository } from '../repositories/repositories.ts'

const HEADS = 'refs/heads/'

/** `actor` is who moves what moves. */
type Tools = Pick<Instance, 'db' | 'git' | 'settings' | 'pendingRefUpdates'> & {
  readonly actor?: { readonly id: number } | null
  /** Options of a push. */
  readonly options?: PushOptions
}
interface Place {
  readonly id: number
}

interface Activity {
  readonly id: number
  readonly at: Date
  readonly default_branch: string | null
  /** Null where it cannot have changed. */
  readonly readme_path: string | null
  readonly born: boolean
}
const noteActivity = statement(
  (p: Slots<Activity>) => sql`
    update projects
       set last_activity_at = greatest(last_activity_at, ${p.at}::timestamptz),
           default_branch = coalesce(${p.default_branch}, default_branch),
           readme_path = coalesce(${p.readme_path}, readme_path),
           empty_repo = empty_repo and not ${p.born}
     where id = ${p.id}`,
)

/**
 * Runs `move`, which moves refs of the project, and then lets its rows hear of what moved. Everything that moves refs
 * goes through here: commits by the interface, branches and tags, pushes. `first` says that the project has no commit yet.
 * What has moved stays moved: when the rows cannot hear of it now, the reconciler tells them.
 */
export async function movingRefs<Result>(
  tools: Tools,
  project: Place,
  first: boolean,
  move: () => Promise<{ readonly result: Result; readonly moves: readonly RefMove[] }>,
): Promise<Result> {
  const end = await tools.pendingRefUpdates.begin(project.id, first)
  let heard = false
  try {
    const { result, moves } = await move()
    const push = pushOf(tools, project, moves)
    // Not an error of the caller's: it is in git, durably, and a second try would write it twice.
    heard = await refsMoved(tools, project, { moves, push }, first).then(
      () => true,
      async () => {
        // On disk until the database is back: refs alone do not tell which commits are new.
        if (push) await tools.pendingRefUpdates.undelivered.keep(push).catch(() => {})
        return false
      },
    )
    return result
  } catch (error) {
    // After any error: without a branch there is nothing to process.
    if (first)
      heard = await tools.git
        .repository(repositoryPath(project.id))
        .isEmpty()
        .catch(() => false)
    throw error
  } finally {
    await end(heard)
  }
}

/** Undefined where nobody moved anything. */
function pushOf(
  { actor, options }: Tools,
  project: Place,
  moves: readonly RefMove[],
): UndeliveredPush | undefined {
  if (!actor || moves.length === 0) return undefined
  const by = { project_id: project.id, user_id: actor.id }
  return { push_id: randomUUID(), ...by, moves, ...(options && { options }) }
}

async function refsMoved(
  tools: Tools,
  project: Place,
  { moves, push }: { readonly moves: readonly RefMove[]; readonly push?: UndeliveredPush | undefined },
  first: boolean,
): Promise<void> {
  if (moves.length === 0) return
  const born = moves.some(({ ref, from }) => from === undefined && ref.startsWith(HEADS))
  const defaultBranch = born ? await settleDefaultBranch(tools, project, first) : undefined
  await tools.db.run(noteActivity, {
    id: project.id,
    at: new Date(),
    default_branch: defaultBranch ?? null,
    readme_path: await movedReadme(tools, project, moves),
    born,
  })
  const branches = moves.filter(({ ref }) => ref.startsWith(HEADS)).map(({ ref }) => ref.slice(HEADS.length))
  if (branches.length > 0) await followBranches(tools, project, branches)
  if (tools.git.isDue(repositoryPath(project.id))) {
    const payload = { project_id: project.id }
    await enqueue(tools.db, maintainRepository, payload, `maintain_repository ${project.id}`)
  }
  // Last: after a fault before it, the push is kept to be heard later.
  if (push) await tellOfPush(tools, push)
}

/** The readme of the default branch, where that moved. */
async function movedReadme({ git }: Tools, { id }: Place, moves: readonly RefMove[]): Promise<string | null> {
  const repository = git.repository(repositoryPath(id))
  const head = await repository.defaultBranch()
  const hasMoved = head !== undefined && moves.some(({ ref }) => ref === HEADS + head)
  return hasMoved ? findReadme(repository, head) : null
}

/**
 * The default branch, once there are branches: HEAD's, or where that does not exist one that does, which HEAD then names.
 * With its first commit it is protected. Undefined while there are no branches.
 */
async function settleDefaultBranch(
  { db, git, settings }: Tools,
  { id }: Place,
  first: boolean,
): Promise<string | undefined> {
  const repository = git.repository(repositoryPath(id))
  return repository.locked(['HEAD'], async () => {
    const head = await repository.defaultBranch()
    const stands = head !== undefined && (await repository.ref(HEADS + head)) !== undefined
    const branch = stands ? head : await firstBranch()
    if (branch === undefined) return undefined
    if (!stands) await pointHead(git.directory(repository.path), branch)
    if (first || !stands) await protectDefaultBranch(db, settings, { id, default_branch: branch })
    return branch
  })

  async function firstBranch(): Promise<string | undefined> {
    const names = (await repository.refs(HEADS)).map(({ name }) => name.slice(HEADS.length))
    return ['main', 'master'].find((name) => names.includes(name)) ?? names[0]
  }
}

/**
 * Brings the rows of a project in line with its refs. `since`: when refs may have begun to move unheard. False when there
 * are no branches to tell of.
 */
export async function reconcile(
  tools: Tools,
  project: Place,
  { since, first }: { readonly since: Date; readonly first: boolean },
): Promise<boolean> {
  const repository = tools.git.repository(repositoryPath(project.id))
  if (!(await repository.exists())) return false
  const refs = await repository.refs(HEADS)
  if (refs.length === 0) return false
  const branch = await settleDefaultBranch(tools, project, first)
  const newest = await repository.log({ all: true, skip: 0, limit: 1 })
  const commit = newest[0] === undefined ? undefined : await repository.commit(newest[0])
  const committed = (commit?.committer.date.seconds ?? 0) * 1000
  // A date may lie in the future; activity does not.
  const at = new Date(Math.min(Date.now(), Math.max(committed, since.getTime())))
  await tools.db.run(noteActivity, {
    id: project.id,
    at,
    default_branch: branch ?? null,
    readme_path: branch === undefined ? null : await findReadme(repository, branch),
    born: true,
  })
  await followBranches(tools, project, undefined)
  return true
}
