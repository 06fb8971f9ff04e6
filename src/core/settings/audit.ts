import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

export interface AuditEvent {
  readonly author: { readonly id: number; readonly name: string }
  /** The record in whose log the event appears. */
  readonly entity: { readonly type: 'User' | 'Group' | 'Project'; readonly id: number }
  /** A name of the act that programs can filter by. */
  readonly type: string
  /** A sentence for people. */
  readonly message: string
  readonly target: { readonly type: string; readonly id: number; readonly details: string }
}

interface Values {
  readonly author_id: number
  readonly entity_type: string
  readonly entity_id: number
  readonly event_type: string
  readonly details: string
}
const insert = statement(
  (p: Slots<Values>) => sql`
    insert into audit_events (author_id, entity_type, entity_id, event_type, details)
    values (${p.author_id}, ${p.entity_type}, ${p.entity_id}, ${p.event_type}, ${p.details}::jsonb)`,
)

/** Records an act. Inside a transaction the record lives or dies with what it is about. */
export async function audit(db: Db, { author, entity, type, message, target }: AuditEvent): Promise<void> {
  await db.run(insert, {
    author_id: author.id,
    entity_type: entity.type,
    entity_id: entity.id,
    event_type: type,
    details: JSON.stringify({
      custom_message: message,
      author_name: author.name,
      target_type: target.type,
      target_id: target.id,
      target_details: target.details,
    }),
  })
}
