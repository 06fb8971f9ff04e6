import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import type { Repository } from '../../git/repository.ts'

// Objects that several published payloads hold.

export type Payload = Record<string, unknown>
export type Site = Pick<Instance, 'db' | 'git' | 'config'>

/** A row of the outbox. */
export interface EventRow {
  readonly id: number
  readonly created_at: Date
  readonly kind: string
  readonly action: string
  readonly author_id: number | null
  readonly project_id: number | null
  readonly group_id: number | null
  readonly target_type: string | null
  readonly target_id: number | null
  readonly noteable_kind: string | null
  readonly noteable_id: number | null
  readonly trigger: string | null
  readonly data: Payload
}

interface ProjectRow {
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly avatar_url: string | null
  readonly full_path: string
  readonly visibility: 'private' | 'internal' | 'public'
  readonly default_branch: string | null
  readonly ci_config_path: string | null
  readonly namespace: string
}
const project = statement(
  (p: Slots<{ id: number }>) => sql<ProjectRow>`
    select p.id, p.name, p.description, p.avatar_url, p.full_path, p.visibility, p.default_branch,
           nullif(p.settings->>'ci_config_path', '') as ci_config_path, n.name as namespace
      from projects p join namespaces n on n.id = p.namespace_id where p.id = ${p.id}`,
)
const LEVELS = { private: 0, internal: 10, public: 20 } as const

export interface ProjectPayload extends Payload {
  readonly id: number
  readonly name: string
  readonly web_url: string
  readonly path_with_namespace: string
  readonly default_branch: string | null
}

/** The project of payloads; undefined when it is gone. */
export async function projectPayload(
  { db, config }: Site,
  id: number | null,
): Promise<ProjectPayload | undefined> {
  const row = id === null ? undefined : await db.one(project, { id })
  if (row === undefined) return undefined
  const web_url = `${config.url}/${row.full_path}`
  const { protocol, hostname } = new URL(config.url)
  const ssh = `git@${hostname}:${row.full_path}.git`
  const http = `${protocol}//${web_url.slice(protocol.length + 2)}.git`
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    web_url,
    avatar_url: row.avatar_url,
    git_ssh_url: ssh,
    git_http_url: http,
    namespace: row.namespace,
    visibility_level: LEVELS[row.visibility],
    path_with_namespace: row.full_path,
    default_branch: row.default_branch,
    ci_config_path: row.ci_config_path,
    homepage: web_url,
    url: ssh,
    ssh_url: ssh,
    http_url: http,
  }
}

/** The older form of a project. */
export const repositoryPayload = (project: ProjectPayload, withUrls = false): Payload => ({
  name: project.name,
  url: project['url'],
  description: project['description'],
  homepage: project.web_url,
  ...(withUrls && {
    git_http_url: project['git_http_url'],
    git_ssh_url: project['git_ssh_url'],
    visibility_level: project['visibility_level'],
  }),
})

export interface UserPayload extends Payload {
  readonly id: number
  readonly name: string
  readonly username: string
  readonly avatar_url: string | null
  readonly email: string
}
const users = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<UserPayload>`
    select u.id, u.name, u.username, u.avatar_url,
           coalesce(nullif(u.public_email, ''), '[REDACTED]') as email
      from unnest(${p.ids}::bigint[]) with ordinality wanted (id, place) join users u on u.id = wanted.id
     order by wanted.place`,
)
export const userPayloads = async ({ db }: Site, ids: readonly number[]): Promise<UserPayload[]> =>
  ids.length === 0 ? [] : db.rows(users, { ids })
export const userPayload = async (site: Site, id: number | null): Promise<UserPayload | null> =>
  id === null ? null : ((await userPayloads(site, [id]))[0] ?? null)

export const dateOf = ({ seconds }: { readonly seconds: number }): string =>
  new Date(seconds * 1000).toISOString().replace('.000Z', '+00:00')

/** A commit; undefined when the repository has none of that hash. */
export async function commitPayload(
  repository: Repository,
  sha: string,
  project: ProjectPayload,
): Promise<Payload | undefined> {
  const commit = await repository.commit(sha).catch(() => undefined)
  if (commit === undefined) return undefined
  return {
    id: commit.id,
    message: commit.message,
    title: commit.message.trimStart().split('\n', 1)[0] ?? '',
    timestamp: dateOf(commit.author.date),
    url: `${project.web_url}/-/commit/${commit.id}`,
    author: { name: commit.author.name, email: commit.author.email },
  }
}

const labels = statement(
  (p: Slots<{ noteable_id: number | null; ids: readonly number[] }>) => sql<Payload & { id: number }>`
    select l.id, l.title, l.color, l.project_id, l.created_at, l.updated_at, false as template, l.description,
           case when l.project_id is null then 'GroupLabel' else 'ProjectLabel' end as type, l.group_id
      from labels l
     where l.id = any(${p.ids}::bigint[])
        or l.id in (select k.label_id from label_links k where k.noteable_id = ${p.noteable_id})
     order by l.title, l.id`,
)

interface Moved {
  readonly added?: readonly number[]
  readonly removed?: readonly number[]
}
type Identified = Payload & { readonly id: number }

/** A list before ids came and went, and after. */
function listChange(all: readonly Identified[], now: ReadonlySet<number>, moved: Moved = {}): Payload {
  const { added = [], removed = [] } = moved
  if (added.length + removed.length === 0) return {}
  const before = new Set([...now].filter((id) => !added.includes(id)).concat(removed))
  return {
    previous: all.filter(({ id }) => before.has(id)),
    current: all.filter(({ id }) => now.has(id)),
  }
}

/** The labels of a record, and how a change moved them. */
export async function labelPayloads(
  { db }: Site,
  noteableId: number,
  moved: Moved = {},
): Promise<{ readonly labels: readonly Identified[]; readonly change: Payload }> {
  const gone = moved.removed ?? []
  const all = await db.rows(labels, { noteable_id: noteableId, ids: gone })
  const now = new Set(all.map(({ id }) => id).filter((id) => !gone.includes(id)))
  return { labels: all.filter(({ id }) => now.has(id)), change: listChange(all, now, moved) }
}

/** Assignees or reviewers, and how a change moved them. */
export async function peoplePayloads(
  site: Site,
  ids: readonly number[],
  moved: Moved = {},
): Promise<{ readonly people: readonly UserPayload[]; readonly change: Payload }> {
  const all = await userPayloads(site, [...new Set([...ids, ...(moved.removed ?? [])])])
  const now = new Set(ids)
  return { people: all.filter(({ id }) => now.has(id)), change: listChange(all, now, moved) }
}

export const isEmpty = (payload: object): boolean => Object.keys(payload).length === 0
