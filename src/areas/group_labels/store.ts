import { sql, type RawBuilder } from 'kysely'
import { labelCounts } from '../../core/planning/label_counts.ts'
import { ROLES, homeOf, openTo, type Viewer } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Label } from '../../db/schema/tables.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statements } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { LabelForCaller } from '../../records/planning/label.ts'
import { seesMergeRequestsOf } from '../../core/sight/merge_requests.ts'
import {
  mine,
  role,
  seesInside,
  seesIssuesOf,
  seesProject,
  type Caller,
  type CallerSlots,
} from '../../core/sight/callers.ts'

/** Which labels count as a group's: its own always, those of its line and of what is below it on request. */
export interface Reach {
  readonly ancestors: boolean
  readonly descendants: boolean
  /** Labels of projects too. */
  readonly projects: boolean
}
interface Group {
  readonly id: number
  readonly traversal_ids: readonly number[]
}
interface Where {
  readonly group: Group
  readonly reach: Reach
}
/** The counts are joined to the rows of the page only, and count what the caller may see. */
function counted(p: CallerSlots, rows: RawBuilder<unknown>, everything: boolean): RawBuilder<LabelForCaller> {
  const all = { viewer: p.user_id, issues: sql`true`, requests: sql`true`, role: sql.lit(ROLES.owner) }
  const seen = {
    viewer: p.user_id,
    issues: seesIssuesOf(p, false),
    requests: seesMergeRequestsOf(p.open_to),
    role,
    joined: sql`join projects p on p.id = c.project_id join namespaces n on n.id = p.namespace_id`,
  }
  return sql`
    with ${mine(p)}
    select l.*, counts.*,
           exists (select from label_subscriptions s where s.label_id = l.id and s.user_id = ${p.user_id}) as subscribed
      from (${rows}) l, ${labelCounts(everything ? all : seen)}
     order by l.title, l.id`
}

type ListShape = Reach & { readonly everything: boolean; readonly search: boolean }
type ListValues = Caller & {
  readonly group_id: number
  readonly line: readonly number[]
  readonly pattern: string
  readonly limit: number
  readonly offset: number
}
type ListSlots = { readonly [Name in keyof ListValues]: RawBuilder<ListValues[Name]> }

/** The line above a group shows itself to whoever sees the group; what is below is looked at one by one. */
const groupsOf = (
  p: ListSlots,
  { ancestors, descendants, everything }: Reach & { readonly everything: boolean },
): RawBuilder<unknown> => {
  const line = sql`select unnest(${p.line}::bigint[])`
  const below = sql`
    select n.id from namespaces n
     where n.traversal_ids @> array[${p.group_id}::bigint]
       and (n.id = ${p.group_id} or ${seesInside(p, everything)})`
  if (descendants) return ancestors ? sql`${below} union ${line}` : below
  return ancestors ? line : sql`select ${p.group_id}::bigint`
}

/**
 * From each group or project its labels in order, and only as far as the page reaches. Just what orders them, so that
 * skipping to a late page is a walk along an index.
 */
function sources(p: ListSlots, shape: ListShape, cut: RawBuilder<unknown>): RawBuilder<unknown>[] {
  const search = shape.search
    ? sql`and (l.title ilike ${p.pattern} or l.description ilike ${p.pattern})`
    : sql``
  const groups = sql`
    select l.* from (${groupsOf(p, shape)}) as home (id),
           lateral (select l.id, l.title from labels l where l.group_id = home.id ${search} ${cut}) l`
  const projects = sql`
    select l.* from projects p, ${homeOf} n,
           lateral (select l.id, l.title from labels l where l.project_id = p.id ${search} ${cut}) l
     where p.namespace_id = any(array(${groupsOf(p, { ...shape, ancestors: false })})) and ${seesProject(p, shape.everything)}`
  return shape.projects ? [groups, projects] : [groups]
}

