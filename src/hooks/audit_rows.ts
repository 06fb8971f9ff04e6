import { sql } from 'kysely'
import { ROLE_NAMES } from '../core/sight/roles.ts'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'

// Audit rows of what administrators ask for later: made of the outbox by the relay, in the transaction that numbers events.

const names = JSON.stringify(Object.fromEntries(ROLE_NAMES))
const word = sql`case substring(e.action from '(create|destroy|add|update|remove)')
  when 'create' then 'created' when 'add' then 'created' when 'update' then 'updated' else 'destroyed' end`
const isAdded = sql`e.action ~ '(create|add)'`

const insert = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql`
    insert into audit_events (author_id, entity_type, entity_id, event_type, details, created_at)
    select (select u.id from users u where u.id = by.id), entity.type, entity.id, e.kind || '_' || ${word},
           jsonb_strip_nulls(jsonb_build_object(
             'add', case when ${isAdded} then what.name end,
             'remove', case when e.action ~ '(destroy|remove)' then what.name end,
             'change', case when e.action ~ 'update' then 'access_level' end,
             'as', case when e.kind = 'member' and ${isAdded} then role.name end,
             'to', case when e.kind = 'member' and e.action ~ 'update' then role.name end,
             'author_name', (select u.name from users u where u.id = by.id),
             'author_class', case when by.id is not null then 'User' end,
             'target_id', coalesce((e.data->>'user_id')::bigint, e.target_id),
             'target_type', case e.kind when 'member' then 'User' else initcap(e.kind) end,
             'target_details', coalesce((select u.name from users u where u.id = (e.data->>'user_id')::bigint),
                                        e.data->>'full_path', e.data->>'name'),
             'entity_path', coalesce(e.data->>'full_path', p.full_path, n.full_path, e.data->>'username'))),
           e.created_at
      from events e left join projects p on p.id = e.project_id
      left join namespaces n on n.id = e.group_id,
           lateral (select case when e.kind = 'member' then (e.data->>'by')::bigint else e.author_id end as id) by,
           lateral (select ${names}::jsonb->>(e.data->>'access_level') as name) role,
           lateral (select case when e.kind = 'member' then 'user_access' else e.kind end as name) what,
           lateral (select case when e.kind = 'user' then 'User' when e.project_id is not null then 'Project' else 'Group' end
                             as type,
                           case when e.kind = 'user' then e.target_id else coalesce(e.project_id, e.group_id) end as id) entity
     where e.id = any(${p.ids}::bigint[]) and e.kind in ('project', 'group', 'user', 'member')
     order by e.seq`,
)

/** Writes the audit rows of events. */
export const auditEvents = (db: Db, ids: readonly number[]): Promise<number> => db.run(insert, { ids })
