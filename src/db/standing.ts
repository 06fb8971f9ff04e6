import { countedPage, createLengths, keyOf, listed, type Counted, type Send } from './lengths.ts'
import { COUNTED, type Listed, type PageStatement } from './pages.ts'

// Who reads a list of thousands reads page after page. To count it, and to put it in order, takes longer than the page; and
// neither changes as long as nothing is committed, by whomever. A page says itself what it sees of that, so nothing is
// ever taken for what it was: where something was committed meanwhile, the page is read again, and all is forgotten.

/** Fewer records are counted and sorted in less time than it takes to plan other statements, where they are easy to find. */
const MANY = 2_000
/** Milliseconds. What took as long twice did not take it for being new. */
const LONG = 3
/** So many lists are known. */
const KEPT = 50

interface Kept {
  readonly count: number
  /** How often it was counted, and nothing was committed between. */
  readonly times: number
  /** All of them in order, where that was asked for. */
  ids?: readonly number[]
}

interface Slice {
  readonly limit: number
  readonly offset?: number
}

/** The pages of lists, each by as little as it takes. */
export interface Pages {
  page<Values extends Slice, Row>(
    list: PageStatement<Values, Row>,
    values: Values,
    send: Send,
  ): Promise<Listed<Row>>
}

/** What is as it was `seen` last, of a list that is known; undefined where something was committed since. */
async function again<Values extends Slice, Row>(
  list: PageStatement<Values, Row>,
  values: Values,
  { kept, seen, send }: { readonly kept: Kept; readonly seen: string; readonly send: Send },
): Promise<Counted<Row> | undefined> {
  const { inOrder } = list
  const read = async (): Promise<Counted<Row> | undefined> => {
    if (kept.count > COUNTED) return listed(await send(list('not'), values), 'not')
    if (inOrder === undefined) return listed(await send(list('again'), values), 'again')
    if (kept.ids === undefined) {
      const [all] = await send(inOrder.all(), { ...values, limit: COUNTED, offset: 0 })
      if (all?.seen !== seen) return undefined
      kept.ids = all.ids
    }
    const offset = values.offset ?? 0
    const ids = kept.ids.slice(offset, offset + values.limit)
    return listed(await send(inOrder.some(), { ...values, ids }), 'again')
  }
  const page = await read()
  if (page?.seen !== seen) return undefined
  return { ...page, total: kept.count > COUNTED ? undefined : kept.count }
}

/** For a connection that writes: what it wrote itself it sees before it is committed. */
export const eachCounted: Pages = { page: countedPage }

const isWorthIt = ({ count, times }: Kept): boolean => count >= MANY || times > 1

export function createPages(): Pages {
  const lengths = createLengths()
  /** What the last page saw, and whether the one before saw the same: where much is written, nothing stands for long. */
  let seen = ''
  let isQuiet = false
  const known = new Map<string, Kept>()
  const look = (page: Counted<unknown>): void => {
    isQuiet = page.seen === seen
    seen = page.seen
    if (!isQuiet) known.clear()
  }

  return {
    page: async (list, values, send) => {
      const key = (): string => keyOf(list('as published'), values)
      const kept = isQuiet && known.size > 0 ? known.get(key()) : undefined
      const page = kept && isWorthIt(kept) && (await again(list, values, { kept, seen, send }))
      if (page) return page
      const counted = await lengths.page(list, values, send)
      look(counted)
      const { count, took } = counted
      if (count !== undefined && (count >= MANY || took >= LONG)) {
        known.set(key(), { count, times: 1 + (known.get(key())?.times ?? 0) })
        const [first] = known.keys()
        if (known.size > KEPT && first !== undefined) known.delete(first)
      }
      return counted
    },
  }
}
