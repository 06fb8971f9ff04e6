import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

/** A role that somebody is to have once an administrator says so. */
export interface Promotion {
  readonly id: number
  readonly username: string
  readonly place: string
  readonly access_level: number
  readonly requested_by: string | null
}

const all = statement(
  () => sql<Promotion>`
    select p.id, u.username, coalesce(n.full_path, r.full_path) as place, p.access_level, by.username as requested_by
      from member_promotions p join users u on u.id = p.user_id
      left join namespaces n on n.id = p.namespace_id left join projects r on r.id = p.project_id
      left join users by on by.id = p.requested_by_id
     order by p.id limit 10000`,
)
export const listPromotions = (db: Db): Promise<Promotion[]> => db.rows(all, {})

const apply = statement(
  (p: Slots<{ username: string }>) => sql`
    with waiting as (
      delete from member_promotions p using users u
       where u.id = p.user_id and lower(u.username) = lower(${p.username}) returning p.*
    ), in_groups as (
      insert into members as m (user_id, namespace_id, access_level, expires_at, created_by_id)
      select user_id, namespace_id, access_level, expires_at, requested_by_id from waiting where namespace_id is not null
      on conflict (user_id, namespace_id)
      do update set access_level = excluded.access_level, expires_at = excluded.expires_at, updated_at = now()
       where m.access_level < excluded.access_level or m.expires_at <= today()
    ), in_projects as (
      insert into members as m (user_id, project_id, access_level, expires_at, created_by_id)
      select user_id, project_id, access_level, expires_at, requested_by_id from waiting where project_id is not null
      on conflict (user_id, project_id) where project_id is not null
      do update set access_level = excluded.access_level, expires_at = excluded.expires_at, updated_at = now()
       where m.access_level < excluded.access_level or m.expires_at <= today()
    )
    select id from waiting`,
)
/** Gives a user all roles that wait; how many. */
export const approvePromotions = (db: Db, username: string): Promise<number> => db.run(apply, { username })

const drop = statement(
  (p: Slots<{ username: string }>) => sql`
    delete from member_promotions p using users u
     where u.id = p.user_id and lower(u.username) = lower(${p.username})`,
)
/** Gives a user none of the roles that wait; how many. */
export const denyPromotions = (db: Db, username: string): Promise<number> => db.run(drop, { username })
