import { sql, type RawBuilder } from 'kysely'
import { foundFirst } from '../db/found.ts'
import type { Paging } from '../db/pages.ts'
import { inTurn, type TurnOrder } from './in_turn.ts'
import {
  alongLabel,
  alongTitle,
  linksTo,
  unwantedIn,
  type Kind,
  type LabelCondition,
  type LabelSlots,
  type Walk,
} from './label_walk.ts'
import { homeOf } from './roles.ts'
import { mine, type CallerSlots } from './sight.ts'
import { isFrequentAmong } from './word_search.ts'
import { type Sql } from '../db/statement.ts'

// How lists of issues and of merge requests find what matches: along an index of each project, along the links to a label,
// or along one index of all projects; an area says what its conditions are, who sees what, and which orders there are.

/** A list of the records `i`, as parts of its statement. */
export interface RecordList<Name extends string> {
  readonly kind: Kind
  readonly in: 'project' | 'group' | 'everywhere'
  readonly p: LabelSlots & CallerSlots & { readonly place: Sql; readonly limit: Sql; readonly offset: Sql }
  readonly conditions: readonly (Name | LabelCondition)[]
  /** Conditions of these names on `i`. */
  readonly holds: (names: readonly (Name | LabelCondition)[], walk: Walk) => Sql
  /** Whether the viewer, with a role in its project, sees `i`. */
  readonly sees: (role: Sql) => Sql
  /** Whether the list shows the project `p` at `n`, and the viewer's role there; not asked where the project is given. */
  readonly projects: { readonly shown: Sql; readonly role: Sql }
  /** Conditions that all links tell the answer to, and those that links to labels do besides. */
  readonly linked: readonly Name[]
  readonly labelLinked: readonly Name[]
  /** Conditions by whose own links a list in the order of time is walked in a project or below a group, and found in all. */
  readonly leads: Partial<Record<Name, (project?: Sql) => Sql>>
  /** Those of them whose links know the labels too. */
  readonly knowLabels: readonly Name[]
  /** Conditions by whose own links all is found, in no order. */
  readonly finds: Partial<Record<Name, (project?: Sql) => Sql>>
  /** Words lead to what has them, and reactions to what was reacted to; neither stands beside a walk in the order of time. */
  readonly scattered: 'by words' | 'by reactions' | undefined
}
/** An order: what sorts `i`, what that reads of it, and how it is walked where no index has it. */
export interface ListOrder {
  readonly by: Sql
  readonly columns: Sql
  readonly descending: boolean
  /** By time or id, which links know too; by an index of all projects, or of each; or in turn. */
  readonly walked: 'created_at' | 'id' | 'of all' | 'of each' | TurnOrder
}

const TITLED = ['titled', 'labels']
const KNOWN_LABELS = ['unwanted_titles', 'unwanted_label', 'unwanted_labels']
const LABELLED = ['label', 'several_labels', 'titled']

/** The projects of a list that has several; where a label leads, those that have it. */
function places<Name extends string>({ in: where, p, projects, conditions }: RecordList<Name>): Sql {
  const labelled = sql`
    (p.id = any(array(select l.project_id from labels l where l.title = ${p.titled}))
     or n.traversal_ids && array(select l.group_id from labels l where l.title = ${p.titled} and l.group_id is not null))`
  const which = {
    project: sql`p.id = ${p.place}`,
    group: sql`
      p.namespace_id = any(array(select d.id from namespaces d where d.traversal_ids @> array[${p.place}::bigint]))`,
    everywhere: conditions.includes('titled') ? labelled : sql`true`,
  }[where]
  const one = where === 'project'
  const unwanted = conditions.includes('unwanted_titles')
    ? unwantedIn(p, sql`p.id`, sql`n.traversal_ids`)
    : sql`'{}'::bigint[]`
  return sql`
    select p.id, ${one ? sql`0` : projects.role} as role, n.traversal_ids as line, ${unwanted} as unwanted
      from projects p, ${homeOf} n where ${which} and ${one ? sql`true` : projects.shown}`
}
const ofPlaces = <Name extends string>(list: RecordList<Name>, from: Sql, before = sql``): Sql => sql`
  with ${mine(list.p)}, places as materialized (${places(list)}) ${before} select i.* from ${from}`

