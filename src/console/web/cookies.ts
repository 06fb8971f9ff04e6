import type { IncomingHttpHeaders } from 'node:http'
import { createHash, timingSafeEqual } from 'node:crypto'

export const SESSION = 'session'
/** Held by browsers that are not signed in, while they look at the form of the sign-in. */
export const VISIT = 'visit'

/** The name of a cookie: `__Host-` binds it to this very host where the server is reached by https. */
const nameOf = (secure: boolean, name: string): string => `${secure ? '__Host-' : ''}guildhall_${name}`

/** Makes the functions that read and write cookies of a server reached at `url`. */
export function createCookies(url: string): {
  read: (headers: IncomingHttpHeaders, name: string) => string | undefined
  write: (name: string, value: string, seconds?: number) => string
  clear: (name: string) => string
} {
  const secure = url.startsWith('https:')
  const write = (name: string, value: string, seconds?: number): string =>
    `${nameOf(secure, name)}=${value}; Path=/; HttpOnly; SameSite=Lax` +
    (secure ? '; Secure' : '') +
    (seconds === undefined ? '' : `; Max-Age=${seconds}`)
  return {
    read: ({ cookie = '' }, name) => {
      const prefix = `${nameOf(secure, name)}=`
      const found = cookie.split(/;\s*/).find((pair) => pair.startsWith(prefix))
      return found?.slice(prefix.length)
    },
    write,
    clear: (name) => write(name, '', 0),
  }
}

/** The token of the forms of a session: made of the cookie's secret, which scripts and other sites cannot read. */
export const csrfOf = (secret: string): string =>
  createHash('sha256').update(`form ${secret}`).digest('base64url')

/** Whether a form came from a page of this very server, in this very session. */
export function isOwnForm(headers: IncomingHttpHeaders, sent: string, expected: string): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  if (origin !== undefined && hostOf(origin) !== host) return false
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host
  } catch {
    return undefined
  }
}

/** A path of this server to go on to: nothing that a browser reads as another host. */
export function safeReturn(path: string | null): string {
  if (path === null || !/^\/(?![/\\])/.test(path) || /[\\\p{Cc}]/u.test(path)) return '/'
  const base = 'http://own.invalid'
  try {
    const { origin, pathname, search, hash } = new URL(path, base)
    return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/'
  } catch {
    return '/'
  }
}
