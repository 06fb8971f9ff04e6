import { sql, type RawBuilder } from 'kysely'
import {
  chooseLabels,
  knownLabels,
  refuseLabels,
  type ChosenLabels,
  type KnownLabels,
  type LabelPlace,
} from '../../core/label_choice.ts'
import { titlesOf } from '../../core/labelling.ts'
import { seesMergeRequestsOf } from '../../core/merge_request_sight.ts'
import { anyReactionOf, reactionsOf } from '../../core/reaction_walk.ts'
import { listPage, matching, walked, type RecordList } from '../../core/record_list.ts'
import { openTo, type Viewer } from '../../core/roles.ts'
import { isSettled } from '../../core/settled.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import { type Listed, paged, pageStatements } from '../../db/pages.ts'
import { statement, type Slots as StatementSlots } from '../../db/statement.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../records/merge_request.ts'
import { conditionOf, type Filter, type FilterSlots, type FilterValues, type Turnable } from './filters.ts'
import { orderOf, type Order } from './orders.ts'

type Place =
  | { readonly in: 'project'; readonly id: number; readonly traversal_ids: readonly number[] }
  | { readonly in: 'group'; readonly id: number; readonly archived: boolean }
  | { readonly in: 'everywhere' }

/** A list that is wanted: which filters, in which order, with the values of both kinds. */
export interface Wanted {
  readonly filters: readonly Filter[]
  readonly not: readonly Filter[]
  readonly values: Partial<FilterValues>
  readonly notValues: Partial<FilterValues>
  /** Titles, or `None` or `Any`. */
  readonly labels: readonly string[]
  readonly notLabels: readonly string[]
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
  readonly place: number
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly limit: number
  readonly offset: number
}
type Slots = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> } & FilterSlots

/** What is found by one index, whatever it is compared with, in an order that indexes have. */
const STEADY: readonly Filter[] = ['state', 'iids', 'source_branch']
const IN_TURN: readonly Order[] = ['milestone_due', 'label_priority', 'priority']
const isSteady = ({ not, filters, order }: Shape): boolean =>
  not.length === 0 && filters.every((name) => STEADY.includes(name)) && !IN_TURN.includes(order)

const SEARCHES: readonly Filter[] = ['title', 'description', 'title_or_description']
function mergeRequestsOf(p: Slots, shape: Shape): RecordList<Turnable> {
  const shown = shape.everything ? sql`true` : seesMergeRequestsOf(p.open_to)
  return {
    kind: 'merge_request',
    in: shape.in,
    p,
    conditions: [...shape.filters, ...shape.not.map((name) => `not_${name}` as const)],
    holds: (names, walk) =>
      sql.join([sql`true`, ...names.map((name) => conditionOf(name, p, walk))], sql` and `),
    sees: () => sql`true`,
    projects: { shown: sql`${shown} ${shape.archived ? sql`` : sql`and not p.archived`}`, role: sql`0` },
    linked: ['state', 'created_after', 'created_before'],
    labelLinked: [],
    leads: {
      reaction: reactionsOf('merge_request', p.user_id, p.reaction),
    },
    knowLabels: [],
    finds: { reaction_any: anyReactionOf('merge_request', p.user_id) },
    scattered: shape.filters.some((name) => SEARCHES.includes(name)) ? 'by words' : undefined,
  }
}

/** Each leads to what it finds by an index of its own, in whatever order. */
const LED: readonly Filter[] = [
  ...(['label', 'several_labels', 'labels', 'titled', 'labelled', 'unlabelled'] as const),
  ...(['author', 'created_by_me', 'assignee', 'assigned_to_me', 'assignee_none'] as const),
  ...(['reviewer', 'reviews_for_me', 'milestone', 'milestone_none', 'reaction_none'] as const),
  ...(['iids', 'source_branch', 'target_branch'] as const),
]
const isPlannedAnew = (shape: Shape): boolean =>
  !isSteady(shape) && (shape.not.length > 0 || !isSettled(shape.filters, LED))

const list = pageStatements<Shape, Values, MergeRequestShown>((given, shape) => {
  const p = given as unknown as Slots
  const all = mergeRequestsOf(p, shape)
  const order = orderOf(shape.order, shape.descending)
  if (!isSteady(shape)) return listPage(all, order, shownMergeRequests)
  const chosen = sql`select i.id from (${walked(all, order)}) i
      order by ${order.by} limit ${p.limit} offset ${p.offset}`
  return paged(shownMergeRequests(chosen), sql`select from (${matching(all).all}) m`)
}, isPlannedAnew)

const known = statement(
  (p: StatementSlots<LabelPlace & { labels: readonly string[] }>) => sql<{ labels: KnownLabels[] }>`
    select ${knownLabels('merge_request', p)} as labels`,
)
/** What merge requests must bear and must not; undefined where none can. */
async function labelsOf(
  db: Db,
  place: Place,
  { labels, notLabels }: Wanted,
): Promise<readonly ChosenLabels[] | undefined> {
  if (labels.length + notLabels.length === 0) return []
  const one = place.in === 'project'
  const where = {
    project_id: one ? place.id : null,
    line: one ? place.traversal_ids : null,
    group_id: place.in === 'group' ? place.id : null,
  }
  const titles = titlesOf([...labels, ...notLabels])
  const found = (await db.rows(known, { ...where, labels: titles }))[0]?.labels ?? []
  const chosen = chooseLabels(labels, found, one)
  return chosen && [chosen, refuseLabels(notLabels, found, place.in)]
}

/** One page of the merge requests there, as far as the viewer sees them; of a project all, as its gates have it. */
export async function listIn(
  db: Db,
  viewer: Viewer | null,
  { place, wanted }: { readonly place: Place; readonly wanted: Wanted },
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<MergeRequestShown>> {
  const labels = await labelsOf(db, place, wanted)
  if (labels === undefined) return { items: [], total: 0 }
  const turned = Object.entries(wanted.notValues).map(([name, value]) => [`not_${name}`, value])
  return db.page(
    list({
      filters: [...wanted.filters, ...labels.flatMap(({ conditions }) => conditions)],
      not: wanted.not,
      order: wanted.order,
      descending: wanted.descending,
      in: place.in,
      archived: place.in !== 'group' || place.archived,
      everything: viewer?.admin === true,
    }),
    {
      ...wanted.values,
      ...Object.fromEntries(turned),
      ...Object.assign({}, ...labels.map(({ values }) => values)),
      place: 'id' in place ? place.id : 0,
      user_id: viewer?.id ?? null,
      open_to: openTo(viewer),
      ...page,
    },
  )
}
