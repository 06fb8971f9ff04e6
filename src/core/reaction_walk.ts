import { sql } from 'kysely'
import { looked, there, type Kind, type Walk } from './label_walk.ts'
import { type Sql } from '../db/statement.ts'

// Lists of issues and of merge requests by what somebody reacted to: a reaction knows of its record what lists ask most.

/** Reactions of somebody that `which` chooses, as what they know of their records. */
const reactionsBy =
  (kind: Kind, user: Sql, which: Sql) =>
  (project?: Sql): Sql => sql`
    select e.noteable_id as id, e.noteable_project_id as project_id, e.noteable_created_at as created_at,
           e.noteable_state as state, e.noteable_confidential as confidential
      from award_emoji e
     where e.user_id = ${user} and ${which} and e.noteable_kind = ${sql.lit(kind)}
       and ${project ? sql`e.noteable_project_id = ${project}` : sql`true`}`

/** What somebody reacted to with the emoji, in the order of time. */
export const reactionsOf = (kind: Kind, user: Sql, emoji: Sql): ((project?: Sql) => Sql) =>
  reactionsBy(kind, user, sql`e.name = ${emoji}`)

/** What somebody reacted to with any, once each, in no order. */
export const anyReactionOf = (kind: Kind, user: Sql): ((project?: Sql) => Sql) =>
  reactionsBy(
    kind,
    user,
    sql`not ${looked(sql`from award_emoji o
         where o.noteable_id = e.noteable_id and o.user_id = e.user_id and o.name < e.name`)}`,
  )

/** Whether somebody reacted to the record `i`, in the way that `which` says of the reaction `e`. */
export const reacted = (kind: Kind, user: Sql, walk: Walk, which = sql`true`): Sql =>
  there(
    walk,
    sql`from award_emoji e where e.noteable_id = i.id and e.user_id = ${user} and ${which}
         and ${walk === 'each' ? sql`true` : sql`e.noteable_kind = ${sql.lit(kind)} and e.noteable_project_id = i.project_id`}`,
  )
