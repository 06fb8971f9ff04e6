import { sql, type RawBuilder } from 'kysely'
import type { Awardable } from '../../core/conversation/reactions.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statements, type Slots } from '../../db/statement.ts'
import { authorJson } from '../../records/people/user.ts'
import type { ReactionWithUser } from './entity.ts'

interface Shape {
  readonly on: 'noteable_id' | 'note_id'
}
interface Page {
  readonly limit: number
  readonly offset: number
}
const columns = sql`a.*, ${authorJson(sql`a.user_id`)} as user`
const of = (p: Slots<{ awardable_id: number }>, { on }: Shape): RawBuilder<unknown> =>
  sql`select a.* from award_emoji a where ${sql.ref(`a.${on}`)} = ${p.awardable_id}`

const list = pageStatements<Shape, Page & { awardable_id: number }, ReactionWithUser>((p, shape) =>
  paged(
    sql<ReactionWithUser>`
      select ${columns} from (${of(p, shape)} order by a.id limit ${p.limit} offset ${p.offset}) a order by a.id`,
    of(p, shape),
  ),
)
const one = statements<Shape, { awardable_id: number; id: number }, ReactionWithUser>(
  (p, shape) => sql`select ${columns} from (${of(p, shape)} and a.id = ${p.id}) a`,
)

const place = ({ noteable, note }: Awardable): [Shape, { awardable_id: number }] =>
  note === undefined
    ? [{ on: 'noteable_id' }, { awardable_id: noteable.id }]
    : [{ on: 'note_id' }, { awardable_id: note.id }]

/** A page of the reactions to it, oldest first. */
export async function listReactions(db: Db, on: Awardable, page: Page): Promise<Listed<ReactionWithUser>> {
  const [shape, values] = place(on)
  return db.page(list(shape), { ...values, ...page })
}

export function findReaction(db: Db, on: Awardable, id: number): Promise<ReactionWithUser | undefined> {
  const [shape, values] = place(on)
  return db.one(one(shape), { ...values, id })
}
