import { sql, type RawBuilder } from 'kysely'
import type { Visibility } from '../db/schema.ts'
import { isBelow } from './areas.ts'
import { lasts } from './expiry.ts'
import type { NamespaceListShape, NamespaceListValues } from './namespace_list_shape.ts'
import { VISIBILITIES } from './visibilities.ts'
import { and } from './walks.ts'

// What can be asked of a namespace `n` in a list, as conditions.

type Raw = RawBuilder<unknown>
type Placed = { readonly [Name in 'of_id' | 'of_path' | 'line']: RawBuilder<NamespaceListValues[Name]> }
export type P = { readonly [Name in keyof NamespaceListValues]: RawBuilder<NamespaceListValues[Name]> }
export type Shape = NamespaceListShape & {
  /** What is seen whatever one belongs to: all of it, where the whole place is held. */
  readonly open: readonly Visibility[]
  /** How much the viewer belongs to, and whether anything is denied. */
  readonly belongs: 'nothing' | 'few' | 'many'
  readonly denies: boolean
  /** Whether the place holds so few that they are all fetched and sorted. */
  readonly small: boolean
  /** How many rows to take from each side. */
  readonly reach: number
}

const standing = lasts('l')
export const kindOf = ({ people }: Pick<Shape, 'people'>): Raw[] => (people ? [] : [sql`n.kind = 'group'`])

export function placeOf(p: Placed, shape: Pick<Shape, 'of' | 'people'>): Raw[] {
  switch (shape.of) {
    case 'all':
      return kindOf(shape)
    case 'top':
      return [...kindOf(shape), sql`n.parent_id is null`]
    case 'children':
      return [...kindOf(shape), sql`n.parent_id = ${p.of_id}`]
    case 'below':
      return [...kindOf(shape), isBelow('n', sql`${p.of_path}::text`)]
    case 'sharing':
      return [
        sql`n.id = any(array(select l.shared_group_id from group_group_links l
          where l.shared_with_group_id = ${p.of_id} and ${standing}))`,
      ]
    case 'invited':
      return [
        sql`n.id = any(array(select l.shared_with_group_id from group_group_links l
          where l.shared_group_id = any(${p.line}::bigint[]) and ${standing}))`,
      ]
  }
}

/** The same, where rows are met on the way: an address is dear to look at. */
export const isIn = (p: Placed, shape: Pick<Shape, 'of' | 'people'>): Raw[] =>
  shape.of === 'below'
    ? [...kindOf(shape), sql`n.traversal_ids @> array[${p.of_id}::bigint]`, sql`n.id <> ${p.of_id}`]
    : placeOf(p, shape)

export const shown = ({ visibility }: Shape): Visibility[] =>
  VISIBILITIES.filter((each) => visibility === null || each === visibility)
export const openOf = (shape: Shape): Visibility[] => shown(shape).filter((each) => shape.open.includes(each))
export const ownOf = (shape: Shape): Visibility[] =>
  shape.belongs === 'nothing' ? [] : shown(shape).filter((each) => !shape.open.includes(each))
export const among = (visibilities: readonly Visibility[]): Raw =>
  visibilities.length === VISIBILITIES.length
    ? sql`true`
    : sql`n.visibility = any(${sql.lit(`{${visibilities.join(',')}}`)}::text[])`

export const undenied = (p: P, { denies }: Shape): Raw[] =>
  denies ? [sql`not n.traversal_ids && ${p.denied}::bigint[]`] : []
/** Whether the viewer belongs to it. What is denied stays denied, whatever gave it. */
export const holds = (p: P, shape: Shape): Raw => {
  const below = sql`n.traversal_ids && ${p.roots}::bigint[]`
  return and([sql`(${below} or n.id = any(${p.besides}::bigint[]))`, ...undenied(p, shape)])
}
export const sees = (p: P, shape: Shape): Raw => {
  const [open, own] = [openOf(shape), ownOf(shape)]
  const openly = open.length === 0 ? sql`false` : among(open)
  return own.length === 0 ? openly : sql`(${openly} or ${among(own)} and ${holds(p, shape)})`
}

export const filters = (p: P, shape: Shape): Raw[] => [
  ...(shape.skips ? [sql`n.id <> all(${p.skips}::bigint[])`] : []),
  ...(shape.storage ? [sql`n.repository_storage = ${p.storage}`] : []),
  ...(shape.attributes ? [sql`n.custom_attributes @> ${p.attributes}::jsonb`] : []),
  ...(shape.markedForDeletion ? [sql`n.marked_for_deletion_on = ${p.marked_for_deletion_on}::date`] : []),
]

/** A part of the name or the path; of groups anywhere, of the whole address. */
export const sought = (p: P, { search, of, people }: Pick<Shape, 'search' | 'of' | 'people'>): Raw[] => {
  const address = search === 'part' && !people && (of === 'all' || of === 'top')
  const path = address ? sql`n.full_path` : sql`n.path`
  return search === null ? [] : [sql`(n.name ilike ${p.pattern} or ${path} ilike ${p.pattern})`]
}
/** Whether the likest come first: each kind of likeness has an order of its own. */
export const isAlike = ({ order, search }: Pick<Shape, 'order' | 'search'>): boolean =>
  order === 'similarity' && search !== null