/** What there is in a project, as the viewer with a role there sees it. */
type Inside = (place: Sql, role: Sql) => Sql
/** Each project is walked by itself, and only as far as the page reaches. */
const inEach = <Name extends string>(list: RecordList<Name>, inside: Inside): Sql =>
  list.in === 'project'
    ? inside(list.p.place, sql`0`)
    : ofPlaces(list, sql`places v, lateral (${inside(sql`v.id`, sql`v.role`)}) i`)

/** From links alone, where they say all that is asked and the order is that of time. */
function byLinks<Name extends string>(list: RecordList<Name>, cut: Sql, ordered: boolean): Sql | undefined {
  const { kind, p, conditions, holds, sees } = list
  const labelled = conditions.some((name) => LABELLED.includes(name))
    ? [...list.labelLinked, 'not_labels']
    : []
  const linked: readonly string[] = [...list.linked, ...labelled, ...KNOWN_LABELS]
  const rest = conditions.filter((name) => linked.includes(name))
  const by = conditions.filter((name) => !linked.includes(name))
  if (by.includes('titled') && by.every((name) => TITLED.includes(name))) {
    const others = by.filter((name) => name === 'labels')
    const { before, from } = alongTitle(
      kind,
      p,
      sql`${holds([...rest, ...others], 'linked')} and ${sees(sql`v.role`)} ${cut}`,
    )
    return ofPlaces(list, from, sql`, ${before}`)
  }
  const [lead, ...more] = by
  if (lead === undefined) return undefined
  if (more.length > 0) return list.in === 'project' && !ordered ? byLinksOfTwo(list, by) : undefined
  if (list.in === 'project' && (lead === 'label' || lead === 'several_labels'))
    return sql`select i.* from (${alongLabel(kind, p, p.place)}) i
      where ${holds(rest, 'linked')} and ${sees(sql`0`)} ${cut}`
  const links = list.leads[lead as Name] ?? (ordered ? undefined : list.finds[lead as Name])
  if (links === undefined) return undefined
  const walk = list.knowLabels.some((name) => name === lead) ? 'linked' : 'each'
  if (list.in === 'everywhere') return ordered ? undefined : ofAll(list, sql`(${links()})`, holds(rest, walk))
  return inEach(
    list,
    (place, role) => sql`
      select i.* from (${links(place)}) i where ${holds(rest, walk)} and ${sees(role)} ${cut}`,
  )
}

/** What matches in a project, as a query that `cut` ends; what it selects is all of `i`. */
const ofProject =
  <Name extends string>({ kind, conditions, holds, sees }: RecordList<Name>, cut: Sql, walk: Walk): Inside =>
  (place, role) => sql`
    select i.* from ${sql.table(`${kind}s`)} i
     where i.project_id = ${place} and ${sees(role)} and ${holds(conditions, walk)} ${cut}`
/** The same of `rows` of all projects at once, which have a `project_id`. */
const ofAll = <Name extends string>(
  { p, sees, projects }: RecordList<Name>,
  rows: Sql,
  held: Sql,
): Sql => sql`
  with ${mine(p)} select i.* from ${rows} i join projects p on p.id = i.project_id, ${homeOf} n
   where ${held} and ${projects.shown} and ${sees(projects.role)}`

/** So many links to a label are followed one by one. */
const FOLLOWED = 2_000

/**
 * What bears a label and is somebody's in one project: along the links to them, which know the labels; but where few bear the
 * label, by those.
 */
function byLinksOfTwo<Name extends string>(list: RecordList<Name>, by: readonly string[]): Sql | undefined {
  const { kind, p, conditions, linked, knowLabels, leads, holds, sees } = list
  const lead = knowLabels.find((name) => by.includes(name))
  const links = lead && leads[lead]
  const known: readonly string[] = [...linked, ...KNOWN_LABELS, 'label', 'several_labels']
  const rest = conditions.filter((name) => name !== lead)
  if (links === undefined || !rest.every((name) => known.includes(name))) return undefined
  const row = sql`select i.id, i.created_at, i.state`
  return sql`
    with rare as materialized (
      select count(*) <= ${sql.lit(FOLLOWED)} as it
        from (select from (${linksTo(kind, p.label, p.place)}) k limit ${sql.lit(FOLLOWED + 1)}) k)
    ${row} from (${ofProject(list, sql``, 'in time')(p.place, sql`0`)}) i where (select it from rare)
     union all
    ${row} from (${links(p.place)}) i where ${holds(rest, 'linked')} and ${sees(sql`0`)} and not (select it from rare)`
}

