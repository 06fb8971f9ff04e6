import { Type as t, type Static } from 'typebox'
import type { Namespace } from '../../db/schema/tables.ts'
import { nullable } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

/** Where a group stands, and no more. */
export const GroupPlace = t.Object({
  id: t.Integer(),
  web_url: t.String(),
  name: t.String(),
  avatar_url: nullable(t.String()),
  full_name: t.String(),
  full_path: t.String(),
})

type Row = Pick<Namespace, 'id' | 'name' | 'avatar_url' | 'full_name' | 'full_path'>
export const presentPlace = (
  { id, name, avatar_url, full_name, full_path }: Row,
  { config }: Pick<Instance, 'config'>,
): Static<typeof GroupPlace> => ({
  id,
  web_url: `${config.url}/groups/${full_path}`,
  name,
  avatar_url,
  full_name,
  full_path,
})
