import type { Visibility } from '../../db/schema/columns.ts'
import type { Meant } from '../../db/text.ts'

export interface NamespaceListShape {
  /** Groups alone, or the namespaces of people besides. */
  readonly people: boolean
  /** Where: everywhere, at the top, right below a group, anywhere below it; or what was shared with it, what it invited. */
  readonly of: 'all' | 'top' | 'children' | 'below' | 'sharing' | 'invited'
  /** Which: all there are, all the viewer may see, those the viewer belongs to, owns by a membership, or holds a level on. */
  readonly scope: 'all' | 'visible' | 'member' | 'owned' | 'role'
  readonly order: 'name' | 'path' | 'id' | 'similarity'
  readonly descending: boolean
  readonly visibility: Visibility | null
  /** Whether the word is to be the whole of a name or a part of it. */
  readonly search: Meant
  readonly skips: boolean
  readonly storage: boolean
  readonly markedForDeletion: boolean
  readonly attributes: boolean
  /** Only what stands behind a name and an id, without a total. */
  readonly after: boolean
}
export interface NamespaceListFilters {
  /** The group that `of` speaks of, its address, and the groups whose invitations count. */
  readonly of_id: number
  readonly of_path: string
  readonly line: readonly number[]
  readonly search: string
  /** The least level of the scope `role`. */
  readonly role: number
  readonly skips: readonly number[]
  readonly storage: string
  /** `YYYY-MM-DD`. */
  readonly marked_for_deletion_on: string
  /** Custom attributes, as JSON. */
  readonly attributes: string
  readonly after_name: string
  readonly after_id: number
  readonly limit: number
  readonly offset: number
}
export interface NamespaceListValues extends NamespaceListFilters {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly pattern: string
}

export const NAMESPACE_LIST_SHAPE: NamespaceListShape = {
  people: false,
  of: 'all',
  scope: 'all',
  order: 'id',
  descending: false,
  visibility: null,
  search: null,
  skips: false,
  storage: false,
  markedForDeletion: false,
  attributes: false,
  after: false,
}
export const ANY_NAMESPACE: Omit<NamespaceListFilters, 'limit' | 'offset'> = {
  of_id: 0,
  of_path: '',
  line: [],
  search: '',
  role: 0,
  skips: [],
  storage: '',
  marked_for_deletion_on: 'infinity',
  attributes: '{}',
  after_name: '',
  after_id: 0,
}
