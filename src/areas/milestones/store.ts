import { sql, type RawBuilder } from 'kysely'
import { below, openTo, type Viewer } from '../../core/roles.ts'
import { mine, seesInside, type Caller } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import type { Milestone } from '../../db/schema_planning.ts'
import {
  listed,
  paged,
  statement,
  statements,
  type Listed,
  type Paged,
  type Slots,
} from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import { shownMilestones, type MilestoneShown } from '../../records/milestone.ts'

/** Where milestones hang: a project or a group. */
export interface Home {
  readonly kind: 'project' | 'group'
  readonly id: number
  /** The ids of the groups from the root down; of a personal namespace too, which has no milestones. */
  readonly line: readonly number[]
}

/** Who sees an empty list sees it for the same reason in its total. */
interface ListShape {
  readonly kind: Home['kind']
  readonly ancestors: boolean
  readonly descendants: boolean
  readonly everything: boolean
  readonly state: boolean
  readonly title: boolean
  readonly search: boolean
  readonly iids: boolean
  readonly before: boolean
  readonly after: boolean
  readonly containing: boolean
}
interface Filters {
  readonly state?: 'active' | 'closed' | undefined
  readonly title?: string | undefined
  readonly search?: string | undefined
  readonly iids?: readonly number[] | undefined
  readonly before?: string | undefined
  readonly after?: string | undefined
  readonly containing?: string | undefined
}
type ListValues = Caller & { readonly id: number; readonly line: readonly number[] } & Required<Filters> & {
    readonly pattern: string
    readonly limit: number
    readonly offset: number
  }

function filters(p: Slots<ListValues>, shape: ListShape): RawBuilder<unknown> {
  const kept = [
    shape.state && sql`m.state = ${p.state}`,
    shape.title && sql`m.title = ${p.title}`,
    shape.search && sql`(m.title ilike ${p.pattern} or m.description ilike ${p.pattern})`,
    shape.iids && sql`m.iid = any(${p.iids}::bigint[])`,
    shape.before && sql`m.updated_at <= ${p.before}::timestamptz`,
    shape.after && sql`m.updated_at >= ${p.after}::timestamptz`,
    shape.containing &&
      sql`(m.start_date is not null or m.due_date is not null)
          and coalesce(m.start_date <= ${p.containing}::date, true)
          and coalesce(m.due_date >= ${p.containing}::date, true)`,
  ].filter((one) => one !== false)
  return kept.length === 0 ? sql`` : sql`and ${sql.join(kept, sql` and `)}`
}

