import { sql, type RawBuilder } from 'kysely'
import { type Sql } from '../db/statement.ts'

// Lists of issues and of merge requests by their labels. What links a label to a record knows of it what lists ask most, and
// which other labels it bears: those with several labels are found in the order of time along the links of one.

export type Kind = 'issue' | 'merge_request'
/**
 * How a list goes through the records `i`: in the order of time, with their links beside; by whatever leads to those that
 * match, in each project or among all; in any order, with a look at each because many do; or along the links to a label or to
 * somebody, which stand for them.
 */
export type Walk = 'in time' | 'led' | 'led among all' | 'each' | 'linked'

/** A look for each record: joined, all that `from` selects would be read first. */
export const looked = (from: Sql): Sql => sql`coalesce((select true ${from} limit 1), false)`
export const there = (walk: Walk, from: Sql): Sql =>
  walk === 'each' || walk === 'linked' ? looked(from) : sql`exists (select ${from})`

/** What conditions on labels compare with. */
export interface LabelValues {
  /** The label whose links lead, and what else must be borne; in one project. */
  readonly label: number
  readonly more_labels: readonly number[]
  /** The same by title, where a title may stand for several labels: `labels` are all of them. */
  readonly titled: string
  readonly labels: readonly string[]
  /** What must not be borne: below a group each of its `places` says which labels those are, as `unwanted`. */
  readonly not_labels: readonly string[]
  /** What must not be borne, in one project: one label, or several. */
  readonly unwanted_label: number
  readonly unwanted_labels: readonly number[]
}
export type LabelSlots = { readonly [Name in keyof LabelValues]: RawBuilder<LabelValues[Name]> }

/** Links to one label in one project, as what they know of their records. */
export const linksTo = (kind: Kind, label: Sql, project: Sql): Sql => sql`
  select k.noteable_id as id, k.noteable_created_at as created_at, k.noteable_state as state,
         k.noteable_confidential as confidential, k.noteable_milestone_id as milestone_id,
         k.noteable_author_id as author_id, k.label_ids
    from label_links k
   where k.noteable_kind = ${sql.lit(kind)} and k.label_id = ${label} and k.noteable_project_id = ${project}`

/** Those of more than 64 labels are asked, of what `record` is the id. */
const all = (known: Sql, record: Sql, wanted: Sql): Sql => sql`
  coalesce(${known} @> ${wanted}::bigint[],
           (select count(*) from label_links b where b.noteable_id = ${record} and b.label_id = any(${wanted}::bigint[]))
             = cardinality(${wanted}::bigint[]))`
const any = (known: Sql, record: Sql, wanted: Sql): Sql => sql`
  coalesce(${known} && ${wanted}::bigint[],
           exists (select from label_links b where b.noteable_id = ${record} and b.label_id = any(${wanted}::bigint[])))`
/** Whether a link `k` leads to a record that bears all of the labels. */
const bearsAll = (wanted: Sql): Sql => all(sql`k.label_ids`, sql`k.noteable_id`, wanted)
/** Links to the label that leads, in one project, of records that bear the others too. */
export const alongLabel = (kind: Kind, p: LabelSlots, project: Sql): Sql => sql`
  ${linksTo(kind, p.label, project)}
  and (${p.more_labels}::bigint[] = '{}' or ${bearsAll(p.more_labels)})`
/** The labels that records of the project must not bear, where `line` are the groups above it. */
export const unwantedIn = (p: LabelSlots, project: Sql, line: Sql): Sql => sql`array(
  select l.id from labels l
   where l.title = any(${p.not_labels}::text[]) and (l.project_id = ${project} or l.group_id = any(${line})))`
/** Whether a link `k` leads to a record that bears any of the labels. */
export const bearsAny = (wanted: Sql): Sql => any(sql`k.label_ids`, sql`k.noteable_id`, wanted)

/** Whether the record of a link `i` bears all of them, or any. */
const linkBears = (wanted: Sql): Sql => all(sql`i.label_ids`, sql`i.id`, wanted)
const linkBearsAny = (wanted: Sql): Sql => any(sql`i.label_ids`, sql`i.id`, wanted)

