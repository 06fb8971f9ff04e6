import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import type { Label } from '../../db/schema.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

interface NewLabel {
  readonly group_id: number
  readonly title: string
  readonly color: string
  readonly description: string | null
}

const insertLabel = statement((p: Slots<NewLabel>) =>
  q
    .insertInto('labels')
    .values({ group_id: p.group_id, title: p.title, color: p.color, description: p.description })
    .returningAll(),
)
interface LabelChanges {
  readonly title: string | null
  readonly color: string | null
  /** Blank takes the description away. */
  readonly description: string | null
}

// What is not given is left to the row as it is then, so that of two who change different things neither loses.
const updateLabel = statement(
  (p: Slots<LabelChanges & { group_id: number; id: number }>) => sql<Label>`
    update labels
       set title = coalesce(${p.title}, title), color = coalesce(${p.color}, color),
           description = nullif(coalesce(${p.description}, description), ''), updated_at = now()
     where group_id = ${p.group_id} and id = ${p.id}
    returning *`,
)
const removeLabel = statement((p: Slots<{ group_id: number; id: number }>) =>
  q.deleteFrom('labels').where('group_id', '=', p.group_id).where('id', '=', p.id),
)

/** Violates `labels_group_title_once` when the group has a label of that title. */
export const insert = (db: Db, label: NewLabel): Promise<Label | undefined> => db.one(insertLabel, label)

/** Changes what is not null, and undefined when there is no such label. Violates as `insert` does. */
export const update = (
  db: Db,
  label: LabelChanges & { readonly group_id: number; readonly id: number },
): Promise<Label | undefined> => db.one(updateLabel, label)

export const remove = (db: Db, groupId: number, id: number): Promise<number> =>
  db.run(removeLabel, { group_id: groupId, id })
