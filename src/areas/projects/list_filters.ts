import { sql, type RawBuilder } from 'kysely'
import type { Visibility } from '../../db/schema.ts'
import type { ProjectListShape, ProjectListValues } from './list_shape.ts'

export type P = { readonly [Name in keyof ProjectListValues]: RawBuilder<ProjectListValues[Name]> }
type Raw = RawBuilder<unknown>
export type Shape = ProjectListShape & {
  readonly everything: boolean
  readonly open: readonly Visibility[]
  /** How much the viewer belongs to, and whether anything in it is denied. */
  readonly belongs: 'nothing' | 'few' | 'many'
  readonly denies: boolean
  /** How many rows to take from each side. */
  readonly reach: number
}

const at = (moment: Raw): Raw => sql`${moment}::timestamptz`
export const and = (conditions: readonly Raw[]): Raw => sql.join([sql`true`, ...conditions], sql` and `)

const kinds = (p: P, shape: Shape): Raw[] => [
  ...(shape.archived === null ? [] : [shape.archived ? sql`p.archived` : sql`not p.archived`]),
  ...(shape.starred
    ? [sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.user_id}))`]
    : []),
]

/** What the index of an order knows of: `order` null for a count, which may take any index. */
export function bounds(p: P, shape: Shape, order: Shape['order'] | null): Raw[] {
  const moments = (column: 'last_activity_at' | 'updated_at', after: Raw, before: Raw): Raw =>
    sql`${sql.ref(`p.${column}`)} > ${at(after)} and ${sql.ref(`p.${column}`)} < ${at(before)}`
  const knows = (column: Shape['order']): boolean => order === null || order === column
  return [
    ...kinds(p, shape),
    ...(shape.ids && knows('id') ? [sql`p.id > ${p.id_after} and p.id < ${p.id_before}`] : []),
    ...(shape.active && knows('last_activity_at')
      ? [moments('last_activity_at', p.active_after, p.active_before)]
      : []),
    ...(shape.updated && knows('updated_at')
      ? [moments('updated_at', p.updated_after, p.updated_before)]
      : []),
  ]
}

export function filters(p: P, shape: Shape): Raw[] {
  return [
    ...bounds(p, shape, null),
    ...(shape.features
      ? [
          sql`(not ${p.issues} or coalesce((p.settings->>'issues_enabled')::boolean, true))`,
          sql`(not ${p.merge_requests} or coalesce((p.settings->>'merge_requests_enabled')::boolean, true))`,
        ]
      : []),
  ]
}

/** What is looked for, in columns with indexes of trigrams. */
export const sought = (p: P, { search, topic }: Shape): Raw[] => [
  ...(search
    ? [
        sql`(p.name ilike ${p.pattern} or p.description ilike ${p.pattern}
            or (p.full_path ilike ${p.pattern} and (p.path ilike ${p.pattern} or ${p.namespaces})))`,
      ]
    : []),
  ...(topic ? [sql`p.topics @> ${p.topics}::text[]`] : []),
]
