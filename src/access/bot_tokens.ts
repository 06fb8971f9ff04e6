import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Token } from '../core/people/access_tokens.ts'
import type { Source } from '../core/people/membership.ts'
import * as users from '../core/people/users.ts'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Actor, Context } from '../http/gate.ts'
import { issueToken } from './token_making.ts'
import type { NewToken } from './tokens.ts'

interface NewBotToken extends Pick<NewToken, 'name' | 'scopes'> {
  readonly access_level: number
  readonly description?: string
  readonly expires_at?: string | undefined
}

type Here = Pick<Context, 'db' | 'settings' | 'now'> & { readonly actor: Actor }

/** Makes a bot of a group or project, with a level on it, and a token of the bot, to be shown this once. */
export async function issueBotToken(
  here: Here,
  source: Source,
  { access_level, ...wanted }: NewBotToken,
): Promise<{ row: Token; token: string }> {
  const { db, actor } = here
  const username = `${source.kind}_${source.id}_bot_${randomBytes(16).toString('hex')}`
  const bot = await users.createBot(db, { username, name: wanted.name, created_by_id: actor.id })
  await insert(db, source, bot.id, access_level)
  return issueToken(here, { ...wanted, user_id: bot.id })
}

const insertStatement = statement(
  (p: Slots<{ user_id: number; group_id: number | null; project_id: number | null; level: number }>) => sql`
    with bot as (
      insert into resource_bots (user_id, namespace_id, project_id, access_level)
      values (${p.user_id}, ${p.group_id}, ${p.project_id}, ${p.level}))
    insert into members (user_id, namespace_id, project_id, access_level)
    values (${p.user_id}, ${p.group_id}, ${p.project_id}, ${p.level})`,
)
const insert = (db: Db, { kind, id }: Source, userId: number, level: number): Promise<number> =>
  db.run(insertStatement, {
    user_id: userId,
    group_id: kind === 'group' ? id : null,
    project_id: kind === 'project' ? id : null,
    level,
  })
