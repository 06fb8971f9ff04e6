import { sql } from 'kysely'
import { type Sql } from '../../db/statement.ts'

/**
 * Authors of notes on a record, as rows of `user_id`: all, or at least the first `most` by id and at most twice as
 * many. Each is found by the index past the previous one, who may have written thousands; `internal` says whether
 * internal notes count.
 */
export function noteAuthors(noteable: Sql, internal: Sql, most?: Sql): Sql {
  // The next index entry, if it is of the same record: a `min` would search all records.
  const next = (of: Sql, past: Sql): Sql => sql`(
    select case when n.noteable_id = ${noteable} and n.internal = ${of} then n.author_id end
      from notes n
     where n.system_action is null and n.author_id is not null
       and (n.noteable_id, n.internal, n.author_id) > (${noteable}, ${of}, ${past})
     order by n.noteable_id, n.internal, n.author_id limit 1)`
  return sql`(
    with recursive wrote (internal, user_id) as (
      select v.internal, ${next(sql`v.internal`, sql`0`)}
        from (values (false), (true)) v (internal) where not v.internal or ${internal}
      union all
      select w.internal, ${next(sql`w.internal`, sql`w.user_id`)} from wrote w where w.user_id is not null)
    select w.user_id from wrote w where w.user_id is not null ${most ? sql`limit 2 * ${most}` : sql``})`
}
