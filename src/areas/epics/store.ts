import { sql, type RawBuilder } from 'kysely'
import { seesEpic } from '../../core/sight/noteables.ts'
import { ROLES, below, openTo, roleInNamespace, type Viewer } from '../../core/sight/roles.ts'
import { mine, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { keysOf } from '../../http/params/schema.ts'
import { shownEpics, type EpicShown } from './entity.ts'
import { CONDITIONS, type FilterName, type Filters } from './filters.ts'

export const ORDERS = ['created_at', 'updated_at', 'title'] as const

interface Shape {
  readonly ancestors: boolean
  readonly descendants: boolean
  readonly everything: boolean
  readonly order: (typeof ORDERS)[number]
  readonly descending: boolean
  readonly filters: readonly FilterName[]
}
type Values = Caller &
  Filters & {
    readonly line: readonly number[]
    readonly group_id: number
    readonly limit: number
    readonly offset: number
  }

/** The groups whose epics count, with the viewer's role on each: minimal access shows a group and nothing in it. */
function homes(p: Slots<Values>, { ancestors, descendants, everything }: Shape): RawBuilder<unknown> {
  const group = sql`${p.group_id}::bigint`
  const above = ancestors ? sql`select unnest(${p.line}::bigint[])` : sql`select ${group}`
  const ids = descendants ? sql`${above} union select d.id from ${below(group)} d` : above
  if (everything)
    return sql`homes as materialized (
      select n.id, ${sql.lit(ROLES.owner)} as role from namespaces n where n.id = any(array(${ids})))`
  const role = sql`coalesce(${roleInNamespace(sql`mine`, sql`n.traversal_ids`)}, 0)`
  return sql`
    ${mine(p)}, homes as materialized (
      select n.id, held.role from namespaces n, lateral (select ${role} as role offset 0) held
       where n.id = any(array(${ids})) and (n.visibility = any(${p.open_to}) or held.role >= ${sql.lit(ROLES.guest)}))`
}

function matching(p: Slots<Values>, shape: Shape, cut: RawBuilder<unknown>): RawBuilder<unknown> {
  const conditions = [
    ...(shape.everything ? [] : [seesEpic(p.user_id, sql`h.role`)]),
    ...shape.filters.map((name) => CONDITIONS[name](p)),
  ]
  const and = conditions.length === 0 ? sql`` : sql`and ${sql.join(conditions, sql` and `)}`
  return sql`
    with ${homes(p, shape)}
    select e.* from homes h, lateral (select e.* from epics e where e.group_id = h.id ${and} ${cut}) e`
}

const list = pageStatements<Shape, Values, EpicShown>((p, shape) => {
  const way = shape.descending ? sql`desc` : sql`asc`
  const order = sql`order by ${sql.ref(`e.${shape.order}`)} ${way}, e.id ${way}`
  const reach = sql`${order} limit ${p.limit}::bigint + ${p.offset}::bigint`
  const page = sql`select e.* from (${matching(p, shape, reach)}) e ${order} limit ${p.limit} offset ${p.offset}`
  return paged(
    sql<EpicShown>`${shownEpics(page)} ${order}`,
    sql`select from (${matching(p, shape, sql`offset 0`)}) e`,
  )
})

export interface Wanted extends Filters {
  readonly ancestors: boolean
  readonly descendants: boolean
  readonly order: (typeof ORDERS)[number]
  readonly descending: boolean
}
interface Group {
  readonly id: number
  readonly traversal_ids: readonly number[]
}

/** The epics of a group, of those inside and, on request, of those above, as far as the viewer sees them. */
export async function listEpics(
  db: Db,
  viewer: Viewer | null,
  { group, page }: { group: Group; page: { readonly limit: number; readonly offset: number } },
  { ancestors, descendants, order, descending, ...filters }: Wanted,
): Promise<Listed<EpicShown>> {
  const names = keysOf(CONDITIONS)
  const shape = {
    ancestors,
    descendants,
    everything: viewer?.admin === true,
    order,
    descending,
    filters: names.filter((name) => filters[name] !== undefined),
  }
  return db.page(list(shape), {
    ...filters,
    user_id: viewer?.id ?? 0,
    open_to: openTo(viewer),
    line: group.traversal_ids,
    group_id: group.id,
    ...page,
  })
}

const one = statement((p: Slots<{ id: number }>) => shownEpics(sql`select * from epics where id = ${p.id}`))
/** Of an epic that was found before. */
export async function showEpic(db: Db, id: number): Promise<EpicShown> {
  return existing(await db.one(one, { id }))
}

const remove = statement(
  (p: Slots<{ group_id: number; id: number }>) =>
    sql`delete from epics where group_id = ${p.group_id} and id = ${p.id}`,
)
/** Issues go on without it. */
export const removeEpic = (db: Db, group_id: number, id: number): Promise<void> =>
  db.remove(remove, { group_id, id })
