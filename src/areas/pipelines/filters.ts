import { sql } from 'kysely'
import type { Slots, Sql } from '../../db/statement.ts'

/** Filters of pipeline lists. */
export interface Filters {
  readonly running: true
  readonly pending: true
  readonly finished: true
  /** The branches that there are: the latest pipeline of each. */
  readonly branches: readonly string[]
  /** The same for tags. */
  readonly tags: readonly string[]
  readonly status: string
  readonly ref: string
  readonly sha: string
  readonly source: string
  readonly name: string
  readonly username: string
  readonly yaml_errors: boolean
  readonly created_after: string
  readonly created_before: string
  readonly updated_after: string
  readonly updated_before: string
}
export type FilterName = keyof Filters
type P = Slots<Filters & { readonly project_id: number }>

const latest = (p: P, refs: Sql, tag: boolean): Sql => sql`p.id in (
  select max(l.id) from pipelines l
   where l.project_id = ${p.project_id} and l.ref = any(${refs}::text[]) and l.tag = ${sql.lit(tag)} and l.parent_id is null
   group by l.ref)`

export const CONDITIONS: Readonly<Record<FilterName, (p: P) => Sql>> = {
  running: () => sql`p.status = 'running'`,
  pending: () => sql`p.status = 'pending'`,
  finished: () => sql`p.status in ('success', 'failed', 'canceled')`,
  branches: (p) => latest(p, sql`${p.branches}`, false),
  tags: (p) => latest(p, sql`${p.tags}`, true),
  status: (p) => sql`p.status = ${p.status}`,
  // A branch stands for the merge requests from it too.
  ref: (p) => sql`(p.ref = ${p.ref} or p.merge_request_id in (
    select m.id from merge_requests m
     where m.source_project_id = ${p.project_id} and m.source_branch = ${p.ref}))`,
  sha: (p) => sql`p.sha = ${p.sha}`,
  source: (p) => sql`p.source = ${p.source}`,
  name: (p) => sql`p.name = ${p.name}`,
  username: (p) => sql`p.user_id = (select u.id from users u where lower(u.username) = lower(${p.username}))`,
  yaml_errors: (p) => sql`(p.yaml_errors is not null) = ${p.yaml_errors}::boolean`,
  created_after: (p) => sql`p.created_at >= ${p.created_after}::timestamptz`,
  created_before: (p) => sql`p.created_at <= ${p.created_before}::timestamptz`,
  updated_after: (p) => sql`p.updated_at >= ${p.updated_after}::timestamptz`,
  updated_before: (p) => sql`p.updated_at <= ${p.updated_before}::timestamptz`,
}
export const FILTERS = Object.keys(CONDITIONS) as FilterName[]