const list = pageStatements<ListShape, ListValues, LabelForCaller>((p, shape) => {
  const reach = sql`order by l.title, l.id limit ${p.limit}::bigint + ${p.offset}::bigint`
  const rows = sql`
    select l.* from (select l.id from (${sql.join(sources(p, shape, reach), sql` union all `)}) l
                      order by l.title, l.id limit ${p.limit} offset ${p.offset}) chosen
      join labels l on l.id = chosen.id`
  const matches = sql.join(
    // The fence keeps the count to the labels of one group at a time, by their index.
    sources(p, shape, sql`offset 0`).map((source) => sql`select from (${source}) l`),
    sql` union all `,
  )
  return paged(counted(p, rows, shape.everything), sql`with ${mine(p)} ${matches}`)
})

interface Page {
  readonly search: string
  readonly limit: number
  readonly offset: number
}

export async function listLabels(
  db: Db,
  viewer: Viewer,
  { group, reach }: Where,
  { search, limit, offset }: Page,
): Promise<Listed<LabelForCaller>> {
  const ancestors = reach.ancestors && group.traversal_ids.length > 1
  return db.page(list({ ...reach, ancestors, everything: viewer.admin, search: search !== '' }), {
    user_id: viewer.id,
    open_to: openTo(viewer),
    group_id: group.id,
    line: group.traversal_ids,
    pattern: containing(search),
    limit,
    offset,
  })
}

const one = statements<{ everything: boolean }, Caller & { id: number }, LabelForCaller>(
  (p, { everything }) => counted(p, sql`select * from labels where id = ${p.id}`, everything),
)

/** Adds what the caller sees around a label. */
export async function forCaller(db: Db, viewer: Viewer, label: Pick<Label, 'id'>): Promise<LabelForCaller> {
  const values = { user_id: viewer.id, open_to: openTo(viewer), id: label.id }
  // Counting takes as long as there is to count: not on the lane of look-ups by key.
  return existing((await db.rows(one({ everything: viewer.admin }), values))[0])
}

type FindShape = Reach & { readonly everything: boolean; readonly by: 'id' | 'title' }
type FindValues = Caller & { group_id: number; line: readonly number[]; id: number; title: string }

const find = statements<FindShape, FindValues, Label>((p, shape) => {
  const is = shape.by === 'id' ? sql`(l.id = ${p.id} or l.title = ${p.title})` : sql`l.title = ${p.title}`
  const slots = p as unknown as ListSlots
  const projects = sql`l.project_id in (
    select p.id from (${groupsOf(slots, { ...shape, ancestors: false })}) as home (id)
      join projects p on p.namespace_id = home.id join namespaces n on n.id = p.namespace_id
     where ${seesProject(p, shape.everything)})`
  return sql`
    with ${mine(p)}
    select l.* from labels l
     where ${is} and (l.group_id in (${groupsOf(slots, shape)}) ${shape.projects ? sql`or ${projects}` : sql``})
     order by ${shape.by === 'id' ? sql`l.id = ${p.id} desc,` : sql``} l.group_id = ${p.group_id} desc nulls last, l.id
     limit 1`
})

/** A label within reach by its id or, failing that, by its title. */
export const findLabel = (db: Db, viewer: Viewer, where: Where, ref: string): Promise<Label | undefined> =>
  /^\d{1,15}$/.test(ref)
    ? findBy(db, viewer, where, { by: 'id', id: Number(ref), title: ref })
    : findByTitle(db, viewer, where, ref)

export const findByTitle = (
  db: Db,
  viewer: Viewer,
  where: Where,
  title: string,
): Promise<Label | undefined> => findBy(db, viewer, where, { by: 'title', id: 0, title })

const findBy = (
  db: Db,
  viewer: Viewer,
  { group, reach }: Where,
  { by, id, title }: { by: 'id' | 'title'; id: number; title: string },
): Promise<Label | undefined> =>
  db.one(find({ ...reach, everything: viewer.admin, by }), {
    user_id: viewer.id,
    open_to: openTo(viewer),
    group_id: group.id,
    line: group.traversal_ids,
    id,
    title,
  })
