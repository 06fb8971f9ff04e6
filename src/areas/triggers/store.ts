import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, type Listed } from '../../db/pages.ts'
import type { TriggerToken } from '../../db/schema/ci.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { authorJson, type Author } from '../../records/people/user.ts'
import type { TriggerTokenWithOwner } from '../../records/pipelines/trigger_token.ts'

const owner = (column = 't.owner_id'): RawBuilder<Author | null> => authorJson(sql.ref(column))

const listStatement = pageStatement((p: Slots<{ project_id: number; limit: number; offset: number }>) =>
  paged(
    sql<TriggerTokenWithOwner>`
        select t.*, ${owner()} as owner
          from (select * from trigger_tokens where project_id = ${p.project_id}
                 order by id limit ${p.limit} offset ${p.offset}) t order by t.id`,
    sql`select from trigger_tokens where project_id = ${p.project_id}`,
  ),
)
export const list = (
  db: Db,
  projectId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<TriggerTokenWithOwner>> => db.page(listStatement, { project_id: projectId, ...page })

const findStatement = statement(
  (p: Slots<{ project_id: number; id: number }>) => sql<TriggerTokenWithOwner>`
    select t.*, ${owner()} as owner from trigger_tokens t where t.project_id = ${p.project_id} and t.id = ${p.id}`,
)
export const find = (db: Db, projectId: number, id: number): Promise<TriggerTokenWithOwner | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

type NewToken = Pick<TriggerToken, 'project_id' | 'description' | 'digest' | 'sealed'> & { owner_id: number }
const insertStatement = statement(
  (p: Slots<NewToken>) => sql<TriggerTokenWithOwner>`
    insert into trigger_tokens (project_id, owner_id, description, digest, sealed)
    values (${p.project_id}, ${p.owner_id}, ${p.description}, ${p.digest}, ${p.sealed})
    returning *, ${owner('owner_id')} as owner`,
)
export async function insert(db: Db, token: NewToken): Promise<TriggerTokenWithOwner> {
  return db.insert(insertStatement, token)
}

type Change = Pick<TriggerToken, 'project_id' | 'description'> & { readonly id: number }
const updateStatement = statement(
  (p: Slots<Change>) => sql<TriggerTokenWithOwner>`
    update trigger_tokens set description = ${p.description}, updated_at = now()
     where project_id = ${p.project_id} and id = ${p.id} returning *, ${owner('owner_id')} as owner`,
)
export const update = (db: Db, change: Change): Promise<TriggerTokenWithOwner> =>
  db.update(updateStatement, change)

const removeStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('trigger_tokens').where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const remove = (db: Db, projectId: number, id: number): Promise<void> =>
  db.remove(removeStatement, { project_id: projectId, id })

const touchStatement = statement(
  (p: Slots<{ project_id: number; id: number }>) => sql`
    update trigger_tokens set last_used_at = now() where project_id = ${p.project_id} and id = ${p.id}`,
)
/** Notes that a token started a pipeline. */
export const touch = (db: Db, projectId: number, id: number): Promise<number> =>
  db.run(touchStatement, { project_id: projectId, id })
