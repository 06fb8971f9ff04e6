import { sql, type RawBuilder } from 'kysely'
import { mine, role, type CallerSlots } from '../../core/sight/callers.ts'
import { placeOfEvent, seesEvent } from '../../core/sight/events.ts'
import { ROLES, openTo, type Viewer } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { noteColumns, type NoteWithPeople } from '../../records/conversation/note.ts'
import { authorJson } from '../../records/people/user.ts'
import type { EventRow } from './entity.ts'

const FILTERS = ['action', 'target_type', 'before', 'after'] as const
type FilterName = (typeof FILTERS)[number]

interface Values {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  /** The project or author. */
  readonly of: number
  readonly action: string
  readonly target_type: string
  readonly before: string
  readonly after: string
  readonly limit: number
  readonly offset: number
}
interface Shape {
  /** `projects`: of all projects that the caller is a member of. */
  readonly of: 'project' | 'author' | 'projects'
  readonly everything: boolean
  readonly sort: 'asc' | 'desc'
  readonly filters: readonly FilterName[]
}
type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

// Both days are left out themselves, as published.
const CONDITIONS: Readonly<Record<FilterName, (p: P) => RawBuilder<unknown>>> = {
  action: (p) => sql`ev.activity = ${p.action}`,
  target_type: (p) => sql`ev.target_type = ${p.target_type}`,
  before: (p) => sql`ev.created_at < ${p.before}::date::timestamp at time zone 'UTC'`,
  after: (p) => sql`ev.created_at >= (${p.after}::date + 1)::timestamp at time zone 'UTC'`,
}
const PARENTS: Readonly<Record<Shape['of'], (p: P & CallerSlots) => RawBuilder<unknown>>> = {
  project: (p) => sql`ev.project_id = ${p.of}`,
  author: (p) => sql`ev.author_id = ${p.of}`,
  projects: () => sql`ev.project_id is not null and ${role} >= ${sql.lit(ROLES.guest)}`,
}

function matching(p: P, { of, everything, filters }: Shape): RawBuilder<unknown> {
  const conditions = filters.map((name) => CONDITIONS[name](p))
  return sql`
    from events ev join users u on u.id = ev.author_id ${placeOfEvent}
   where ev.activity is not null and ${PARENTS[of](p)} and ${seesEvent(p, everything)}
     and ${sql.join([sql`true`, ...conditions], sql` and `)}`
}

const titleOf = sql`coalesce(
  (select i.title from issues i where i.id = ev.noteable_id), (select m.title from merge_requests m where m.id = ev.noteable_id),
  (select s.title from snippets s where s.id = ev.noteable_id), (select k.title from epics k where k.id = ev.noteable_id),
  case when ev.target_type = 'milestone' then (select t.title from milestones t where t.id = ev.target_id) end)`
const iidOf = sql`coalesce((select i.iid from issues i where i.id = ev.noteable_id),
  (select m.iid from merge_requests m where m.id = ev.noteable_id))`

const list = pageStatements<Shape, Values, EventRow>((p, shape) => {
  const way = sql.raw(shape.sort)
  const matches = matching(p, shape)
  const page = sql`
    select ev.* ${matches} order by ev.created_at ${way}, ev.id ${way} limit ${p.limit} offset ${p.offset}`
  return paged(
    sql<EventRow>`
      select ev.*, ${titleOf} as target_title, ${iidOf} as noteable_iid, ${authorJson(sql`ev.author_id`)} as author
        from (${page}) ev order by ev.created_at ${way}, ev.id ${way}`,
    sql`select ${matches}`,
    mine(p),
  )
})

type Filters = Partial<Pick<Values, FilterName>>

export interface Of {
  readonly kind: Shape['of']
  /** The project or author. */
  readonly id: number
}

/** A page of events that the viewer sees at this moment. */
export function listEvents(
  db: Db,
  viewer: Viewer | null,
  { of, ...filters }: Filters & { readonly of: Of; readonly sort: 'asc' | 'desc' },
  page: Pick<Values, 'limit' | 'offset'>,
): Promise<Listed<EventRow>> {
  const given = FILTERS.filter((name) => filters[name] !== undefined)
  const shape = { of: of.kind, everything: viewer?.admin === true, sort: filters.sort, filters: given }
  const none = { action: '', target_type: '', before: '', after: '' }
  const caller = { user_id: viewer?.id ?? null, open_to: openTo(viewer) }
  const { action, target_type, before, after } = { ...none, ...filters }
  return db.page(list(shape), { ...caller, of: of.id, action, target_type, before, after, ...page })
}

const notes = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<NoteWithPeople>`
    select ${noteColumns} from notes n where n.id = any(${p.ids}::bigint[])`,
)
/** The notes that events are about, by their ids. */
export async function notesOf(db: Db, rows: readonly EventRow[]): Promise<Map<number, NoteWithPeople>> {
  const ids = rows.flatMap((row) =>
    row.target_type === 'note' && row.target_id !== null ? [row.target_id] : [],
  )
  const found = ids.length === 0 ? [] : await db.rows(notes, { ids })
  return new Map(found.map((note) => [note.id, note]))
}
