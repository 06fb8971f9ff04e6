import { sql } from 'kysely'
import { mine, type Caller } from '../core/sight/callers.ts'
import { placeOfEvent, seesEvent } from '../core/sight/events.ts'
import { openTo, type Viewer } from '../core/sight/roles.ts'
import type { Db } from '../db/db.ts'
import { statement, statements } from '../db/statement.ts'

/** Events of one look. */
export const BATCH = 200

/** An event of the outbox as streams show it. */
export interface StreamedEvent {
  readonly seq: number
  readonly visible: boolean
  readonly id: number
  readonly kind: string
  readonly action: string
  readonly author_id: number | null
  readonly project_id: number | null
  readonly group_id: number | null
  readonly target_type: string | null
  readonly target_id: number | null
  readonly target_iid: number | null
  readonly created_at: Date
}

const last = statement(() => sql<{ seq: number }>`select coalesce(max(seq), 0) as seq from events`)
/** The number of the newest event that was relayed. */
export const lastSeq = async (db: Db): Promise<number> => (await db.one(last, {}))?.seq ?? 0

const after = statements<{ everything: boolean }, Caller & { seq: number }, StreamedEvent>(
  (p, { everything }) => sql`
    with ${mine(p)}
    select ev.seq, ev.id, ev.kind, ev.action, ev.author_id, ev.project_id, ev.group_id, ev.target_type, ev.target_id,
           ev.target_iid, ev.created_at, coalesce(${seesEvent(p, everything)}, false) as visible
      from (select * from events where seq > ${p.seq} order by seq limit ${sql.lit(BATCH)}) ev ${placeOfEvent}
     order by ev.seq`,
)
/** The next events behind a number, each with whether the viewer sees it at this moment. */
export const eventsAfter = (db: Db, viewer: Viewer, seq: number): Promise<StreamedEvent[]> =>
  db.rows(after({ everything: viewer.admin }), { user_id: viewer.id, open_to: openTo(viewer), seq })
