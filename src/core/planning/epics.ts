import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Epic } from '../../db/schema/planning.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { nextInGroup } from '../values/counters.ts'
import { EPIC_IN_THE_OPEN, EpicMismatch, holdsOpenIssues } from './epic_secrecy.ts'
import { retitled } from '../conversation/system_note_sentences.ts'
import { changeLabels } from './labelling.ts'
import { recordState } from '../conversation/resource_events.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'
import { finishTodos, isSeenTo } from '../conversation/todos.ts'

export interface NewEpic {
  readonly group_id: number
  readonly author_id: number | null
  readonly title: string
  readonly description: string | null
  readonly confidential: boolean
  readonly parent_id: number | null
  readonly start_date: string | null
  readonly due_date: string | null
  readonly color: string | null
  /** Null stands for now. */
  readonly created_at: string | null
}

const insert = statement(
  (p: Slots<NewEpic & { iid: number }>) => sql<Epic>`
    insert into epics (iid, group_id, author_id, title, description, confidential, parent_id, start_date, due_date,
                       color, created_at, updated_at)
    values (${p.iid}, ${p.group_id}, ${p.author_id}, ${p.title}, ${p.description}, ${p.confidential}, ${p.parent_id},
            ${p.start_date}, ${p.due_date}, coalesce(${p.color}, '#1068bf'),
            coalesce(${p.created_at}::timestamptz, now()), coalesce(${p.created_at}::timestamptz, now()))
    returning *`,
)

/** Makes an epic. Call inside a transaction. */
export async function createEpic(db: Db, epic: NewEpic): Promise<Epic> {
  const iid = await nextInGroup(db, epic.group_id, 'epics')
  return db.insert(insert, { ...epic, iid })
}

const hold = statement(
  (p: Slots<{ id: number }>) => sql<Epic>`select * from epics where id = ${p.id} for update`,
)
type Columns = Pick<
  Epic,
  'title' | 'description' | 'confidential' | 'state' | 'start_date' | 'due_date' | 'color'
>
const update = statement(
  (p: Slots<Columns & { id: number; closed_by: number }>) => sql`
    update epics
       set title = ${p.title}, description = ${p.description}, confidential = ${p.confidential},
           start_date = ${p.start_date}, due_date = ${p.due_date}, color = ${p.color}, updated_at = deed_time(),
           closed_at = case when ${p.state} = 'opened' then null when state = 'opened' then deed_time() else closed_at end,
           closed_by_id = case when ${p.state} = 'opened' then null
                               when state = 'opened' then ${p.closed_by}::bigint else closed_by_id end,
           state = ${p.state}
     where id = ${p.id}`,
)

/** New values of an epic; absent ones stay. */
export type EpicChange = { readonly [Name in keyof Columns]?: Columns[Name] | undefined } & {
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
}
/** The author of the change; `line` are the epic's groups, from the root down. */
export interface EpicDeed {
  readonly db: Db
  readonly actor: { readonly id: number }
  readonly line: readonly number[]
  /** Set while an epic is made: nothing has changed yet that people would want to be told. */
  readonly quiet?: boolean
}

/** The epic as it is, held until the transaction ends. */
export const lockEpic = (db: Db, id: number): Promise<Epic> => db.update(hold, { id })

/** Changes an epic, with the events and sentences that go with it. Call inside a transaction. Throws EpicMismatch. */
export async function changeEpic(deed: EpicDeed, id: number, to: EpicChange): Promise<void> {
  const { db, actor } = deed
  const now = await lockEpic(db, id)
  const after = {
    title: to.title ?? now.title,
    description: to.description === undefined ? now.description : to.description,
    confidential: to.confidential ?? now.confidential,
    state: to.state ?? now.state,
    start_date: to.start_date === undefined ? now.start_date : to.start_date,
    due_date: to.due_date === undefined ? now.due_date : to.due_date,
    color: to.color ?? now.color,
  }
  if (after.confidential && !now.confidential && (await holdsOpenIssues(db, id)))
    throw new EpicMismatch(EPIC_IN_THE_OPEN)
  await db.run(update, { ...after, id, closed_by: actor.id })
  const labelled = await labelEpic(deed, id, to)
  if (deed.quiet === true) return
  await tell(deed, now, after)
  if (labelled || isSeenTo(now, after)) await finishTodos(db, [id], actor.id)
}

/** Gives an epic its labels; titles that nothing bears yet become labels of its group. */
export const labelEpic = async (
  { db, actor, line }: EpicDeed,
  noteable_id: number,
  { labels, add_labels, remove_labels }: EpicChange,
): Promise<boolean> =>
  (
    await changeLabels(
      db,
      { noteable_id, user_id: actor.id, project_id: null, line, creates: true },
      { set: labels, add: add_labels, remove: remove_labels },
    )
  ).length > 0

async function tell({ db, actor }: EpicDeed, now: Epic, after: Columns): Promise<void> {
  const note = { noteable_id: now.id, author_id: actor.id }
  if (after.title !== now.title)
    await writeSystemNote(db, { ...note, action: 'title', body: retitled(now.title, after.title) })
  if (after.state === now.state) return
  const state = after.state === 'closed' ? 'closed' : 'reopened'
  await recordState(db, { noteable_id: now.id, user_id: actor.id, state })
  await writeSystemNote(db, { ...note, action: state, body: state })
}
