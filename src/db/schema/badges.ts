import type { Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

export interface BadgeTable extends Times {
  id: Id
  group_id: number | null
  project_id: number | null
  name: string | null
  link_url: string
  image_url: string
}

export type Badge = Selectable<BadgeTable>
