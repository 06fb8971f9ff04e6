import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

// Registration tokens let runners add themselves to a place.

/** Prefixes of the tokens that let register, and of those that runners get by it. */
export const REGISTRATION_PREFIX = 'GR1348941'
export const REGISTERED_PREFIX = 'glrtr-'

/** Where a registered runner belongs: to the instance where both are null. */
export interface RunnerPlace {
  readonly group_id: number | null
  readonly project_id: number | null
}

const setStatement = statement(
  (p: Slots<RunnerPlace & { digest: Buffer }>) => sql`
    insert into ci_registration_tokens (group_id, project_id, digest)
    values (${p.group_id}, ${p.project_id}, ${p.digest})
    on conflict (coalesce(group_id, 0), coalesce(project_id, 0))
    do update set digest = excluded.digest, updated_at = now()`,
)
/** Sets the token of a place; the one before registers nothing any more. */
export const setRegistrationToken = (db: Db, place: RunnerPlace, digest: Buffer): Promise<number> =>
  db.run(setStatement, { ...place, digest })

const findStatement = statement(
  (p: Slots<{ digest: Buffer }>) => sql<RunnerPlace>`
    select group_id, project_id from ci_registration_tokens where digest = ${p.digest}`,
)
export const findRegistration = (db: Db, digest: Buffer): Promise<RunnerPlace | undefined> =>
  db.one(findStatement, { digest })

const showStatement = statement(
  (p: Slots<{ id: number; sealed: Buffer }>) => sql`
    update namespaces set runners_token = ${p.sealed} where id = ${p.id}`,
)
/** The same for a group, whose record shows its Owners the token. */
export async function setGroupToken(
  db: Db,
  id: number,
  { digest, sealed }: { readonly digest: Buffer; readonly sealed: Buffer },
): Promise<void> {
  await db.run(showStatement, { id, sealed })
  await setRegistrationToken(db, { group_id: id, project_id: null }, digest)
}
