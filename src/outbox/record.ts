import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'

// The outbox: one insert in the transaction of each write. Everything that tells others of writes reads this table.

export type EventKind =
  | 'push'
  | 'tag_push'
  | 'repository_update'
  | 'issue'
  | 'note'
  | 'merge_request'
  | 'milestone'
  | 'emoji'
  | 'pipeline'
  | 'job'
  | 'deployment'
  | 'member'
  | 'project'
  | 'group'
  | 'user'
  | 'key'

/** Words of the published `action` filter. */
export const ACTIVITIES = [
  ...(['created', 'updated', 'closed', 'reopened', 'pushed', 'commented', 'merged'] as const),
  ...(['joined', 'left', 'destroyed', 'expired', 'approved'] as const),
] as const
export type Activity = (typeof ACTIVITIES)[number]

export interface OutboxEvent {
  readonly kind: EventKind
  /** `action` of the published payload, or its `event_name`. */
  readonly action: string
  /** Left out where lists of events do not show it. */
  readonly activity?: Activity | undefined
  readonly author_id: number | null
  readonly project_id?: number | null | undefined
  readonly group_id?: number | null | undefined
  readonly target_type?: string | undefined
  readonly target_id?: number | undefined
  readonly target_iid?: number | null | undefined
  /** The record that decides who may see the event, where the project alone does not. */
  readonly noteable_kind?: string | undefined
  readonly noteable_id?: number | undefined
  /** Whether only readers of internal notes see it. */
  readonly internal?: boolean | undefined
  /** The flag of webhooks that subscribes to it; left out where no project or group webhook does. */
  readonly trigger?: string | undefined
  /** Values that readers cannot find in the records later: changes, names of what is deleted. */
  readonly data?: object | undefined
}

/** As part of a statement: inserts events of a JSON array. `from` goes on with its sources. */
export const insertEvents = (
  events: RawBuilder<string>,
  from: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> => sql`
    insert into events (kind, action, activity, author_id, project_id, group_id, target_type, target_id, target_iid,
                        noteable_kind, noteable_id, internal, trigger, data)
    select kind, action, activity, author_id, project_id, group_id, target_type, target_id, target_iid,
           noteable_kind, noteable_id, coalesce(internal, false), trigger, coalesce(data, '{}')
      from jsonb_to_recordset(${events}::jsonb) as e (
        kind text, action text, activity text, author_id bigint, project_id bigint, group_id bigint, target_type text,
        target_id bigint, target_iid bigint, noteable_kind text, noteable_id bigint, internal boolean, trigger text,
        data jsonb) ${from}`
const insert = statement((p: Slots<{ events: string }>) => insertEvents(p.events))

/** Records what a write did, by one statement. Call inside its transaction, behind the lock of the record. */
export async function recordEvents(db: Db, events: readonly OutboxEvent[]): Promise<void> {
  if (events.length > 0) await db.run(insert, { events: JSON.stringify(events) })
}
