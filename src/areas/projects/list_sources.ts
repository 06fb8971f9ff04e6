import { sql, type RawBuilder } from 'kysely'
import { heldOnProject, isBelow, undenied } from '../../core/areas.ts'
import { ROLES } from '../../core/roles.ts'
import type { Visibility } from '../../db/schema.ts'
import type { ProjectListShape, ProjectListValues } from './list_shape.ts'

type P = { readonly [Name in keyof ProjectListValues]: RawBuilder<ProjectListValues[Name]> }
type Raw = RawBuilder<unknown>
export type Shape = ProjectListShape & { readonly everything: boolean; readonly open: readonly Visibility[] }

const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public']
const at = (moment: Raw): Raw => sql`${moment}::timestamptz`
const and = (conditions: readonly Raw[]): Raw => sql.join([sql`true`, ...conditions], sql` and `)

function filters(p: P, shape: Shape): Raw[] {
  return [
    ...(shape.archived === null ? [] : [shape.archived ? sql`p.archived` : sql`not p.archived`]),
    ...(shape.starred
      ? [sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.user_id}))`]
      : []),
    ...(shape.ids ? [sql`p.id > ${p.id_after} and p.id < ${p.id_before}`] : []),
    ...(shape.rare
      ? [
          sql`(not ${p.issues} or coalesce((p.settings->>'issues_enabled')::boolean, true))`,
          sql`(not ${p.merge_requests} or coalesce((p.settings->>'merge_requests_enabled')::boolean, true))`,
          sql`p.last_activity_at > ${at(p.active_after)} and p.last_activity_at < ${at(p.active_before)}`,
          sql`p.updated_at > ${at(p.updated_after)} and p.updated_at < ${at(p.updated_before)}`,
        ]
      : []),
  ]
}

/** What is looked for, in columns with indexes of trigrams; two letters have none, and must not ask those. */
function sought(p: P, { search, topic }: Shape): Raw[] {
  const asked = (column: string): Raw =>
    search === 'short' ? sql`(${sql.ref(column)} || '')` : sql.ref(column)
  return [
    ...(search
      ? [
          sql`(${asked('p.name')} ilike ${p.pattern} or ${asked('p.description')} ilike ${p.pattern}
              or (${asked('p.full_path')} ilike ${p.pattern} and (p.path ilike ${p.pattern} or ${p.namespaces})))`,
        ]
      : []),
    ...(topic ? [sql`p.topics @> ${p.topics}::text[]`] : []),
  ]
}

const name = sql`lower(p.name) collate "C"`
const path = sql`lower(p.path) collate "C"`
const begins = (column: Raw, word: Raw): Raw => sql`starts_with(${column}, lower(${word}))`
/** The same, as a walk along an index: no letter comes after the last one. */
const from = (column: Raw, word: Raw): Raw =>
  sql`${column} >= lower(${word}) and ${column} < lower(${word}) || chr(1114111) and ${begins(column, word)}`
const called = (p: P): Raw => sql`(${path} = lower(${p.search}) or ${name} = lower(${p.search}))`

/** What is called so, what begins so, whose path begins so, and the rest. */
const similarity = (p: P): Raw => sql`
  case when ${called(p)} then 0 when ${begins(name, p.search)} then 1 when ${begins(path, p.search)} then 2 else 3 end,
  (case when not ${called(p)} and not ${begins(name, p.search)} and ${begins(path, p.search)} then ${path} else ${name} end),
  p.id`

export function orderOf(p: P, { order, descending, search }: Shape): Raw {
  if (order === 'similarity') return search ? similarity(p) : sql`p.name, p.id`
  const direction = descending ? sql`desc` : sql`asc`
  return order === 'id'
    ? sql`p.id ${direction}`
    : sql`${sql.ref(`p.${order}`)} ${direction}, p.id ${direction}`
}

const among = (visibilities: readonly Visibility[]): Raw =>
  sql`p.visibility = any(${sql.lit(`{${visibilities.join(',')}}`)}::text[])`
const shown = ({ visibility }: Shape): Visibility[] =>
  VISIBILITIES.filter((each) => visibility === null || each === visibility)
const isOpen = (shape: Shape) => (each: Visibility) => shape.everything || shape.open.includes(each)
export const levelOf = (p: P, shape: Shape): Raw => (shape.role ? p.role : sql.lit(ROLES.guest))

const many = sql`(select many from vast)`

interface Cut {
  readonly order: Raw
  readonly reach: Raw
}
const cutBy = ({ order, reach }: Cut): Raw => sql`order by ${order} limit ${reach}`

/**
 * The newest few in the order are looked at one by one; where they do not fill the page, what is sought is rare enough
 * to be fetched by its own index and sorted.
 */
function nearOrFar(p: P, shape: Shape, sees: Raw, cut: Cut): Raw {
  const rest = and([sees, ...sought(p, shape), ...filters(p, shape)])
  const walks = shown(shape).map(
    (each) => sql`(select p.* from projects p where p.visibility = ${sql.lit(each)}
                    order by ${cut.order} limit ${cut.reach} * 4 + 200)`,
  )
  const near = sql`select p.* from (
      select p.* from (${sql.join(walks, sql` union all `)}) p order by ${cut.order} limit ${cut.reach} * 4 + 200) p
     where ${rest} ${cutBy(cut)}`
  const filled = sql`(select count(*) from near) >= ${cut.reach}`
  return sql`select * from (with near as materialized (${near})
    select * from near where ${filled}
    union all
    (select p.* from (select p.* from projects p where ${and(sought(p, shape))} offset 0) p
      where not (${filled}) and ${rest} ${cutBy(cut)})) p`
}

/** Each kind of likeness in its own order, and only as far as those before it left room. */
function bySimilarity(p: P, shape: Shape, sees: Raw, { reach }: Cut): Raw {
  const rest = and([sees, ...sought(p, shape), ...filters(p, shape)])
  const left = (before: string): Raw => sql`(select greatest(${reach} - count(*), 0) from ${sql.ref(before)})`
  const unnamed = sql`not ${called(p)} and not ${begins(name, p.search)}`
  return sql`select p.* from (
    with called as materialized (
      select p.* from projects p where p.id = any(array(
          select p.id from projects p where ${name} = lower(${p.search})
          union select p.id from projects p where ${path} = lower(${p.search}))) and ${rest}
       order by ${name}, p.id limit ${reach}),
    named as materialized (
      select * from called union all (
      select p.* from projects p where ${from(name, p.search)} and not ${called(p)} and ${rest}
       order by ${name}, p.id limit ${left('called')})),
    placed as materialized (
      select * from named union all (
      select p.* from projects p where ${from(path, p.search)} and ${unnamed} and ${rest}
       order by ${path}, p.id limit ${left('named')}))
    select * from placed union all (
    select p.* from (select p.* from projects p where ${and(sought(p, shape))} offset 0) p
     where (select count(*) from placed) < ${reach} and ${unnamed} and not ${begins(path, p.search)} and ${rest}
     order by ${name}, p.id limit ${left('placed')})) p`
}

const seeks = ({ search, topic, order }: Shape): boolean =>
  search === 'long' || topic || (search !== null && order === 'similarity')

/** The namespaces that the caller belongs to, each in order by an index and only as far as the page reaches. */
function homeSources(p: P, shape: Shape, only: readonly Visibility[], cut: Cut): Raw[] {
  const level = levelOf(p, shape)
  const rest = and([undenied(level), among(only), ...sought(p, shape), ...filters(p, shape)])
  return [
    sql`select p.* from homes h, lateral (
          select p.* from projects p where p.namespace_id = h.id and ${rest} ${cutBy(cut)}) p where not ${many}`,
    sql`select p.* from projects p where not ${many} and p.id = any(array(select id from single)) and ${rest} ${cutBy(cut)}`,
  ]
}

/** Pages of what is scattered: the caller's own, when that is much; and everything that is seen without a role. */
function wideSources(p: P, shape: Shape, cut: Cut): Raw[] {
  const [all, open] = [shown(shape), shown(shape).filter(isOpen(shape))]
  const closed = all.filter((each) => !open.includes(each))
  const own = sql`(${many} and ${heldOnProject} >= ${levelOf(p, shape)})`
  const member = shape.of === 'member'
  if (seeks(shape)) {
    const mine = sql`(${many} and ${among(all)} and ${own})`
    const sees = member ? mine : closed.length === 0 ? among(open) : sql`(${among(open)} or ${mine})`
    const by = shape.order === 'similarity' && shape.search !== null ? bySimilarity : nearOrFar
    return [sql`${by(p, shape, sees, cut)} ${member ? sql`where ${many}` : sql``}`]
  }
  const rest = [...sought(p, shape), ...filters(p, shape)]
  return (member ? all : [...open, ...closed]).map((each) => {
    const needs = !member && open.includes(each) ? [] : [many, own]
    const where = and([sql`p.visibility = ${sql.lit(each)}`, ...needs, ...rest])
    return sql`select p.* from projects p where ${where} ${cutBy(cut)}`
  })
}

/** The projects in question from a few sides, each project from one of them. */
export function sources(p: P, shape: Shape, cut: Cut): Raw[] {
  const within = narrow(p, shape)
  if (within !== undefined) {
    const role = sql`${heldOnProject} >= ${levelOf(p, shape)}`
    const sees = shape.role
      ? role
      : shape.everything
        ? sql`true`
        : sql`(p.visibility = any(${p.open_to}) or ${role})`
    const where = and([within, sees, among(shown(shape)), ...sought(p, shape), ...filters(p, shape)])
    return [sql`select p.* from projects p where ${where} ${cutBy(cut)}`]
  }
  const own = shape.of === 'member' ? shown(shape) : shown(shape).filter((each) => !isOpen(shape)(each))
  return [...wideSources(p, shape, cut), ...(own.length === 0 ? [] : homeSources(p, shape, own, cut))]
}

/** Lists of a namespace, of stars and of forks have an index of their own. */
function narrow(p: P, { of }: Shape): Raw | undefined {
  if (of === 'namespace') return sql`p.namespace_id = ${p.of_id}`
  if (of === 'forks') return sql`p.forked_from_project_id = ${p.of_id}`
  if (of === 'starred')
    return sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.of_id}))`
  return undefined
}

/** The same projects uncut and in no order, to be counted: what the caller belongs to by its ranges of addresses. */
export function counted(p: P, shape: Shape): Raw[] {
  if (narrow(p, shape) !== undefined) return sources(p, shape, { order: sql`p.id`, reach: sql`10001` })
  const member = shape.of === 'member'
  const open = member ? [] : shown(shape).filter(isOpen(shape))
  const own = shown(shape).filter((each) => !open.includes(each))
  const rest = [...sought(p, shape), ...filters(p, shape)]
  const mine = and([among(own), undenied(levelOf(p, shape)), ...rest])
  return [
    ...(open.length === 0 ? [] : [sql`select p.id from projects p where ${and([among(open), ...rest])}`]),
    ...(own.length === 0
      ? []
      : [
          sql`select p.id from areas a, lateral (
            select p.id from projects p where ${isBelow('p', sql`a.full_path`)} and ${mine} limit 10001) p`,
          sql`select p.id from projects p where p.id = any(array(select id from single)) and ${mine}`,
        ]),
  ]
}
