import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { personOf, type Person } from '../../records/people/person.ts'

const byId = statement((p: Slots<{ id: number }>) => personOf(sql`select * from users where id = ${p.id}`))

export const find = (db: Db, id: number): Promise<Person | undefined> => db.one(byId, { id })
