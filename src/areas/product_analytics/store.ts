import type { Db } from '../../db/db.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

const kindStatement = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('namespaces').select('kind').where('id', '=', p.id),
)
/** Whether a namespace is a group or a user's own. */
export const findNamespaceKind = async (db: Db, id: number): Promise<Namespace['kind'] | undefined> =>
  (await db.one(kindStatement, { id }))?.kind
