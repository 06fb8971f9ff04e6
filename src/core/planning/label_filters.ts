import { sql, type RawBuilder } from 'kysely'
import type { Sql } from '../../db/statement.ts'
import { titlesOf } from './labelling.ts'

// Filters of issues and merge requests by labels. A title stands for every label of that title in the place of the list.

/** Values of label conditions. */
export interface LabelValues {
  /** The ids of one title each, joined by index: the planner begins with the rarest. */
  readonly label: readonly number[]
  readonly label_2: readonly number[]
  readonly label_3: readonly number[]
  /** Further titles, counted on each record. */
  readonly more_labels: readonly string[]
  readonly not_labels: readonly number[]
}
export type LabelSlots = { readonly [Name in keyof LabelValues]: RawBuilder<LabelValues[Name]> }
export type LabelCondition = keyof LabelValues | 'labelled' | 'unlabelled'
export const NO_LABELS: LabelValues = { label: [], label_2: [], label_3: [], more_labels: [], not_labels: [] }
const JOINED = ['label', 'label_2', 'label_3'] as const

const bears = (which: Sql = sql`true`): Sql =>
  sql`exists (select from label_links k where k.noteable_id = i.id and ${which})`
const bearsOneOf = (ids: Sql): Sql => bears(sql`k.label_id = any(${ids}::bigint[])`)

/** Conditions on the record `i`. */
export const LABEL_CONDITIONS: Readonly<Record<LabelCondition, (p: LabelSlots) => Sql>> = {
  label: (p) => bearsOneOf(p.label),
  label_2: (p) => bearsOneOf(p.label_2),
  label_3: (p) => bearsOneOf(p.label_3),
  more_labels: (p) => sql`cardinality(${p.more_labels}::text[]) = (
    select count(distinct l.title) from label_links k join labels l on l.id = k.label_id
     where k.noteable_id = i.id and l.title = any(${p.more_labels}::text[]))`,
  not_labels: (p) => sql`not ${bearsOneOf(p.not_labels)}`,
  labelled: () => bears(),
  unlabelled: () => sql`not ${bears()}`,
}

/** The labels of one title in the place of a list. */
export interface KnownLabels {
  readonly title: string
  readonly ids: readonly number[]
}
/** Where the records of a list are: in one project, below one group, or anywhere. */
export interface LabelPlace {
  readonly project_id: number | null
  /** The groups above the project. */
  readonly line: readonly number[] | null
  readonly group_id: number | null
}
type Slots = { readonly [Name in keyof LabelPlace]: RawBuilder<LabelPlace[Name]> } & {
  readonly labels: RawBuilder<readonly string[]>
}

/** The `KnownLabels` of titles, as a JSON array. */
export const knownLabels = (p: Slots): RawBuilder<KnownLabels[]> => sql`(
  select coalesce(json_agg(json_build_object('title', t.title, 'ids', t.ids)), '[]')
    from (select l.title, array_agg(l.id) as ids from labels l
           where l.title = any(${p.labels}::text[])
             and case when ${p.project_id}::bigint is not null
                      then l.project_id = ${p.project_id} or l.group_id = any(${p.line}::bigint[])
                      else ${p.group_id}::bigint is null or l.group_id is not null or l.project_id in (
                        select p.id from projects p, namespaces n
                         where n.id = p.namespace_id and n.traversal_ids @> array[${p.group_id}::bigint]) end
           group by l.title) t)`

export interface ChosenLabels {
  readonly conditions: readonly LabelCondition[]
  readonly values: Partial<LabelValues>
}

const wordOf = (given: readonly string[] = []): 'none' | 'any' | undefined => {
  const lower = given.length === 1 ? given[0]?.toLowerCase() : undefined
  return lower === 'none' || lower === 'any' ? lower : undefined
}

/** Makes of titles, or `None` or `Any`, what records must bear; undefined where nothing can bear it. */
export function wantLabels(
  given: readonly string[] | undefined,
  known: readonly KnownLabels[],
): ChosenLabels | undefined {
  const word = wordOf(given)
  if (word !== undefined) return { conditions: [word === 'any' ? 'labelled' : 'unlabelled'], values: {} }
  const labels = titlesOf(given)
  const found = known.filter(({ title }) => labels.includes(title))
  if (found.length < labels.length) return undefined
  const joined = JOINED.slice(0, found.length).map((name, at) => [name, found[at]?.ids ?? []] as const)
  const more_labels = found.slice(JOINED.length).map(({ title }) => title)
  return {
    conditions: [
      ...joined.map(([name]) => name),
      ...(more_labels.length > 0 ? (['more_labels'] as const) : []),
    ],
    values: { ...Object.fromEntries(joined), more_labels },
  }
}

/** The same of what they must not bear. */
export function refuseLabels(
  given: readonly string[] | undefined,
  known: readonly KnownLabels[],
): ChosenLabels {
  const word = wordOf(given)
  if (word !== undefined) return { conditions: [word === 'any' ? 'unlabelled' : 'labelled'], values: {} }
  const titles = titlesOf(given)
  const not_labels = known.filter(({ title }) => titles.includes(title)).flatMap(({ ids }) => ids)
  return not_labels.length === 0
    ? { conditions: [], values: {} }
    : { conditions: ['not_labels'], values: { not_labels } }
}