/** The conditions on labels of records `i` of a kind. */
export function labelConditions(kind: Kind): Record<LabelCondition, (p: LabelSlots, walk: Walk) => Sql> {
  const linkTo = (label: Sql, walk: Walk): Sql => sql`
    from label_links k where k.noteable_id = i.id and k.label_id = ${label} and k.noteable_kind = ${sql.lit(kind)}
     ${walk === 'in time' ? sql`and k.noteable_project_id = i.project_id and k.noteable_created_at = i.created_at` : sql``}`
  const titled = (titles: Sql): Sql => sql`from label_links k where k.noteable_id = i.id
     and k.label_id = any(array(select l.id from labels l where l.title = any(${titles}::text[])))`
  return {
    label: (p, walk) =>
      walk === 'linked' ? linkBears(sql`array[${p.label}]`) : there(walk, linkTo(p.label, walk)),
    several_labels: (p, walk) =>
      walk === 'linked'
        ? linkBears(sql`(${p.label}::bigint || ${p.more_labels}::bigint[])`)
        : there(
            walk,
            sql`${linkTo(p.label, walk)} and ${all(sql`k.label_ids`, sql`k.noteable_id`, p.more_labels)}`,
          ),
    titled: (p, walk) => there(walk, titled(sql`array[${p.titled}]`)),
    // Each title must be borne by a label on the record.
    labels: (p, walk) => {
      const each = sql`cardinality(${p.labels}::text[]) = (
        select count(distinct l.title) from label_links k join labels l on l.id = k.label_id
         where k.noteable_id = i.id and l.title = any(${p.labels}::text[]))`
      return walk === 'linked'
        ? sql`coalesce(case when v.plain then i.label_ids @> v.others end, ${each})`
        : each
    },
    // Of several projects each is looked through, and would read all links again.
    not_labels: (p, walk) =>
      sql`not (${walk === 'linked' ? sql`true` : sql`i.labelled`} and ${looked(titled(p.not_labels))})`,
    unwanted_titles: (_, walk) =>
      walk === 'linked'
        ? sql`not ${linkBearsAny(sql`v.unwanted`)}`
        : sql`not ${there(walk, linkTo(sql`v.unwanted[1]`, walk === 'led' ? 'in time' : walk))}
              and (cardinality(v.unwanted) < 2 or not ${looked(
                sql`from label_links k where k.noteable_id = i.id and k.label_id = any(v.unwanted[2:])`,
              )})`,
    unwanted_label: (p, walk) =>
      walk === 'linked'
        ? sql`not ${linkBearsAny(sql`array[${p.unwanted_label}]`)}`
        : sql`not ${there(walk, linkTo(p.unwanted_label, walk))}`,
    unwanted_labels: (p, walk) =>
      walk === 'linked'
        ? sql`not ${linkBearsAny(p.unwanted_labels)}`
        : sql`not ${there(
            walk,
            sql`from label_links k where k.noteable_id = i.id and k.label_id = any(${p.unwanted_labels}::bigint[])
                 and k.noteable_kind = ${sql.lit(kind)}`,
          )}`,
    labelled: () => sql`i.labelled`,
    unlabelled: () => sql`not i.labelled`,
  }
}
export type LabelCondition =
  | 'label'
  | 'several_labels'
  | 'titled'
  | 'labels'
  | 'not_labels'
  | 'unwanted_titles'
  | 'unwanted_label'
  | 'unwanted_labels'
  | 'labelled'
  | 'unlabelled'

interface Part {
  /** What it reads, for a `with`. */
  readonly before: Sql
  readonly from: Sql
}

/**
 * The links of records that bear a label of the title, in each of the `places`: rows of `id`, `role`, `line`, the groups
 * above it, and `unwanted`. Each place may have a label of the title, and so may groups; what bears two of them is found by
 * the first. `cut` ends the walk of each label, with conditions on `i` before it.
 */
export function alongTitle(kind: Kind, p: LabelSlots, cut: Sql): Part {
  return {
    before: sql`
      borne as materialized (
        select v.id, v.role, v.unwanted, t.id as label_id, array(select o from unnest(w.leads) o where o < t.id) as earlier,
               w.others, w.plain
          from places v,
               lateral (
                 select array_agg(l.id) filter (where l.title = ${p.titled}) as leads,
                        coalesce(array_agg(l.id) filter (where l.title <> ${p.titled}), '{}') as others,
                        count(distinct l.title) as titles,
                        count(*) filter (where l.title <> ${p.titled}) = count(distinct l.title) - 1 as plain
                   from (select l.id, l.title from labels l
                          where l.project_id = v.id and l.title = any(${p.labels}::text[])
                         union all
                         select l.id, l.title from labels l
                          where l.group_id = any(v.line) and l.title = any(${p.labels}::text[])) l) w,
               unnest(w.leads) t (id)
         where w.titles = cardinality(${p.labels}::text[]))`,
    from: sql`borne v, lateral (
      select i.* from (${linksTo(kind, sql`v.label_id`, sql`v.id`)}) i
       where (v.earlier = '{}' or not ${linkBearsAny(sql`v.earlier`)}) and ${cut}) i`,
  }
}
