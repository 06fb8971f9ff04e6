import { Type as t, type Static } from 'typebox'
import type { TriggerToken as Row } from '../../db/schema/ci.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { UserBasic, presentUser, type Author } from '../people/user.ts'

export const TriggerToken = t.Object({
  id: t.Integer(),
  description: t.String(),
  created_at: moment(),
  updated_at: moment(),
  last_used: nullable(moment()),
  token: t.String({ description: 'Whole for its owner, four characters for others' }),
  owner: nullable(UserBasic),
})

export type TriggerTokenWithOwner = Row & { readonly owner: Author | null }

/** Characters of a token that other maintainers see. */
const SHOWN_TO_OTHERS = 4

export function presentTriggerToken(
  row: TriggerTokenWithOwner,
  { actor, vault, ...site }: Pick<Instance, 'config' | 'vault'> & { readonly actor: { readonly id: number } },
): Static<typeof TriggerToken> {
  const token = vault.open(row.sealed)
  return {
    id: row.id,
    description: row.description,
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_used: row.last_used_at,
    token: row.owner_id === actor.id ? token : token.slice(0, SHOWN_TO_OTHERS),
    owner: row.owner && presentUser(row.owner, site),
  }
}