/** Of the links to a label, as each is followed to its record. */
const SAMPLE = 30

/**
 * What bears the label that leads and has words, in one project: found by the words; but where they are frequent among what
 * bears it, along its links, because a walk past all else that has them would be long.
 */
function labelledWith<Name extends string>(list: RecordList<Name>, byWords: Sql): Sql {
  const { kind, p, conditions, holds, sees } = list
  const links = alongLabel(kind, p, p.place)
  const records = (from: Sql): Sql => sql`
    select i.* from (${from}) k, lateral (select * from ${sql.table(`${kind}s`)} r where r.id = k.id offset 0) i
     where ${sees(sql`0`)} and ${holds(
       conditions.filter((name) => name !== 'label'),
       'each',
     )}`
  return sql`
    with frequent as materialized (
      select ${isFrequentAmong(links, sql`created_at`, records, SAMPLE)} as it)
    select i.* from (${byWords}) i where not (select it from frequent)
     union all
    select i.* from (${records(links)}) i where (select it from frequent)`
}

/** All that match, in no order: whole records, or where links tell them only what those know. */
export function matching<Name extends string>(
  list: RecordList<Name>,
): { readonly all: Sql; readonly linked: boolean } {
  // Of several projects each is looked through by its own index.
  const cut = list.in === 'project' ? sql`` : sql`offset 0`
  const links = byLinks(list, cut, false)
  if (links !== undefined) return { all: links, linked: true }
  const { conditions, holds } = list
  const table = sql.table(`${list.kind}s`)
  const all =
    list.in === 'everywhere'
      ? ofAll(list, table, holds(conditions, 'led among all'))
      : inEach(list, ofProject(list, cut, list.in === 'group' || list.scattered ? 'led' : 'in time'))
  const both = list.in === 'project' && list.scattered === 'by words' && conditions.includes('label')
  return { all: both ? labelledWith(list, all) : all, linked: false }
}

/** The first that match, as far as a page reaches; where many do. */
export function walked<Name extends string>(list: RecordList<Name>, order: ListOrder): Sql {
  const { kind, p, scattered } = list
  const reach = sql`(${p.limit}::bigint + ${p.offset}::bigint)`
  const cut = sql`order by ${order.by} limit ${reach}`
  const inTime = order.walked === 'created_at'
  const linked = inTime ? byLinks(list, cut, true) : undefined
  if (linked !== undefined) return linked
  const beside = list.in === 'project' && inTime && scattered === undefined
  const walk = scattered === 'by words' ? 'led' : beside ? 'in time' : 'each'
  const { walked: way, descending, columns } = order
  const indexed = way === 'created_at' || way === 'id' || way === 'of all'
  if (list.in === 'everywhere' && indexed)
    return sql`${ofAll(list, sql.table(`${kind}s`), list.holds(list.conditions, walk))} ${cut}`
  return inEach(list, (place, role) => {
    if (indexed || way === 'of each') return ofProject(list, cut, walk)(place, role)
    const those = (held: Sql): Sql => ofProject(list, sql`and ${held}`, walk)(place, role)
    return inTurn({ kind, order: way, descending, place, reach, columns, those })
  })
}

/** One page and its total: what is found is put in order where it is little, else walked. */
export function listPage<Name extends string, Row>(
  list: RecordList<Name>,
  order: ListOrder,
  shown: (chosen: Sql) => RawBuilder<Row>,
): Paging<Row> {
  const { all, linked } = matching(list)
  const whole = linked && order.walked !== 'created_at' && order.walked !== 'id'
  const table = sql.table(`${list.kind}s`)
  const isIndexed = order.walked === 'of all' || (list.in === 'project' && order.walked === 'of each')
  const here = list.in === 'project' ? sql`i.project_id = ${list.p.place}` : sql`true`
  const records = sql`found f, lateral (select * from ${table} where id = f.id offset 0) i`
  return foundFirst({
    all: sql`select ${whole ? sql`i.id` : order.columns} from (${all}) i`,
    few: sql`select ${order.columns} from ${whole ? records : sql`found i`}`,
    glanced: whole && isIndexed ? sql`select ${order.columns} from ${table} i where ${here}` : undefined,
    walked: sql`select ${order.columns} from (${walked(list, order)}) i`,
    order: order.by,
    page: list.p,
    shown,
  })
}
