import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { movesOf, type Moves } from '../../outbox/changes.ts'
import { cleanTitle, lastOfScopes, scopeOf, titleFaults } from './label_rules.ts'

/** The record that is labelled, the actor, and the source of its labels. */
export interface Labelled {
  readonly noteable_id: number
  readonly user_id: number | null
  /** The project whose own labels count too; null for an epic. */
  readonly project_id: number | null
  /** The groups whose labels count, from the root down; of a personal namespace too, which has none. */
  readonly line: readonly number[]
  /** Whether titles that nothing bears yet become labels of the project, or of the last group of the line. */
  readonly creates: boolean
}

/** Titles. `set` stands for all that there shall be; the other two change what is there. */
export interface LabelChange {
  readonly set?: readonly string[] | undefined
  readonly add?: readonly string[] | undefined
  readonly remove?: readonly string[] | undefined
}

/** A label that a record got or lost. */
export interface LabelMove {
  readonly label_id: number
  readonly action: 'add' | 'remove'
}

export const labelMoves = (moves: readonly LabelMove[]): Moves =>
  movesOf(moves.map(({ label_id, action }) => ({ id: label_id, added: action === 'add' })))

const COLOR = '#6699cc'

type Home = Pick<Labelled, 'project_id' | 'line'>
const create = statement(
  (p: Slots<Home & { titles: readonly string[]; color: string }>) => sql`
    insert into labels (project_id, group_id, title, color)
    select ${p.project_id}::bigint,
           case when ${p.project_id}::bigint is null then (${p.line}::bigint[])[cardinality(${p.line}::bigint[])] end,
           wanted.title, ${p.color}
      from unnest(${p.titles}::text[]) as wanted (title)
     where not exists (select from labels l where l.title = wanted.title and l.project_id = ${p.project_id})
       and not exists (select from labels l where l.title = wanted.title and l.group_id = any(${p.line}::bigint[]))
        on conflict do nothing`,
)
const find = statement(
  (p: Slots<Home & { titles: readonly string[] }>) => sql<{ id: number; title: string }>`
    select distinct on (l.title) l.id, l.title from labels l
     where l.title = any(${p.titles}::text[])
       and (l.project_id = ${p.project_id} or l.group_id = any(${p.line}::bigint[]))
     order by l.title, l.project_id is null, array_position(${p.line}::bigint[], l.group_id) desc`,
)
const link = statement(
  (
    p: Slots<{
      noteable_id: number
      user_id: number | null
      add: readonly number[]
      remove: readonly number[]
      scopes: readonly string[]
      exactly: boolean
    }>,
  ) => sql<LabelMove>`
    with gone as (
      delete from label_links k
       where k.noteable_id = ${p.noteable_id}
         and case when ${p.exactly}::boolean then k.label_id <> all(${p.add}::bigint[])
                  else k.label_id = any(${p.remove}::bigint[]) or (
                    cardinality(${p.scopes}::text[]) > 0 and k.label_id <> all(${p.add}::bigint[])
                    and exists (select from labels l
                                 where l.id = k.label_id and substring(l.title from '^.*::') = any(${p.scopes}::text[])))
                  end
      returning k.label_id
    ), fresh as (
      insert into label_links (label_id, noteable_id)
      select l.id, ${p.noteable_id}::bigint from labels l where l.id = any(${p.add}::bigint[]) order by l.id
          on conflict do nothing
      returning label_id
    )
    insert into resource_label_events (noteable_id, user_id, label_id, action)
    select ${p.noteable_id}::bigint, ${p.user_id}::bigint, label_id, 'add' from fresh
    union all
    select ${p.noteable_id}::bigint, ${p.user_id}::bigint, label_id, 'remove' from gone
    returning label_id, action`,
)

const clean = (given: readonly string[]): string[] => given.flatMap((text) => text.split(',')).map(cleanTitle)

/** As a label may be named: without blanks around, once, and nothing that no label can be called. */
export const titlesOf = (given: readonly string[] = []): string[] =>
  [...new Set(clean(given))].filter((title) => titleFaults(title).length === 0).sort()

const MAX_LABELS_PER_REQUEST = 100
/** So many signs no hundred titles have: what is longer is not taken apart. */
const MOST_SIGNS = 100_000
const isLong = (given: readonly string[] = []): boolean =>
  given.reduce((signs, { length }) => signs + length, 0) > MOST_SIGNS

interface Titles {
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
}
/** Which parameters name more labels than anybody gives or takes at once: each might have to be made. */
export const overlong = (given: Titles): string[] =>
  (['labels', 'add_labels', 'remove_labels'] as const).filter(
    (name) => isLong(given[name]) || titlesOf(given[name]).length > MAX_LABELS_PER_REQUEST,
  )

/** The ids of the labels with these titles, the nearest where several bear one title. */
export async function findLabels(
  db: Db,
  home: Home,
  titles: readonly string[],
): Promise<Map<string, number>> {
  if (titles.length === 0) return new Map()
  const rows = await db.rows(find, { project_id: home.project_id, line: home.line, titles })
  return new Map(rows.map(({ id, title }) => [title, id]))
}

/**
 * Changes the labels of a record and writes down what came and went. Call inside the transaction of the deed, which
 * holds the record's row. Returns what came and went. A scoped label takes the place of the one with the same scope
 * that was there, and of one that is named before it.
 */
export async function changeLabels(db: Db, labelled: Labelled, change: LabelChange): Promise<LabelMove[]> {
  if (change.set === undefined && change.add === undefined && change.remove === undefined) return []
  const { noteable_id, user_id, project_id, line, creates } = labelled
  const given = [...(change.set ?? []), ...(change.add ?? [])]
  const wanted = titlesOf(given)
  const unwanted = titlesOf(change.remove)
  const homeless = project_id === null && line.length === 0
  if (creates && wanted.length > 0 && !homeless)
    await db.run(create, { project_id, line, titles: wanted, color: COLOR })
  const ids = await findLabels(db, labelled, [...wanted, ...unwanted])
  const idsOf = (titles: readonly string[]): number[] => titles.flatMap((title) => ids.get(title) ?? [])
  // Absent and removed labels exclude nothing.
  const added = lastOfScopes(clean(given).filter((title) => ids.has(title) && !unwanted.includes(title)))
  return db.rows(link, {
    noteable_id,
    user_id,
    add: idsOf(added),
    remove: idsOf(unwanted),
    scopes: added.flatMap((title) => scopeOf(title) ?? []),
    exactly: change.set !== undefined,
  })
}