/** From each parent its milestones in order, and only as far as `cut` lets them. */
function sources(p: Slots<ListValues>, shape: ListShape, cut: RawBuilder<unknown>): RawBuilder<unknown>[] {
  const of = (column: string, id: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select m.id, m.due_date from milestones m where ${sql.ref(`m.${column}`)} = ${id} ${filters(p, shape)} ${cut}`
  const groups = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`select c.* from (${ids}) as home (id), lateral (${of('group_id', sql`home.id`)}) c`
  const inside = sql`
    select n.id from ${below(sql`${p.id}::bigint`)} d join namespaces n on n.id = d.id
     where n.id <> ${p.id} and ${seesInside(p, shape.everything)}`
  const own = shape.kind === 'project' ? of('project_id', p.id) : groups(sql`select ${p.id}::bigint`)
  const above = sql`select g.id from unnest(${p.line}::bigint[]) as g (id)
                     ${shape.kind === 'group' ? sql`where g.id <> ${p.id}` : sql``}`
  return [own, ...(shape.ancestors ? [groups(above)] : []), ...(shape.descendants ? [groups(inside)] : [])]
}

const ORDER = sql`order by m.due_date, m.id desc`

const list = statements<ListShape, ListValues, Paged<MilestoneShown>>((p, shape) => {
  const cut = sql`${ORDER} limit ${p.limit}::bigint + ${p.offset}::bigint`
  const all = (parts: RawBuilder<unknown>[]): RawBuilder<unknown> =>
    sql.join(
      parts.map((part) => sql`(${part})`),
      sql` union all `,
    )
  const chosen = sql`select m.id from (${all(sources(p, shape, cut))}) m
                      ${ORDER} limit ${p.limit} offset ${p.offset}`
  const page = sql`select x.* from milestones x where x.id = any(array(${chosen}))`
  // The fence keeps the count to the milestones of one parent at a time, by their index.
  const matches = sql`select from (${all(sources(p, shape, sql`offset 0`))}) m`
  const held = shape.descendants && !shape.everything ? sql`with ${mine(p)}` : sql``
  return paged(sql<MilestoneShown>`${held} ${shownMilestones(page)} ${ORDER}`, sql`${held} ${matches}`)
})

export interface Reach {
  readonly ancestors: boolean
  readonly descendants: boolean
}
export interface Page {
  readonly size: number
  readonly offset: number
}

const NOT_ASKED: Required<Filters> = {
  state: undefined,
  title: undefined,
  search: undefined,
  iids: undefined,
  before: undefined,
  after: undefined,
  containing: undefined,
}
const asked = (filters: Filters): Record<keyof Filters, boolean> => ({
  state: filters.state !== undefined,
  title: filters.title !== undefined,
  search: filters.search !== undefined,
  iids: filters.iids !== undefined,
  before: filters.before !== undefined,
  after: filters.after !== undefined,
  containing: filters.containing !== undefined,
})

/** The milestones of a project or group, in the order in which they are due, those without a day last. */
export async function listMilestones(
  db: Db,
  viewer: Viewer,
  { home, reach, page }: { home: Home; reach: Reach; page: Page },
  filters: Filters,
): Promise<Listed<MilestoneShown>> {
  const shape = { kind: home.kind, ...reach, everything: viewer.admin, ...asked(filters) }
  return listed(
    await db.rows(list(shape), {
      ...NOT_ASKED,
      ...filters,
      pattern: containing(filters.search ?? ''),
      user_id: viewer.id,
      open_to: openTo(viewer),
      id: home.id,
      line: home.line,
      limit: page.size,
      offset: page.offset,
    }),
  )
}

const parentIs = (kind: Home['kind'], id: RawBuilder<unknown>): RawBuilder<boolean> =>
  kind === 'project' ? sql`project_id = ${id}` : sql`group_id = ${id}`

type OfHome = Pick<Home, 'kind'>
const find = statements<OfHome, { home: number; id: number }, MilestoneShown>((p, { kind }) =>
  shownMilestones(sql`select * from milestones where id = ${p.id} and ${parentIs(kind, p.home)}`),
)

/** A milestone of the project or group itself. */
export const findMilestone = (db: Db, home: Home, id: number): Promise<MilestoneShown | undefined> =>
  db.one(find(home.kind === 'project' ? PROJECT : GROUP), { home: home.id, id })
const [PROJECT, GROUP] = [{ kind: 'project' }, { kind: 'group' }] as const

const locked = statements<OfHome, { home: number; id: number }, Milestone>(
  (p, { kind }) => sql`
    select m.* from milestones m where m.id = ${p.id} and ${parentIs(kind, p.home)} for update`,
)
/** The same, and nobody else changes it until the transaction ends. */
export const lockMilestone = (db: Db, home: Home, id: number): Promise<Milestone | undefined> =>
  db.one(locked(home.kind === 'project' ? PROJECT : GROUP), { home: home.id, id })

const lock = statement(
  (p: Slots<{ key: string }>) => sql`select pg_advisory_xact_lock(hashtextextended(${p.key}, 0))`,
)
/** Whoever gives or takes a title below the same root waits for this transaction: the rule spans parents, so no constraint holds it. */
export const lockTitle = (db: Db, home: Home, title: string): Promise<number> =>
  db.run(lock, { key: `milestone title ${home.line[0] ?? 0} ${title}` })

const taken = statements<
  OfHome,
  { id: number; line: readonly number[]; title: string; except: readonly number[] },
  { taken: boolean }
>((p, { kind }) => {
  const near = sql`select from milestones m where m.title = ${p.title} and m.id <> all(${p.except}::bigint[])
                      and (m.group_id = any(${p.line}::bigint[]) ${kind === 'project' ? sql`or m.project_id = ${p.id}` : sql``})`
  const inside = sql`
    select from milestones m left join projects mp on mp.id = m.project_id
      join namespaces n on n.id = coalesce(m.group_id, mp.namespace_id)
     where m.title = ${p.title} and m.id <> all(${p.except}::bigint[]) and n.traversal_ids @> array[${p.id}::bigint]`
  return sql`select exists (${near}) ${kind === 'group' ? sql`or exists (${inside})` : sql``} as taken`
})

/** Whether another milestone bears the title: of the parent, of a group above it, or of anything inside the group. */
export async function isTaken(
  db: Db,
  { id, line, kind }: Home,
  title: string,
  except: readonly number[] = [],
): Promise<boolean> {
  const found = await db.one(taken(kind === 'project' ? PROJECT : GROUP), { id, line, title, except })
  return found?.taken === true
}

export interface Values {
  readonly title: string
  readonly description: string | null
  readonly start_date: string | null
  readonly due_date: string | null
}
type Parent = { readonly project_id: number | null; readonly group_id: number | null; readonly iid: number }

const insert = statement((p: Slots<Values & Parent>) => {
  const fresh = sql`
    insert into milestones (project_id, group_id, iid, title, description, start_date, due_date)
    values (${p.project_id}, ${p.group_id}, ${p.iid}, ${p.title}, ${p.description}, ${p.start_date}, ${p.due_date})
    returning *`
  return sql<MilestoneShown>`with fresh as (${fresh}) ${shownMilestones(sql`select * from fresh`)}`
})
export const insertMilestone = (
  db: Db,
  home: Home,
  iid: number,
  values: Values,
): Promise<MilestoneShown | undefined> => {
  const parent =
    home.kind === 'project'
      ? { project_id: home.id, group_id: null }
      : { project_id: null, group_id: home.id }
  return db.one(insert, { ...parent, iid, ...values })
}

const update = statement(
  (p: Slots<Values & { id: number; state: string }>) => sql<MilestoneShown>`
    with changed as (
      update milestones
         set title = ${p.title}, description = ${p.description}, state = ${p.state},
             start_date = ${p.start_date}, due_date = ${p.due_date}, updated_at = now()
       where id = ${p.id}
      returning *)
    ${shownMilestones(sql`select * from changed`)}`,
)
/** Call with the milestone locked. */
export const updateMilestone = (
  db: Db,
  id: number,
  values: Values & { readonly state: 'active' | 'closed' },
): Promise<MilestoneShown | undefined> => db.one(update, { id, ...values })

const remove = statements<OfHome, { home: number; id: number }, unknown>(
  (p, { kind }) => sql`delete from milestones where id = ${p.id} and ${parentIs(kind, p.home)}`,
)
/** Issues and merge requests go on without it. */
export const removeMilestone = (db: Db, home: Home, id: number): Promise<number> =>
  db.run(remove(home.kind === 'project' ? PROJECT : GROUP), { home: home.id, id })
