import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Milestone } from '../../db/schema/planning.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import { shownMilestones, type MilestoneShown } from '../../records/planning/milestone.ts'

/** Where milestones hang: a project or a group. */
export interface Home {
  readonly kind: 'project' | 'group'
  readonly id: number
  /** The ids of the groups from the root down; of a personal namespace too, which has no milestones. */
  readonly line: readonly number[]
}

export interface Page {
  readonly limit: number
  readonly offset: number
}

const parentIs = (kind: Home['kind'], id: RawBuilder<unknown>): RawBuilder<boolean> =>
  kind === 'project' ? sql`project_id = ${id}` : sql`group_id = ${id}`

type OfHome = Pick<Home, 'kind'>
const find = statements<OfHome, { home: number; id: number }, MilestoneShown>((p, { kind }) =>
  shownMilestones(sql`select * from milestones where id = ${p.id} and ${parentIs(kind, p.home)}`),
)

/** A milestone of the project or group itself. */
export const findMilestone = (db: Db, home: Home, id: number): Promise<MilestoneShown | undefined> =>
  db.one(find({ kind: home.kind }), { home: home.id, id })

const locked = statements<OfHome, { home: number; id: number }, Milestone>(
  (p, { kind }) => sql`
    select m.* from milestones m where m.id = ${p.id} and ${parentIs(kind, p.home)} for update`,
)
/** The same, locked until the transaction ends. */
export const lockMilestone = (db: Db, home: Home, id: number): Promise<Milestone> =>
  db.update(locked({ kind: home.kind }), { home: home.id, id })

const lock = statement(
  (p: Slots<{ key: string }>) => sql`select pg_advisory_xact_lock(hashtextextended(${p.key}, 0))`,
)
/**
 * Serialises changes of titles below the same root until the transaction ends: the rule spans parents, so no constraint
 * holds it.
 */
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
  const found = await db.one(taken({ kind }), { id, line, title, except })
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
export const insertMilestone = (db: Db, home: Home, iid: number, values: Values): Promise<MilestoneShown> => {
  const parent =
    home.kind === 'project'
      ? { project_id: home.id, group_id: null }
      : { project_id: null, group_id: home.id }
  return db.insert(insert, { ...parent, iid, ...values })
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
): Promise<MilestoneShown> => db.update(update, { id, ...values })

const remove = statements<OfHome, { home: number; id: number }, unknown>(
  (p, { kind }) => sql`delete from milestones where id = ${p.id} and ${parentIs(kind, p.home)}`,
)
/** Issues and merge requests go on without it. */
export const removeMilestone = (db: Db, home: Home, id: number): Promise<void> =>
  db.remove(remove({ kind: home.kind }), { home: home.id, id })
