import { Type as t, type Static } from 'typebox'
import type { Context } from '../../http/gate.ts'
import { date, nullable, moment } from '../../http/params/schema.ts'
import { UserBasic, presentUser } from '../../records/people/user.ts'
import type { Member as Row } from './store.ts'

const fields = {
  ...UserBasic.properties,
  access_level: t.Integer(),
  created_at: moment(),
  created_by: t.Optional(UserBasic),
  expires_at: nullable(date()),
  membership_state: t.String(),
}
export const Member = t.Object(fields)

const texts = t.Record(t.String(), t.String())
/** A member; or what became of several who were to be members; or what became of one who has to wait. */
export const Added = t.Partial(
  t.Object({
    ...fields,
    status: t.String(),
    message: t.Unsafe<string | Record<string, string>>({ anyOf: [t.String(), texts] }),
    queued_users: texts,
  }),
)

export const present = (row: Row, { config }: Pick<Context, 'config'>): Static<typeof Member> => ({
  ...presentUser(row, { config }),
  access_level: row.access_level,
  created_at: row.member_since,
  ...(row.created_by && { created_by: presentUser(row.created_by, { config }) }),
  expires_at: row.expires_at,
  membership_state: 'active',
})
