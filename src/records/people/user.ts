import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Instance } from '../../instance.ts'

/** A user, as briefly as other records tell of one. */
export const UserBasic = t.Object({
  id: t.Integer(),
  username: t.String(),
  name: t.String(),
  state: t.String(),
  locked: t.Boolean(),
  avatar_url: t.Unsafe<string | null>({ type: ['string', 'null'] }),
  web_url: t.String(),
})

/** The columns that `authorJson` selects. */
export interface Author {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly state: string
  readonly avatar_url: string | null
}

/** The user with this id as one JSON value; null when there is none any more. */
export const authorJson = (id: RawBuilder<unknown>): RawBuilder<Author | null> => sql`(
  select json_build_object('id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'avatar_url', u.avatar_url)
    from users u where u.id = ${id})`

export const presentUser = (
  user: Author,
  { config }: Pick<Instance, 'config'>,
): Static<typeof UserBasic> => ({
  id: user.id,
  username: user.username,
  name: user.name,
  state: user.state,
  locked: false,
  avatar_url: user.avatar_url,
  web_url: `${config.url}/${user.username}`,
})
