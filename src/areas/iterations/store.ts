import { sql, type RawBuilder } from 'kysely'
import { below, openTo, type Viewer } from '../../core/sight/roles.ts'
import { mine, seesInside, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import type { Slots } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import { shownIterations, type IterationShown } from '../../records/planning/iteration.ts'

export const STATES = ['opened', 'upcoming', 'started', 'current', 'closed', 'all'] as const
type State = (typeof STATES)[number]
export const FIELDS = ['title', 'cadence_title'] as const
type Field = (typeof FIELDS)[number]

interface Shape {
  readonly ancestors: boolean
  readonly descendants: boolean
  readonly everything: boolean
  readonly state: State
  /** Where the text is looked for; nowhere without one. */
  readonly fields: readonly Field[]
  readonly before: boolean
  readonly after: boolean
}
type Values = Caller & {
  readonly line: readonly number[]
  readonly pattern: string
  readonly before: string | undefined
  readonly after: string | undefined
  readonly limit: number
  readonly offset: number
}

const now = sql`t.start_date <= today() and t.due_date >= today()`
const STATE: Readonly<Record<State, RawBuilder<unknown>>> = {
  opened: sql`t.due_date >= today()`,
  upcoming: sql`t.start_date > today()`,
  started: now,
  current: now,
  closed: sql`t.due_date < today()`,
  all: sql`true`,
}
const FIELD = (p: Slots<Values>): Readonly<Record<Field, RawBuilder<unknown>>> => ({
  title: sql`t.title ilike ${p.pattern}`,
  cadence_title: sql`exists (select from iteration_cadences c
                              where c.id = t.iterations_cadence_id and c.title ilike ${p.pattern})`,
})

/** The groups whose iterations count: the last of the line, those above it, and those below that the viewer sees. */
function groups(p: Slots<Values>, { ancestors, descendants, everything }: Shape): RawBuilder<unknown> {
  const line = sql`${p.line}::bigint[]`
  const own = sql`(${line})[cardinality(${line})]`
  const above = ancestors ? sql`select unnest(${line})` : sql`select ${own}`
  return descendants
    ? sql`${above} union select n.id from ${below(own)} d join namespaces n on n.id = d.id
            where ${seesInside(p, everything)}`
    : above
}

/** From each group its iterations in order, and only as far as `cut` lets them. */
function matching(p: Slots<Values>, shape: Shape, cut: RawBuilder<unknown>): RawBuilder<unknown> {
  const conditions = [
    STATE[shape.state],
    ...(shape.fields.length > 0
      ? [
          sql`(${sql.join(
            shape.fields.map((field) => FIELD(p)[field]),
            sql` or `,
          )})`,
        ]
      : []),
    ...(shape.before ? [sql`t.updated_at <= ${p.before}::timestamptz`] : []),
    ...(shape.after ? [sql`t.updated_at >= ${p.after}::timestamptz`] : []),
  ]
  return sql`
    select t.* from (${groups(p, shape)}) as home (id), lateral (
      select t.* from iterations t
       where t.group_id = home.id and ${sql.join(conditions, sql` and `)} ${cut}) t`
}

const ORDER = sql`order by t.due_date, t.title, t.id`

const list = pageStatements<Shape, Values, IterationShown>((p, shape) => {
  const held = shape.descendants && !shape.everything ? sql`with ${mine(p)}` : sql``
  const reach = sql`${ORDER} limit ${p.limit}::bigint + ${p.offset}::bigint`
  const page = sql`select t.* from (${matching(p, shape, reach)}) t ${ORDER} limit ${p.limit} offset ${p.offset}`
  return paged(
    sql<IterationShown>`${held} ${shownIterations(page)} ${ORDER}`,
    sql`${held} select from (${matching(p, shape, sql`offset 0`)}) t`,
  )
})

interface Wanted {
  /** The ids of the groups from the root down to the one that is asked; of a personal namespace too, which has none. */
  readonly line: readonly number[]
  readonly ancestors: boolean
  readonly descendants: boolean
  readonly state: State
  readonly search: string
  readonly fields: readonly Field[]
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Iterations by the day they end. */
export async function listIterations(
  db: Db,
  viewer: Viewer | null,
  { line, search, before, after, ...wanted }: Wanted,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<IterationShown>> {
  const shape = {
    ancestors: wanted.ancestors,
    descendants: wanted.descendants,
    everything: viewer?.admin === true,
    state: wanted.state,
    fields: search === '' ? [] : FIELDS.filter((field) => wanted.fields.includes(field)),
    before: before !== undefined,
    after: after !== undefined,
  }
  return db.page(list(shape), {
    user_id: viewer?.id ?? 0,
    open_to: openTo(viewer),
    line,
    pattern: containing(search),
    before,
    after,
    ...page,
  })
}
