import { Type as t, type TObject } from 'typebox'
import { COUNTED, type Listed } from '../../db/pages.ts'
import type { Keyset, NamedOperation, PageOptions, PageRequest } from '../operation.ts'
import { noKeyset } from '../problems.ts'
import { oneOf } from '../params/schema.ts'

const DEFAULT_PER_PAGE = 20
const MAX_PER_PAGE = 100
/** Words for pages by number. */
const OFFSET = ['legacy', 'offset', 'none'] as const

/** The parameters every list takes. Pages and sizes out of range are brought into it, unless `strict`. */
export const pageParams = (strict: boolean): TObject => {
  const positive = strict ? { minimum: 1 } : {}
  return t.Object({
    page: t.Integer({ default: 1, ...positive }),
    per_page: t.Integer({ default: DEFAULT_PER_PAGE, ...(strict ? positive : { not: { const: 0 } }) }),
    pagination: t.Optional(oneOf([...OFFSET, 'keyset'])),
    cursor: t.Optional(t.String({ maxLength: 2_000 })),
  })
}

/** The page parameters of the document: `keyset` and its cursor on lists that have it; all others answer it with 405. */
export const publishedPageParams = ({ strict, keyset }: PageOptions): TObject => {
  const { properties } = pageParams(strict)
  if (keyset) return t.Object(properties)
  const { cursor: _cursor, ...others } = properties
  return t.Object({ ...others, pagination: t.Optional(oneOf(OFFSET)) })
}

/** Throws a Problem when the list has no keyset form and is asked for one. */
export function readPage(
  params: Record<string, unknown>,
  { keyset, most = MAX_PER_PAGE }: Pick<PageOptions, 'keyset' | 'most'>,
): PageRequest {
  const {
    page,
    per_page: perPage,
    pagination,
    cursor,
  } = params as {
    page: number
    per_page: number
    pagination?: string
    cursor?: string
  }
  if (pagination === 'keyset' && !keyset) throw noKeyset()
  const limit = perPage < 1 ? DEFAULT_PER_PAGE : Math.min(perPage, most)
  const number = Math.min(Math.max(page, 1), Math.floor(Number.MAX_SAFE_INTEGER / MAX_PER_PAGE))
  return {
    number,
    limit,
    offset: (number - 1) * limit,
    cursor: pagination === 'keyset' ? (cursor ?? '') : undefined,
  }
}

/** A page as the world sees it. */
export const presentPage = <Row, Item>(found: Listed<Row>, present: (row: Row) => Item): Listed<Item> => ({
  items: found.items.map((row) => present(row)),
  total: found.total,
})

/** Where a list stands: the configured external address with the request's path, and the query it came with. */
export interface Place {
  readonly address: string
  readonly query: string
  /** The parameters that links repeat. */
  readonly declared: ReadonlySet<string>
}

/** The published headers of one page; `x-total` and `x-total-pages` only up to 10,000 records. */
export function pageHeaders(
  place: Place,
  page: PageRequest,
  result: Listed<unknown> | Keyset<unknown>,
): Record<string, string> {
  const link = linksFrom(place)
  if ('next' in result) {
    const { next } = result
    const keep = { pagination: 'keyset', per_page: String(page.limit) }
    const then = typeof next === 'string' ? { cursor: next } : next
    return then === undefined ? {} : { link: fitting([link({ ...keep, ...then }, 'next')]) }
  }
  const { items } = result
  const total = result.total === undefined || result.total > COUNTED ? undefined : result.total
  const last = total === undefined ? undefined : Math.max(1, Math.ceil(total / page.limit))
  const prev = page.number > 1 ? page.number - 1 : undefined
  const more = last === undefined ? items.length === page.limit : page.number < last
  const next = more ? page.number + 1 : undefined
  const size = String(page.limit)
  const links: string[] = []
  const add = (number: number, rel: string): void =>
    void links.push(link({ page: String(number), per_page: size }, rel))
  if (prev !== undefined) add(prev, 'prev')
  if (next !== undefined) add(next, 'next')
  add(1, 'first')
  if (last !== undefined) add(last, 'last')
  const headers: Record<string, string> = {
    link: fitting(links),
    'x-page': String(page.number),
    'x-per-page': size,
    'x-next-page': next === undefined ? '' : String(next),
    'x-prev-page': prev === undefined ? '' : String(prev),
  }
  if (headers['link'] === '') delete headers['link']
  if (total !== undefined) {
    headers['x-total'] = String(total)
    headers['x-total-pages'] = String(last)
  }
  return headers
}

// Parameters that links leave out: a token stays with its sender, and each link has its own page.
const WHO_ASKS = ['private_token', 'access_token', 'job_token', 'sudo']
const DROPPED = new Set(['page', 'per_page', 'cursor', ...WHO_ASKS])

/** A query without what says who is asking. */
export function openQuery(text: string): string {
  const rest = new URLSearchParams(text)
  for (const name of WHO_ASKS) rest.delete(name)
  return rest.toString()
}

/** `labels` of `labels[]` and `not` of `not[labels]`. */
const plainName = (name: string): string => name.split('[', 1)[0] ?? name

/** The declared parameters of a list: links, which are headers, repeat no others. */
export const declaredNames = ({ params }: Pick<NamedOperation, 'params'>): ReadonlySet<string> =>
  new Set([...Object.keys(params?.properties ?? {}), 'pagination'])

/** Bytes of a `Link` header: all headers of an answer may have 16 KiB for some clients. */
const MAX_LINK_BYTES = 6 * 1024

/** The links that fit into a header: all, else that to the next page, else none. */
function fitting(links: readonly string[]): string {
  const whole = links.join(', ')
  if (whole.length <= MAX_LINK_BYTES) return whole
  const next = links.filter((link) => link.endsWith('rel="next"')).join(', ')
  return next.length <= MAX_LINK_BYTES ? next : ''
}

type Param = readonly [name: string, text: string]

const param = (name: string, value: string): Param => [
  name,
  `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
]

/** Writes links to the same list, each with changes of its own; their parameters stand in the order of their names. */
function linksFrom({
  address,
  query,
  declared,
}: Place): (changes: Record<string, string>, rel: string) => string {
  const rest: Param[] = []
  if (query !== '')
    for (const [name, value] of new URLSearchParams(query))
      if (!DROPPED.has(name) && declared.has(plainName(name))) rest.push(param(name, value))
  return (changes, rel) => {
    const others = rest.filter(([name]) => !Object.hasOwn(changes, name))
    for (const name in changes) others.push(param(name, changes[name] ?? ''))
    const text = others.sort(byName).map(([, each]) => each)
    return `<${address}?${text.join('&')}>; rel="${rel}"`
  }
}

const byName = ([a]: Param, [b]: Param): number => (a < b ? -1 : a > b ? 1 : 0)
