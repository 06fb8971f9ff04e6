import { issueBotToken } from '../../access/bot_tokens.ts'
import { manages } from '../../access/gates/member_gates.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import * as users from '../../core/people/users.ts'
import type { Actor, Has } from '../../http/gate.ts'

const DAY_MS = 86_400_000

/**
 * A token of the project that lasts a day, with which the engine reads here and writes nothing. Undefined, as published,
 * for a caller who may make no tokens of the project: the engine is asked without one then.
 */
export async function makeEngineToken(
  ctx: Has<{ actor: Actor; project: Project }>,
): Promise<string | undefined> {
  const { actor, db, now, project } = ctx
  const source = {
    kind: 'project',
    id: project.id,
    role: project.role,
    above: project.traversal_ids,
  } as const
  if (!manages(actor, source) || (await users.find(db, actor.id))?.user_type !== 'human') return undefined
  const made = await db.transaction((tx) =>
    issueBotToken({ ...ctx, db: tx }, source, {
      name: 'Product analytics',
      scopes: ['read_api'],
      access_level: ROLES.reporter,
      expires_at: new Date(now.getTime() + DAY_MS).toISOString().slice(0, 10),
    }),
  )
  return made.token
}
