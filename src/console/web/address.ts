import type { IncomingHttpHeaders } from 'node:http'

/** Where pages are routed: no group or project can have this path. */
export const PAGES = '/-/pages'

/** Addresses of files, which browsers ask for with any `Accept`. */
const FILE = /\/-\/(?:raw\/|jobs\/\d+\/raw$|snippets\/\d+\/raw)/
/** Addresses of pages that belong to no group or project. */
const OWN = /^\/-\/(?:profile|todos)(?:\/|$)/
const OTHERS = /^\/(?:api|-|uploads)(?:\/|$)/

interface Asked {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
}

const isForm = ({ headers }: Asked): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')
const wantsHtml = ({ headers }: Asked): boolean => /\btext\/html\b/i.test(headers.accept ?? '')

/** Brings the address of a page to where pages are routed, when a browser asks for it; all else stays as it is. */
export function pageAddress(url: string, asked: Asked): string {
  const [pathname = ''] = url.split('?', 1)
  if (OTHERS.test(pathname) && !OWN.test(pathname)) return url
  const reads = asked.method === 'GET' || asked.method === 'HEAD'
  const isPage = reads
    ? wantsHtml(asked) || FILE.test(pathname)
    : asked.method === 'POST' && isForm(asked) && wantsHtml(asked)
  return isPage ? PAGES + url : url
}
