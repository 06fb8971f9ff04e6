import { sql, type RawBuilder } from 'kysely'
import { seesMergeRequestsOf } from '../../core/merge_request_sight.ts'
import { heldBy, homeOf, openTo, type Viewer } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import { foundFirst } from '../../db/found.ts'
import { listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../records/merge_request.ts'
import {
  ORDERS,
  conditionOf,
  type Filter,
  type FilterSlots,
  type FilterValues,
  type Order,
  type Walk,
} from './filters.ts'

type Place =
  | { readonly in: 'project'; readonly id: number }
  | { readonly in: 'group'; readonly id: number; readonly archived: boolean }
  | { readonly in: 'everywhere' }

/** A list that is wanted: which filters, in which order, with the values of both kinds. */
export interface Wanted {
  readonly filters: readonly Filter[]
  readonly not: readonly Filter[]
  readonly values: Partial<FilterValues>
  readonly notValues: Partial<FilterValues>
  readonly order: Order
  readonly descending: boolean
}

interface Shape {
  readonly in: Place['in']
  readonly archived: boolean
  readonly everything: boolean
  readonly filters: readonly Filter[]
  readonly not: readonly Filter[]
  readonly order: Order
  readonly descending: boolean
}
interface Values {
  readonly parent_id: number
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly limit: number
  readonly offset: number
}
type Slots = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> } & FilterSlots

function sourceOf(p: Slots, shape: Shape): RawBuilder<unknown> {
  if (shape.in === 'project') return sql`i.project_id = ${p.parent_id}`
  const sees = shape.everything ? sql`true` : seesMergeRequestsOf(p.open_to)
  if (shape.in === 'everywhere')
    return shape.everything
      ? sql`true`
      : sql`exists (select from projects p, ${homeOf} n where p.id = i.project_id and ${sees})`
  return sql`i.project_id in (
    select p.id from projects p, ${homeOf} n
     where p.namespace_id = any(array(select d.id from namespaces d where d.traversal_ids @> array[${p.parent_id}::bigint]))
       ${shape.archived ? sql`` : sql`and not p.archived`} and ${sees})`
}

const INDEXED: readonly Order[] = ['created_at', 'updated_at', 'title', 'popularity']
/** What is found by one index, whatever it is compared with. */
const STEADY: readonly Filter[] = ['state', 'iids', 'source_branch']
const isSteady = (shape: Shape): boolean =>
  shape.not.length === 0 && shape.filters.every((name) => STEADY.includes(name))

// What stands in an index in its order is walked along it; nulls come last only where there can be some.
const orderBy = ({ order, descending }: Shape): RawBuilder<unknown> => {
  const way = descending ? sql`desc` : sql`asc`
  return sql`${ORDERS[order]} ${way}${INDEXED.includes(order) ? sql`` : sql` nulls last`}, i.id ${way}`
}

const list = statements<Shape, Values, Paged<MergeRequestShown>>(
  (given, shape) => {
    const p = given as unknown as Slots
    const where = (walk: Walk): RawBuilder<unknown> =>
      sql.join(
        [
          sourceOf(p, shape),
          ...shape.filters.map((filter) => conditionOf(filter, p, { walk, turned: false })),
          ...shape.not.map((filter) => conditionOf(filter, p, { walk, turned: true })),
        ],
        sql` and `,
      )
    const mine = sql`mine as materialized (select * from ${heldBy(p.user_id)} g)`
    const all = sql`select i.id from merge_requests i where ${where('led')}`
    const order = orderBy(shape)
    if (isSteady(shape)) {
      const page = sql`${all} order by ${order} limit ${p.limit} offset ${p.offset}`
      return paged(shownMergeRequests(page), all, mine)
    }
    return foundFirst({
      all,
      few: sql`select i.* from found f, lateral (select * from merge_requests where id = f.id offset 0) i`,
      walked: sql`select i.* from merge_requests i where ${where('each')}
                   order by ${order} limit ${p.limit}::bigint + ${p.offset}::bigint`,
      order,
      page: p,
      shown: shownMergeRequests,
      before: mine,
    })
  },
  (shape) => !isSteady(shape),
)

/** One page of the merge requests there, as far as the viewer sees them; of a project all, as its gates have it. */
export async function listIn(
  db: Db,
  viewer: Viewer | null,
  { place, wanted }: { readonly place: Place; readonly wanted: Wanted },
  page: { readonly size: number; readonly offset: number },
): Promise<Listed<MergeRequestShown>> {
  const { values, notValues, ...shape } = wanted
  const turned = Object.fromEntries(Object.entries(notValues).map(([name, value]) => [`not_${name}`, value]))
  const rows = await db.rows(
    list({
      ...shape,
      in: place.in,
      archived: place.in !== 'group' || place.archived,
      everything: viewer?.admin === true,
    }),
    {
      ...values,
      ...turned,
      parent_id: 'id' in place ? place.id : 0,
      user_id: viewer?.id ?? null,
      open_to: openTo(viewer),
      limit: page.size,
      offset: page.offset,
    },
  )
  return listed(rows)
}
