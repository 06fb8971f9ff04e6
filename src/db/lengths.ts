import { createHash } from 'node:crypto'
import { COUNTED, FAR, type Counting, type Listed, type PageStatement, type Paged } from './pages.ts'
import type { Statement } from './statement.ts'

// A list of more than 10,000 has no total, and only to learn so again, with each of its pages, takes longer than the page.
// Who asks for the same list a second time has it counted farther; if it is that long, its pages are not counted for a
// while: in less time than it takes 2,000 records to leave it, nobody can tell.

/** Milliseconds for which a length is taken for what it was. */
const TRUSTED = 5_000
/** So many lists are known. */
const KEPT = 1_000

interface Length {
  /** How far the list need be counted until then. */
  readonly counting: Counting
  readonly until: number
}

/** Sends a statement. */
export type Send = <Values extends object, Row>(
  statement: Statement<Values, Row>,
  values: Values,
) => Promise<readonly Row[]>

/** A page, and what its statement says besides. */
export interface Counted<Row> extends Listed<Row> {
  /** How many records there are; undefined where they were not counted, or not all of them. */
  readonly count: number | undefined
  /** Milliseconds that counting took. */
  readonly took: number
  /** What the statement saw. */
  readonly seen: string
}

export interface Lengths {
  page<Values extends { limit: number }, Row>(
    list: PageStatement<Values, Row>,
    values: Values,
    send: Send,
  ): Promise<Counted<Row>>
}

/** Which list it is, whatever page of it: nothing else is as long. */
export function keyOf<Values extends object>(
  { name, bind }: Statement<Values, unknown>,
  values: Values,
): string {
  const bound = bind({ ...values, limit: 0, offset: 0 })
  return `${name} ${createHash('sha1').update(JSON.stringify(bound)).digest('base64url')}`
}

/** `now` is in milliseconds. */
export function createLengths(now: () => number = () => performance.now()): Lengths {
  /** Lists of more than 10,000. What was learned first stands first. */
  const long = new Map<string, Length>()
  const learn = (key: string, length: Length): void => {
    long.delete(key)
    long.set(key, length)
    const [first] = long.keys()
    if (long.size > KEPT && first !== undefined) long.delete(first)
  }

  return {
    page: async (list, values, send) => {
      const key = (): string => keyOf(list('as published'), values)
      const known = long.size === 0 ? undefined : long.get(key())
      const asked = now()
      let counting: Counting =
        known === undefined ? 'as published' : asked < known.until ? known.counting : 'farther'
      if (counting === 'not') {
        const found = listed(await send(list('not'), values), counting)
        // What is not full may be the end of a list that is no longer that long.
        if (found.items.length === values.limit) return found
        counting = 'as published'
      }
      const rows = await send(list(counting), values)
      const count = rows[0]?.total_count ?? 0
      if (count <= COUNTED) {
        if (known !== undefined) long.delete(key())
      } else if (counting === 'farther')
        learn(key(), { counting: count > FAR ? 'not' : 'as published', until: asked + TRUSTED })
      else if (known?.counting !== 'as published') learn(key(), { counting, until: asked })
      return listed(rows, counting)
    },
  }
}

/** A page that is counted as published, of nothing that is known. */
export const countedPage = async <Values extends object, Row>(
  list: PageStatement<Values, Row>,
  values: Values,
  send: Send,
): Promise<Counted<Row>> => listed(await send(list('as published'), values), 'as published')

/** Takes a page statement's rows apart. */
export function listed<Row>(rows: readonly Paged<Row>[], counting: Counting): Counted<Row> {
  const count = rows[0]?.total_count ?? undefined
  const isWhole = count !== undefined && count <= (counting === 'farther' ? FAR : COUNTED)
  return {
    items: rows.filter((row) => row.position !== null),
    total: count === undefined || count > COUNTED ? undefined : count,
    count: isWhole ? count : undefined,
    took: rows[0]?.took ?? 0,
    seen: rows[0]?.seen ?? '',
  }
}
