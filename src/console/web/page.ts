import type { Actor } from '../../http/gate.ts'
import type { Instance } from '../../instance.ts'
import type { Calls } from './calls.ts'
import type { Html } from './html.ts'

/** The person who looks at a page. */
export interface Viewer {
  readonly actor: Actor
  readonly sessionId: number
  /** The token that opened the session, if one did. */
  readonly tokenId: number | null
}

/** A request for a page. */
export interface Ask {
  readonly instance: Instance
  readonly call: Calls
  readonly viewer: Viewer | null
  /** The parts of the address that the route names, decoded. */
  readonly at: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The fields of a form; empty for GET. */
  readonly form: URLSearchParams
  /** The address of the page, without its query. */
  readonly pathname: string
  /** The CSRF token of the forms of this viewer. */
  readonly csrf: string
  readonly ip: string
  readonly userAgent: string
  readonly now: Date
}

/** A part of the page's trail: where it belongs. */
export interface Crumb {
  readonly text: string
  readonly href: string
}

export interface Tab {
  readonly id: string
  readonly text: string
  readonly href: string
  readonly count?: number | undefined
}

/** A page as it is to be laid out. */
export interface View {
  readonly title: string
  readonly main: Html
  readonly crumbs?: readonly Crumb[]
  readonly tabs?: readonly Tab[]
  /** The id of the tab that is shown. */
  readonly tab?: string
  readonly status?: number
  /** Uses the whole width: code and diffs. */
  readonly wide?: boolean
}

/** An answer that is no page: where to go next, or bytes. */
export interface Redirect {
  readonly to: string
  readonly cookies?: readonly string[]
}
export interface Bytes {
  readonly type: string
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export type Reply = View | Redirect | Bytes
export type Page = (ask: Ask) => Promise<Reply>

/** A page and the addresses it stands at: `*` is any number of segments, `:name` is one. */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly page: Page
}
export const get = (path: string, page: Page): Route => ({ method: 'GET', path, page })
export const post = (path: string, page: Page): Route => ({ method: 'POST', path, page })

/** An address below the server's own, its parts encoded; slashes in parts stay. */
export const link = (...parts: readonly (string | number)[]): string =>
  `/${parts
    .flatMap((part) => String(part).split('/'))
    .map((part) => (part === '-' ? part : encodeURIComponent(part)))
    .join('/')}`

/** The same page with other parameters; null takes one away. */
export function withQuery(
  { pathname, query }: Pick<Ask, 'pathname' | 'query'>,
  changes: Readonly<Record<string, string | number | null>>,
): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes))
    if (value === null) next.delete(name)
    else next.set(name, String(value))
  const text = next.toString()
  return text === '' ? pathname : `${pathname}?${text}`
}
