import type { PushData } from '../../core/pushes/push_events.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import { pushRules } from '../../core/repositories/protected_branches.ts'
import type { Repository } from '../../git/repository.ts'
import {
  commitPayload,
  projectPayload,
  repositoryPayload,
  userPayload,
  type EventRow,
  type Payload,
  type ProjectPayload,
  type Site,
  type UserPayload,
} from './common.ts'

/** Newest commits that a payload shows. */
const MAX_COMMITS = 20
/** Paths of a commit that a payload names. */
const MAX_PATHS = 1_000
const ZERO = '0'.repeat(40)
const HEADS = 'refs/heads/'

/** The pusher, in the older names. */
const pusher = (user: UserPayload | null): Payload => ({
  user_id: user?.id ?? null,
  user_name: user?.name ?? null,
  user_username: user?.username ?? null,
  user_email: user === null || user.email === '[REDACTED]' ? '' : user.email,
  user_avatar: user?.avatar_url ?? null,
})

/** A branch or tag that was made, moved or deleted. System webhooks get no commits, as published. */
export async function pushHook(site: Site, event: EventRow, isSystem: boolean): Promise<Payload | undefined> {
  const project = await projectPayload(site, event.project_id)
  if (project === undefined) return undefined
  // `recordPush` wrote it.
  const data = event.data as unknown as PushData
  const repository = site.git.repository(repositoryPath(project.id))
  const isBranch = event.kind === 'push'
  const tag = isBranch || data.after === null ? undefined : await repository.tag(data.after)
  const checkout =
    isBranch || data.after === null ? data.after : ((await repository.resolve(data.after)) ?? data.after)
  const rules = isBranch ? await pushRules(site.db, project) : undefined
  return {
    object_kind: event.kind,
    event_name: event.kind,
    before: data.before ?? ZERO,
    after: data.after ?? ZERO,
    ref: data.ref,
    ref_protected: rules?.(data.ref.slice(HEADS.length)) !== undefined,
    checkout_sha: checkout,
    message: tag === undefined ? null : tag.message.replace(/\n$/, ''),
    ...pusher(await userPayload(site, event.author_id)),
    project_id: project.id,
    project,
    commits: isSystem ? [] : await commitsOf(repository, data, project),
    total_commits_count: data.commit_count,
    push_options: {},
    repository: repositoryPayload(project, true),
  }
}

/** The newest commits that a branch got, the oldest first. */
async function commitsOf(
  repository: Repository,
  data: PushData,
  project: ProjectPayload,
): Promise<Payload[]> {
  if (data.after === null || data.commit_count === 0) return []
  const known = data.before !== null && (await repository.commit(data.before)) !== undefined
  if ((await repository.commit(data.after)) === undefined) return []
  const limit = Math.min(MAX_COMMITS, data.commit_count)
  const shas = await repository.log({
    from: [data.after],
    ...(known && { exclude: [data.before] }),
    skip: 0,
    limit,
  })
  const commits: Payload[] = []
  for (const sha of shas.toReversed()) {
    const payload = await commitPayload(repository, sha, project)
    if (payload !== undefined) commits.push({ ...payload, ...(await pathsOf(repository, sha)) })
  }
  return commits
}

async function pathsOf(repository: Repository, sha: string): Promise<Payload> {
  const parent = (await repository.commit(sha))?.parents[0]
  const { files } = await repository.patch(parent, sha)
  const some = files.slice(0, MAX_PATHS)
  return {
    added: some.flatMap((file) => (file.newFile || file.renamedFile ? [file.newPath] : [])),
    modified: some.flatMap((file) =>
      file.newFile || file.deletedFile || file.renamedFile ? [] : [file.newPath],
    ),
    removed: some.flatMap((file) => (file.deletedFile || file.renamedFile ? [file.oldPath] : [])),
  }
}

/** All refs that one push moved, for system webhooks. */
export async function repositoryUpdateHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const project = await projectPayload(site, event.project_id)
  if (project === undefined) return undefined
  const { changes } = event.data as {
    changes: readonly { ref: string; before: string | null; after: string | null }[]
  }
  return {
    event_name: 'repository_update',
    ...pusher(await userPayload(site, event.author_id)),
    project_id: project.id,
    project,
    changes: changes.map(({ ref, before, after }) => ({ before: before ?? ZERO, after: after ?? ZERO, ref })),
    refs: changes.map(({ ref }) => ref),
  }
}
