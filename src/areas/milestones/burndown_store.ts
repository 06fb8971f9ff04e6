import { sql, type RawBuilder } from 'kysely'
import { seesIssue } from '../../core/sight/noteables.ts'
import { openTo, type Viewer } from '../../core/sight/roles.ts'
import type { Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { statements } from '../../db/statement.ts'
import { places } from './contents_store.ts'

/** Something that became of an issue which is or was at the milestone, with what the issue is now. */
export interface HistoryRow {
  readonly issue_id: number
  readonly at: Date
  readonly kind: 'weight' | 'created' | 'milestone' | 'state'
  /** A weight; or 1 where it came to the milestone or was reopened, and 0 where it left or was closed. */
  readonly value: number | null
  readonly weight: number | null
  /** Whether its weight has a history. */
  readonly weighed: boolean
  readonly closed: boolean
  readonly closed_at: Date | null
  readonly updated_at: Date
  /** Whether it is at the milestone now, and whether no record says since when. */
  readonly within: boolean
  readonly always: boolean
}

type Values = Caller & { readonly milestone: number }

/** The rows of an issue, by the index of its table however the planner counts. */
const of = (columns: RawBuilder<unknown>, table: string, where: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`lateral (select ${columns} from ${sql.table(table)} e where ${where} offset 0) e`

const history = statements<{ everything: boolean }, Values, HistoryRow>((p, { everything }) => {
  const came = sql`select distinct e.noteable_id as id from resource_milestone_events e
                    where e.milestone_id = ${p.milestone}`
  const concerned = sql`
    select i.id, i.project_id from issues i where i.milestone_id = ${p.milestone}
     union
    select e.id, e.project_id from (${came}) c, ${of(sql`e.id, e.project_id`, 'issues', sql`e.id = c.id`)}`
  const ids = sql`select distinct project_id from concerned`
  const columns = sql`e.id, e.created_at`
  return sql<HistoryRow>`
    with concerned as materialized (${concerned}), ${places(p, 'issues', { ids, everything })},
    known as materialized (
      select i.id as issue_id, i.created_at, i.weight, i.state = 'closed' as closed, i.closed_at, i.updated_at,
             i.milestone_id is not distinct from ${p.milestone} as within,
             exists (select from resource_weight_events e where e.issue_id = i.id) as weighed,
             exists (select from resource_milestone_events e
                      where e.noteable_id = i.id and e.milestone_id = ${p.milestone}) as noted
        from concerned c join places v on v.id = c.project_id,
             lateral (select * from issues i where i.id = c.id offset 0) i
       where ${everything ? sql`true` : seesIssue(p.user_id, sql`v.role`)}),
    happened as (
      select k.issue_id, k.created_at as at, 'created' as kind, null::int as value, 1 as rank, 0::bigint as id from known k
      union all
      select k.issue_id, e.created_at, 'weight', e.weight, 0, e.id
        from known k, ${of(sql`${columns}, e.weight`, 'resource_weight_events', sql`e.issue_id = k.issue_id`)}
      union all
      select k.issue_id, e.created_at, 'milestone', (e.milestone_id = ${p.milestone} and e.action = 'add')::int, 2, e.id
        from known k, ${of(
          sql`${columns}, e.milestone_id, e.action`,
          'resource_milestone_events',
          sql`e.noteable_id = k.issue_id`,
        )}
      union all
      select k.issue_id, e.created_at, 'state', (e.state = 'reopened')::int, 3, e.id
        from known k, ${of(sql`${columns}, e.state`, 'resource_state_events', sql`e.noteable_id = k.issue_id`)}
       where e.state in ('closed', 'reopened'))
    select h.issue_id, h.at, h.kind, h.value, k.weight, k.closed, k.closed_at, k.updated_at, k.within, k.weighed,
           k.within and not k.noted as always
      from happened h join known k on k.issue_id = h.issue_id
     order by h.issue_id, h.at, h.rank, h.id`
})

/** Events of the milestone's issues, as far as the viewer sees them. */
export const readHistory = (db: Db, viewer: Viewer, milestone: number): Promise<HistoryRow[]> =>
  db.rows(history({ everything: viewer.admin }), { user_id: viewer.id, open_to: openTo(viewer), milestone })
