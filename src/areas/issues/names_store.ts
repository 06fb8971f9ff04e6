import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { statement, type Slots } from '../../db/statement.ts'

interface Names {
  readonly labels: readonly string[]
  readonly milestones: readonly string[]
  readonly not_milestones: readonly string[]
  readonly users: readonly string[]
}
export interface Known {
  /** Where there are several to choose from: how many issues bear it, and how far back the newest 10,001 of them reach. */
  readonly labels: {
    readonly id: number
    readonly title: string
    readonly uses: number
    readonly since: number | null
  }[]
  readonly milestones: number[]
  readonly not_milestones: number[]
  readonly users: { readonly id: number; readonly username: string }[]
}

const known = statement(
  (p: Slots<Names & { project_id: number | null; line: readonly number[] | null }>) => sql<Known>`
    select (select coalesce(json_agg(json_build_object('id', l.id, 'title', l.title, 'uses', used.uses, 'since', used.since)), '[]')
              from labels l, lateral (
                select count(*) as uses, extract(epoch from min(k.issue_created_at)) as since
                  from (select k.issue_created_at from label_links k
                         where cardinality(${p.labels}::text[]) > 1
                           and k.label_id = l.id and k.issue_project_id = ${p.project_id}
                         order by k.issue_created_at desc limit 10001) k) used
             where l.title = any(${p.labels}::text[])
               and (l.project_id = ${p.project_id} or l.group_id = any(${p.line}::bigint[]))) as labels,
           array(select m.id from milestones m where m.title = any(${p.milestones}::text[])
               and (${p.line}::bigint[] is null or m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[])))
             as milestones,
           array(select m.id from milestones m where m.title = any(${p.not_milestones}::text[])
               and (${p.line}::bigint[] is null or m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[])))
             as not_milestones,
           (select coalesce(json_agg(json_build_object('id', u.id, 'username', lower(u.username))), '[]') from users u
             where lower(u.username) = any(${p.users}::text[])) as users`,
)

/** The ids behind names, in a project and the groups above it, or anywhere. */
export async function lookUp(
  db: Db,
  names: Names,
  project: { readonly id: number; readonly traversal_ids: readonly number[] } | undefined,
): Promise<Known> {
  const [row] = await db.rows(known, {
    ...names,
    project_id: project?.id ?? null,
    line: project?.traversal_ids ?? null,
  })
  return row ?? { labels: [], milestones: [], not_milestones: [], users: [] }
}
