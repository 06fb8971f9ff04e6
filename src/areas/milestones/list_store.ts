import { sql, type RawBuilder } from 'kysely'
import { below, openTo, type Viewer } from '../../core/sight/roles.ts'
import { mine, seesInside, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import type { Slots } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import { keysOf } from '../../http/params/schema.ts'
import { shownMilestones, type MilestoneShown } from '../../records/planning/milestone.ts'
import type { Home, Page } from './store.ts'

interface Filters {
  readonly state: 'active' | 'closed' | undefined
  readonly title: string | undefined
  readonly search: string | undefined
  readonly iids: readonly number[] | undefined
  readonly before: string | undefined
  readonly after: string | undefined
  readonly containing: string | undefined
}
type FilterName = keyof Filters
interface Reach {
  readonly ancestors: boolean
  readonly descendants: boolean
}
/** The total of an empty list is empty for the same reason. */
interface Shape extends Reach {
  readonly kind: Home['kind']
  readonly everything: boolean
  readonly filters: readonly FilterName[]
}
type Values = Caller &
  Filters & {
    readonly id: number
    readonly line: readonly number[]
    readonly pattern: string
    readonly limit: number
    readonly offset: number
  }

const CONDITIONS: Readonly<Record<FilterName, (p: Slots<Values>) => RawBuilder<unknown>>> = {
  state: (p) => sql`m.state = ${p.state}`,
  title: (p) => sql`m.title = ${p.title}`,
  search: (p) => sql`(m.title ilike ${p.pattern} or m.description ilike ${p.pattern})`,
  iids: (p) => sql`m.iid = any(${p.iids}::bigint[])`,
  before: (p) => sql`m.updated_at <= ${p.before}::timestamptz`,
  after: (p) => sql`m.updated_at >= ${p.after}::timestamptz`,
  containing: (p) => sql`
    (m.start_date is not null or m.due_date is not null)
    and coalesce(m.start_date <= ${p.containing}::date, true)
    and coalesce(m.due_date >= ${p.containing}::date, true)`,
}

/** From each parent its milestones in order, and only as far as `cut` lets them. */
function sources(p: Slots<Values>, shape: Shape, cut: RawBuilder<unknown>): RawBuilder<unknown> {
  const of = (column: string, id: RawBuilder<unknown>): RawBuilder<unknown> => {
    const parent = sql`${sql.ref(`m.${column}`)} = ${id}`
    const conditions = [parent, ...shape.filters.map((name) => CONDITIONS[name](p))]
    return sql`select m.id, m.due_date from milestones m where ${sql.join(conditions, sql` and `)} ${cut}`
  }
  const groups = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`select c.* from (${ids}) as home (id), lateral (${of('group_id', sql`home.id`)}) c`
  const inside = sql`
    select n.id from ${below(sql`${p.id}::bigint`)} d join namespaces n on n.id = d.id
     where n.id <> ${p.id} and ${seesInside(p, shape.everything)}`
  const own = shape.kind === 'project' ? of('project_id', p.id) : groups(sql`select ${p.id}::bigint`)
  const above = sql`select g.id from unnest(${p.line}::bigint[]) as g (id)
                     ${shape.kind === 'group' ? sql`where g.id <> ${p.id}` : sql``}`
  const parts = [
    own,
    ...(shape.ancestors ? [groups(above)] : []),
    ...(shape.descendants ? [groups(inside)] : []),
  ]
  return sql.join(
    parts.map((part) => sql`(${part})`),
    sql` union all `,
  )
}

const ORDER = sql`order by m.due_date, m.id desc`

const list = pageStatements<Shape, Values, MilestoneShown>((p, shape) => {
  const reach = sql`${ORDER} limit ${p.limit}::bigint + ${p.offset}::bigint`
  const chosen = sql`select m.id from (${sources(p, shape, reach)}) m
                      ${ORDER} limit ${p.limit} offset ${p.offset}`
  const page = sql`select x.* from milestones x where x.id = any(array(${chosen}))`
  // The fence keeps the count to the milestones of one parent at a time, by their index.
  const matches = sql`select from (${sources(p, shape, sql`offset 0`)}) m`
  const held = shape.descendants && !shape.everything ? sql`with ${mine(p)}` : sql``
  return paged(sql<MilestoneShown>`${held} ${shownMilestones(page)} ${ORDER}`, sql`${held} ${matches}`)
})

/** The milestones of a project or group, in the order in which they are due, those without a day last. */
export async function listMilestones(
  db: Db,
  viewer: Viewer,
  { home, reach, page }: { home: Home; reach: Reach; page: Page },
  filters: Filters,
): Promise<Listed<MilestoneShown>> {
  const names = keysOf(CONDITIONS)
  const shape = {
    kind: home.kind,
    ...reach,
    everything: viewer.admin,
    filters: names.filter((name) => filters[name] !== undefined),
  }
  return db.page(list(shape), {
    ...filters,
    pattern: containing(filters.search ?? ''),
    user_id: viewer.id,
    open_to: openTo(viewer),
    id: home.id,
    line: home.line,
    ...page,
  })
}
