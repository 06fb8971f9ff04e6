import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { knownLabels, type KnownLabels, type LabelPlace } from '../../core/planning/label_filters.ts'

interface Names {
  readonly labels: readonly string[]
  readonly milestones: readonly string[]
  readonly not_milestones: readonly string[]
  readonly users: readonly string[]
  readonly iterations: readonly string[]
  readonly not_iterations: readonly string[]
  /** `started` or `upcoming`, in a project or below a group. */
  readonly timebox: readonly string[]
}
export interface Known {
  readonly labels: KnownLabels[]
  readonly milestones: number[]
  readonly not_milestones: number[]
  readonly iterations: number[]
  readonly not_iterations: number[]
  /** Those that are going on, or to come, where that was asked. */
  readonly dated: number[]
  readonly users: { readonly id: number; readonly username: string }[]
}

/** Where no names are given, or none is known. */
export const NOTHING: Known = {
  labels: [],
  milestones: [],
  not_milestones: [],
  iterations: [],
  not_iterations: [],
  dated: [],
  users: [],
}

type P = Slots<Names & LabelPlace>
/** The milestones that are going on, or to come, which issues of the place may have: of a project each by its index. */
function dated(p: P): RawBuilder<unknown> {
  const those = (here: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select m.id from milestones m
     where cardinality(${p.timebox}::text[]) > 0 and m.state = 'active' and ${here}
       and case when 'started' = any(${p.timebox}::text[])
                then m.start_date <= today() and (m.due_date is null or m.due_date >= today())
                else m.due_date > today() and (m.start_date is null or m.start_date > today()) end`
  const below = sql`(select d.id from namespaces d where d.traversal_ids @> array[${p.group_id}::bigint])`
  return sql`
    ${those(sql`(m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[]))`)}
    union all
    ${those(sql`${p.group_id}::bigint is not null and (
      m.project_id in (select p.id from projects p where p.namespace_id in ${below}) or m.group_id in ${below}
      or m.group_id = any((select g.traversal_ids from namespaces g where g.id = ${p.group_id})::bigint[]))`)}`
}

const known = statement(
  (p: P) => sql<Known>`
    select ${knownLabels(p)} as labels,
           array(select m.id from milestones m where m.title = any(${p.milestones}::text[])
               and (${p.line}::bigint[] is null or m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[])))
             as milestones,
           array(select m.id from milestones m where m.title = any(${p.not_milestones}::text[])
               and (${p.line}::bigint[] is null or m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[])))
             as not_milestones,
           array(select t.id from iterations t where t.title = any(${p.iterations}::text[])) as iterations,
           array(select t.id from iterations t where t.title = any(${p.not_iterations}::text[])) as not_iterations,
           array(${dated(p)})
             as dated,
           (select coalesce(json_agg(json_build_object('id', u.id, 'username', lower(u.username))), '[]') from users u
             where lower(u.username) = any(${p.users}::text[])) as users`,
)

/** Where a list is: in one project with the groups above it, below a group, or anywhere. */
export interface Where {
  readonly project?: { readonly id: number; readonly traversal_ids: readonly number[] }
  readonly group?: { readonly id: number }
}

/** Records behind names. */
export async function lookUp(db: Db, names: Names, { project, group }: Where): Promise<Known> {
  const [row] = await db.rows(known, {
    ...names,
    project_id: project?.id ?? null,
    line: project?.traversal_ids ?? null,
    group_id: group?.id ?? null,
  })
  return row ?? NOTHING
}
