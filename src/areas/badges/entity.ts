import { Type as t, type Static } from 'typebox'
import type { Badge as Row } from '../../db/schema/badges.ts'
import { nullable, oneOf } from '../../http/params/schema.ts'
import { render, type Values } from './rules.ts'

/** A badge that is looked at before it is kept. */
export const BadgePreview = t.Object({
  name: nullable(t.String()),
  link_url: t.String(),
  image_url: t.String(),
  rendered_link_url: t.String(),
  rendered_image_url: t.String(),
})
export const Badge = t.Object({
  ...BadgePreview.properties,
  id: t.Integer(),
  kind: oneOf(['project', 'group']),
})

type Shown = Pick<Row, 'name' | 'link_url' | 'image_url'>

/** A badge with both addresses as they are and as they come out; as they are where there is nothing to fill in. */
export const presentPreview = (
  { name, link_url, image_url }: Shown,
  values: Values | undefined,
): Static<typeof BadgePreview> => ({
  name,
  link_url,
  image_url,
  rendered_link_url: render(link_url, values),
  rendered_image_url: render(image_url, values),
})

export const present = (row: Row, values: Values | undefined): Static<typeof Badge> => ({
  ...presentPreview(row, values),
  id: row.id,
  kind: row.project_id === null ? 'group' : 'project',
})
