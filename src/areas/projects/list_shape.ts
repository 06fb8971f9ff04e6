import type { Belonging } from '../../core/areas.ts'
import type { Visibility } from '../../db/schema.ts'

export const PROJECT_ORDERS = [
  'id',
  'name',
  'path',
  'created_at',
  'updated_at',
  'last_activity_at',
  'similarity',
  'star_count',
] as const

export interface ProjectListShape {
  /** Which projects: all that the viewer sees, the viewer's own, those of a namespace, starred by somebody, forked from one. */
  readonly of: 'all' | 'member' | 'namespace' | 'starred' | 'forks'
  readonly order: (typeof PROJECT_ORDERS)[number]
  readonly descending: boolean
  readonly visibility: Visibility | null
  readonly archived: boolean | null
  /** Whether there is a word to look for, and whether it has the three letters that the indexes of words need. */
  readonly search: 'short' | 'long' | null
  readonly topic: boolean
  readonly starred: boolean
  /** The viewer must hold a level, however visible the project is. */
  readonly role: boolean
  readonly ids: boolean
  /** What the project uses. */
  readonly features: boolean
  readonly active: boolean
  readonly updated: boolean
  /** Pages by id, without totals. */
  readonly keyset: boolean
}
export interface ProjectListFilters {
  /** Of the namespace, the user who starred, or the project forked. */
  readonly of_id: number
  readonly search: string
  /** Whether a match in the path of the namespace will do. */
  readonly namespaces: boolean
  readonly topics: readonly string[]
  readonly issues: boolean
  readonly merge_requests: boolean
  readonly role: number
  readonly id_after: number
  readonly id_before: number
  /** Moments, or infinities. */
  readonly active_after: string
  readonly active_before: string
  readonly updated_after: string
  readonly updated_before: string
  readonly limit: number
  readonly offset: number
}
export type ProjectListValues = ProjectListFilters &
  Omit<Belonging, 'many' | 'denies'> & {
    readonly user_id: number | null
    readonly open_to: readonly Visibility[]
    readonly pattern: string
  }

export const PROJECT_LIST_SHAPE: ProjectListShape = {
  of: 'all',
  order: 'created_at',
  descending: true,
  visibility: null,
  archived: null,
  search: null,
  topic: false,
  starred: false,
  role: false,
  ids: false,
  features: false,
  active: false,
  updated: false,
  keyset: false,
}
export const ANY_PROJECT: Omit<ProjectListFilters, 'limit' | 'offset'> = {
  of_id: 0,
  search: '',
  namespaces: false,
  topics: [],
  issues: false,
  merge_requests: false,
  role: 0,
  id_after: 0,
  id_before: Number.MAX_SAFE_INTEGER,
  active_after: '-infinity',
  active_before: 'infinity',
  updated_after: '-infinity',
  updated_before: 'infinity',
}
