import type { Visibility } from '../../db/schema/columns.ts'
import type { Meant } from '../../db/text.ts'

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

/** Sets of projects that are few: starred by somebody, forked from one, shared with a group, right in a group above it. */
export type ProjectSet = 'starred' | 'forks' | 'shared' | 'above'
export interface ProjectListShape {
  /** Where: everywhere, right in a namespace, anywhere below it; or a set. */
  readonly of: 'all' | 'namespace' | 'below' | ProjectSet
  /** Sets that are listed besides. */
  readonly also: readonly ProjectSet[]
  readonly order: (typeof PROJECT_ORDERS)[number]
  readonly descending: boolean
  readonly visibility: Visibility | null
  readonly archived: boolean | null
  /** Whether the word is to be the whole of a name or a part of it. */
  readonly search: Meant
  readonly topic: boolean
  readonly attributes: boolean
  readonly starred: boolean
  /** The viewer filled them from elsewhere. */
  readonly imported: boolean
  /** The viewer must hold a level, however visible the project is. */
  readonly role: boolean
  readonly ids: boolean
  /** Features that must be enabled. */
  readonly uses: readonly ('issues' | 'merge_requests')[]
  readonly active: boolean
  readonly updated: boolean
  /** Without a total. */
  readonly uncounted: boolean
}
export interface ProjectListFilters {
  /** The namespace and its address, the user who starred, or the project forked. */
  readonly of_id: number
  readonly of_path: string
  /** The groups above the namespace. */
  readonly line: readonly number[]
  readonly search: string
  /** Whether a match in the path of the namespace will do. */
  readonly namespaces: boolean
  readonly topics: readonly string[]
  /** Custom attributes, as JSON. */
  readonly attributes: string
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
export interface ProjectListValues extends ProjectListFilters {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly pattern: string
}

export const PROJECT_LIST_SHAPE: ProjectListShape = {
  of: 'all',
  also: [],
  order: 'created_at',
  descending: true,
  visibility: null,
  archived: null,
  search: null,
  topic: false,
  attributes: false,
  starred: false,
  imported: false,
  role: false,
  ids: false,
  uses: [],
  active: false,
  updated: false,
  uncounted: false,
}
export const ANY_PROJECT: Omit<ProjectListFilters, 'limit' | 'offset'> = {
  of_id: 0,
  of_path: '',
  line: [],
  search: '',
  namespaces: false,
  topics: [],
  attributes: '{}',
  role: 0,
  id_after: 0,
  id_before: Number.MAX_SAFE_INTEGER,
  active_after: '-infinity',
  active_before: 'infinity',
  updated_after: '-infinity',
  updated_before: 'infinity',
}
