import { sql, type RawBuilder } from 'kysely'
import {
  knownLabels,
  refuseLabels,
  wantLabels,
  type ChosenLabels,
  type KnownLabels,
  type LabelPlace,
} from '../../../core/planning/label_filters.ts'
import { titlesOf } from '../../../core/planning/labelling.ts'
import { seesMergeRequestsOf } from '../../../core/sight/merge_requests.ts'
import { listPage, type RecordList } from '../../../core/lists/records.ts'
import { openTo, type Viewer } from '../../../core/sight/roles.ts'
import type { Db } from '../../../db/db.ts'
import type { Visibility } from '../../../db/schema/columns.ts'
import { type Listed, pageStatements } from '../../../db/pages.ts'
import { statement, type Slots as StatementSlots } from '../../../db/statement.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../../records/merge_requests/merge_request.ts'
import { conditionOf, type Filter, type FilterSlots, type FilterValues } from './filters.ts'
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

function mergeRequestsOf(p: Slots, shape: Shape): RecordList {
  const shown = shape.everything ? sql`true` : seesMergeRequestsOf(p.open_to)
  const names = [...shape.filters, ...shape.not.map((name) => `not_${name}` as const)]
  return {
    kind: 'merge_request',
    in: shape.in,
    p,
    conditions: names.map((name) => conditionOf(name, p)),
    sees: () => sql`true`,
    projects: { shown: sql`${shown} ${shape.archived ? sql`` : sql`and not p.archived`}`, role: sql`0` },
  }
}

/** How many merge requests a filter leaves depends on its value: only the plain list of a project is planned once for all. */
const isFiltered = (shape: Shape): boolean =>
  shape.in !== 'project' || shape.not.length > 0 || shape.filters.some((name) => name !== 'state')

const list = pageStatements<Shape, Values, MergeRequestShown>((given, shape) => {
  const p = given as unknown as Slots
  return listPage(mergeRequestsOf(p, shape), orderOf(shape.order, shape.descending), shownMergeRequests)
}, isFiltered)

const known = statement(
  (p: StatementSlots<LabelPlace & { labels: readonly string[] }>) => sql<{ labels: KnownLabels[] }>`
    select ${knownLabels(p)} as labels`,
)
/** Labels that merge requests must have and must not; undefined where no row can match. */
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
  const chosen = wantLabels(labels, found)
  return chosen && [chosen, refuseLabels(notLabels, found)]
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
