import { existing } from '../../db/rows.ts'
import { Type as t } from 'typebox'
import { REACTION_BASES, noteable, onEach } from '../../access/noteable_routes.ts'
import type { Here } from '../../access/conversation_records.ts'
import { mayComment } from '../../access/note_permissions.ts'
import { emojiName } from '../../core/values/emoji.ts'
import { react, unreact } from '../../core/conversation/reactions.ts'
import { violates } from '../../db/errors.ts'
import { allows, loads, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { notFound, unauthorized, type Problem } from '../../http/problems.ts'
import { Reaction, present, type ReactionWithUser } from './entity.ts'
import * as reactions from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

const list = operation({
  method: 'GET',
  path: '/award_emoji',
  summary: 'List the reactions to #',
  gates: [noteable],
  handle: async (ctx) => {
    const { db, page } = ctx
    const at = { ...page }
    const found = await reactions.listReactions(db, ctx, at)
    return presentPage(found, (row) => present(row, ctx, ctx))
  },
  returns: pageOf(Reaction),
})

const missing = (): Problem => notFound('Award Emoji')

const reaction = loads({
  param: 'award_id',
  type: t.Integer(),
  as: 'reaction',
  says: 'a reaction to it',
  missing,
  find: (ctx: Has<Here>, id) => reactions.findReaction(ctx.db, ctx, id),
})

const get = operation({
  method: 'GET',
  path: '/award_emoji/:award_id',
  summary: 'Get a reaction to #',
  gates: [noteable, reaction],
  handle: async (ctx) => present(ctx.reaction, ctx, ctx),
  returns: Reaction,
})

/** The right to comment is the right to react. A refusal is a 404 here, as published. */
const reacts: Gate<'allows', never, Here, { readonly actor: Actor }> = {
  kind: 'allows',
  says: 'a signed-in user with the right to comment',
  refuses: missing,
  pass: (ctx) =>
    ctx.actor !== null && mayComment(ctx) && (ctx.note?.system_action ?? null) === null
      ? { actor: ctx.actor }
      : undefined,
}

const taken = (): Problem => notFound('Award Emoji Name has already been taken')
const unknown = (): Problem => notFound('Award Emoji Name is not a valid emoji name')

const create = operation({
  method: 'POST',
  path: '/award_emoji',
  summary: 'React to #',
  params: t.Object({ name: t.String({ description: 'Without colons' }) }),
  gates: [noteable, reacts],
  handle: async (ctx) => {
    const { db, actor, params } = ctx
    const name = emojiName(params.name)
    if (name === undefined) throw unknown()
    const { id } = await react(db, ctx, name, actor.id).catch((error: unknown) => {
      const twice = violates(error, 'award_emoji_noteable_key') || violates(error, 'award_emoji_note_key')
      throw twice ? taken() : error
    })
    return present(existing(await reactions.findReaction(db, ctx, id)), ctx, ctx)
  },
  returns: Reaction,
  refuses: [taken, unknown],
})

const remove = operation({
  method: 'DELETE',
  path: '/award_emoji/:award_id',
  summary: 'Delete a reaction to #',
  gates: [
    noteable,
    reaction,
    allows({
      says: 'the author of the reaction, or an administrator',
      refuses: unauthorized,
      holds: ({ actor, reaction }: Has<{ reaction: ReactionWithUser }>) =>
        actor !== null && (actor.admin || actor.id === reaction.user_id),
    }),
  ],
  handle: async (ctx) => {
    if (!(await unreact(ctx.db, ctx, ctx.reaction.id))) throw missing()
    return null
  },
  returns: nothing,
})

/** The operations of reactions, on each base and on the notes of each. */
export const reactionOperations = onEach(REACTION_BASES, {
  'list#AwardEmoji': list,
  'get#AwardEmoji': get,
  'create#AwardEmoji': create,
  'delete#AwardEmoji': remove,
})
