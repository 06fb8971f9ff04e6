import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { violates } from '../../db/errors.ts'
import type { Label } from '../../db/schema/tables.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

/** The owner of a label: a group or a project. */
export type LabelHome = Pick<Label, 'group_id' | 'project_id'>

type NewLabel = LabelHome & Pick<Label, 'title' | 'color' | 'description'>
const insert = statement((p: Slots<NewLabel>) =>
  q
    .insertInto('labels')
    .values({
      group_id: p.group_id,
      project_id: p.project_id,
      title: p.title,
      color: p.color,
      description: p.description,
    })
    .returningAll(),
)

interface LabelChanges {
  readonly title: string | null
  readonly color: string | null
  /** Blank takes the description away. */
  readonly description: string | null
}
const where = (p: Slots<LabelHome & { id: number }>): RawBuilder<unknown> => sql`
  id = ${p.id} and group_id is not distinct from ${p.group_id} and project_id is not distinct from ${p.project_id}`

// Absent fields keep the current value of the row, so that concurrent changes of different fields are both kept.
const update = statement(
  (p: Slots<LabelChanges & LabelHome & { id: number }>) => sql<Label>`
    update labels
       set title = coalesce(${p.title}, title), color = coalesce(${p.color}, color),
           description = nullif(coalesce(${p.description}, description), ''), updated_at = now()
     where ${where(p)}
    returning *`,
)
const remove = statement((p: Slots<LabelHome & { id: number }>) => sql`delete from labels where ${where(p)}`)

/** Whether a group or a project was to have two labels of one title. */
export const isTitleTwice = (error: unknown): boolean =>
  violates(error, 'labels_group_title_once') || violates(error, 'labels_project_title_once')

/** Throws what `isTitleTwice` tells when there is a label of that title. */
export async function insertLabel(db: Db, label: NewLabel): Promise<Label> {
  return db.insert(insert, label)
}

/** Changes what is not null. Throws as `insertLabel` does. */
export const updateLabel = (
  db: Db,
  { id, group_id, project_id }: Label,
  changes: LabelChanges,
): Promise<Label> => db.update(update, { id, group_id, project_id, ...changes })

export const removeLabel = (db: Db, { id, group_id, project_id }: Label): Promise<void> =>
  db.remove(remove, { id, group_id, project_id })
