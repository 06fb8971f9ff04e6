import { sql } from 'kysely'
import { type Slots, type Sql } from '../../db/statement.ts'

// Filters of epic lists. Titles are the caller's, texts are patterns.

export interface Filters {
  readonly state: 'opened' | 'closed' | undefined
  readonly author: number | undefined
  readonly author_name: string | undefined
  readonly labels: readonly string[] | undefined
  readonly labelled: boolean | undefined
  readonly emoji: string | undefined
  readonly reacted: boolean | undefined
  readonly search: string | undefined
  readonly iids: readonly number[] | undefined
  readonly confidential: boolean | undefined
  readonly created_after: string | undefined
  readonly created_before: string | undefined
  readonly updated_after: string | undefined
  readonly updated_before: string | undefined
  readonly not_author: number | undefined
  readonly not_author_name: string | undefined
  readonly not_labels: readonly string[] | undefined
  readonly not_labelled: boolean | undefined
  readonly not_emoji: string | undefined
  readonly not_reacted: boolean | undefined
}
export type FilterName = keyof Filters
type P = Slots<Filters & { readonly user_id: number | null }>

const named = (name: Sql): Sql => sql`(select u.id from users u where lower(u.username) = lower(${name}))`
const bears = (which: Sql): Sql => sql`exists (
  select from label_links k join labels l on l.id = k.label_id where k.noteable_id = e.id and ${which})`
const reacted = (p: P, which: Sql): Sql => sql`exists (
  select from award_emoji r where r.noteable_id = e.id and r.user_id = ${p.user_id} and ${which})`

export const CONDITIONS: Readonly<Record<FilterName, (p: P) => Sql>> = {
  state: (p) => sql`e.state = ${p.state}`,
  author: (p) => sql`e.author_id = ${p.author}`,
  author_name: (p) => sql`e.author_id = ${named(p.author_name)}`,
  labels: (p) => sql`not exists (
    select from unnest(${p.labels}::text[]) wanted (title) where not ${bears(sql`l.title = wanted.title`)})`,
  labelled: (p) => sql`${bears(sql`true`)} = ${p.labelled}::boolean`,
  emoji: (p) => reacted(p, sql`r.name = ${p.emoji}`),
  reacted: (p) => sql`${reacted(p, sql`true`)} = ${p.reacted}::boolean`,
  search: (p) => sql`(e.title ilike ${p.search} or e.description ilike ${p.search})`,
  iids: (p) => sql`e.iid = any(${p.iids}::bigint[])`,
  confidential: (p) => sql`e.confidential = ${p.confidential}`,
  created_after: (p) => sql`e.created_at >= ${p.created_after}::timestamptz`,
  created_before: (p) => sql`e.created_at <= ${p.created_before}::timestamptz`,
  updated_after: (p) => sql`e.updated_at >= ${p.updated_after}::timestamptz`,
  updated_before: (p) => sql`e.updated_at <= ${p.updated_before}::timestamptz`,
  not_author: (p) => sql`e.author_id is distinct from ${p.not_author}`,
  // An empty name excludes nothing.
  not_author_name: (p) => sql`e.author_id is distinct from coalesce(${named(p.not_author_name)}, 0)`,
  not_labels: (p) => sql`not ${bears(sql`l.title = any(${p.not_labels}::text[])`)}`,
  not_labelled: (p) => sql`${bears(sql`true`)} <> ${p.not_labelled}::boolean`,
  not_reacted: (p) => sql`${reacted(p, sql`true`)} <> ${p.not_reacted}::boolean`,
  not_emoji: (p) => sql`not ${reacted(p, sql`r.name = ${p.not_emoji}`)}`,
}
