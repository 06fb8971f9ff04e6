import { sql, type RawBuilder } from 'kysely'
import { titlesOf } from './labelling.ts'
import type { Kind, LabelCondition, LabelValues } from './label_walk.ts'

// Which labels the records of a list must bear, and whose links are walked for them.

/** The labels of one title in the place of a list. */
export interface KnownLabels {
  readonly title: string
  /** In one project only. */
  readonly ids: readonly number[]
  /** Where there are several titles to choose from: how many bear it, of 2,001, and how far back the newest of them reach. */
  readonly uses: number
  readonly since: number | null
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

/** The `KnownLabels` of titles, as a JSON array; of none is said who bears it where it is the only one. */
export const knownLabels = (kind: Kind, p: Slots): RawBuilder<KnownLabels[]> => {
  const choice = sql`cardinality(${p.labels}::text[]) > 1 and k.label_id = one.id and k.noteable_kind = ${sql.lit(kind)}`
  return sql`(
  select coalesce(json_agg(json_build_object(
           'title', t.title, 'uses', used.uses, 'since', used.since,
           'ids', case when ${p.project_id}::bigint is null then '{}' else t.ids end)), '[]')
    from (select l.title, array_agg(l.id) as ids from labels l
           where l.title = any(${p.labels}::text[])
             and case when ${p.project_id}::bigint is not null
                      then l.project_id = ${p.project_id} or l.group_id = any(${p.line}::bigint[])
                      else ${p.group_id}::bigint is null or l.group_id is not null or l.project_id in (
                        select p.id from projects p, namespaces n
                         where n.id = p.namespace_id and n.traversal_ids @> array[${p.group_id}::bigint]) end
           group by l.title) t,
         lateral (
           select count(*) as uses, extract(epoch from min(k.noteable_created_at)) as since
             from (select k.noteable_created_at from unnest(t.ids) one (id), lateral (
                     (select k.noteable_created_at from label_links k
                       where ${choice} and k.noteable_project_id = ${p.project_id}
                       order by k.noteable_created_at desc limit 2001)
                     union all
                     (select null from label_links k where ${choice} and ${p.project_id}::bigint is null limit 2001)) k
                   limit 2001) k) used)`
}

export interface ChosenLabels {
  readonly conditions: readonly LabelCondition[]
  readonly values: Partial<LabelValues>
}

const wordOf = (given: readonly string[] = []): 'none' | 'any' | undefined => {
  const lower = given.length === 1 ? given[0]?.toLowerCase() : undefined
  return lower === 'none' || lower === 'any' ? lower : undefined
}

/** Makes of titles, or `None` or `Any`, what records must bear; undefined where nothing can bear it. */
export function chooseLabels(
  given: readonly string[] | undefined,
  known: readonly KnownLabels[],
  oneProject: boolean,
): ChosenLabels | undefined {
  const all = wordOf(given)
  if (all !== undefined) return { conditions: [all === 'any' ? 'labelled' : 'unlabelled'], values: {} }
  const labels = titlesOf(given)
  const found = known
    .filter(({ title }) => labels.includes(title))
    // The rarest leads: what bears it is looked at for the others.
    .toSorted((a, b) => a.uses - b.uses || (a.since ?? 0) - (b.since ?? 0))
  const [lead] = found
  if (found.length < labels.length) return undefined
  if (lead === undefined) return { conditions: [], values: {} }
  const [label, ...more_labels] = found.flatMap(({ ids }) => ids)
  if (oneProject && label !== undefined && more_labels.length === labels.length - 1)
    return {
      conditions: [more_labels.length === 0 ? 'label' : 'several_labels'],
      values: { label, more_labels },
    }
  return {
    conditions: labels.length === 1 ? ['titled'] : ['titled', 'labels'],
    values: { titled: lead.title, labels },
  }
}

/** The same of what they must not bear. */
export function refuseLabels(
  given: readonly string[] | undefined,
  known: readonly KnownLabels[],
  where: 'project' | 'group' | 'everywhere',
): ChosenLabels {
  const all = wordOf(given)
  if (all !== undefined) return { conditions: [all === 'any' ? 'unlabelled' : 'labelled'], values: {} }
  const oneProject = where === 'project'
  const not_labels = titlesOf(given)
  const unwanted_labels = known.filter(({ title }) => not_labels.includes(title)).flatMap(({ ids }) => ids)
  const [unwanted_label, ...more] = unwanted_labels
  if (oneProject && unwanted_label === undefined) return { conditions: [], values: {} }
  if (oneProject && unwanted_label !== undefined && more.length === 0)
    return { conditions: ['unwanted_label'], values: { unwanted_label } }
  if (oneProject) return { conditions: ['unwanted_labels'], values: { unwanted_labels } }
  return not_labels.length === 0
    ? { conditions: [], values: {} }
    : { conditions: [where === 'group' ? 'unwanted_titles' : 'not_labels'], values: { not_labels } }
}
