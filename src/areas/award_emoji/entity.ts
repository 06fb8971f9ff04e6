import { Type as t, type Static } from 'typebox'
import type { Here } from '../../access/conversation_records.ts'
import type { AwardEmoji } from '../../db/schema/conversation.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { noteableType } from '../../records/conversation/note.ts'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'

export const Reaction = t.Object({
  id: t.Integer(),
  name: t.String({ description: 'Without colons' }),
  user: nullable(UserBasic),
  created_at: moment(),
  updated_at: moment(),
  awardable_id: t.Integer(),
  awardable_type: t.String(),
})

export type ReactionWithUser = AwardEmoji & { readonly user: Author | null }

export const present = (
  row: ReactionWithUser,
  { noteable, note }: Here,
  site: Pick<Instance, 'config'>,
): Static<typeof Reaction> => ({
  id: row.id,
  name: row.name,
  user: row.user && presentUser(row.user, site),
  created_at: row.created_at,
  updated_at: row.updated_at,
  awardable_id: note?.id ?? noteable.id,
  awardable_type: note === undefined ? noteableType(noteable) : 'Note',
})
