import { isLonger, tooLong } from './lengths.ts'

/** Names that would shadow a route or a file of the server, and the administrator's, which the first start takes. */
const RESERVED = new Set([
  '-',
  'api',
  'admin',
  'assets',
  'explore',
  'groups',
  'help',
  'users',
  'projects',
  'search',
  'public',
  'root',
])

const LONGEST = 255

/**
 * Why `path` cannot be one segment of a group's or project's address, in the published words; undefined when it can.
 * Top-level names must not shadow a route.
 */
export function pathFault(path: string, topLevel: boolean): string | undefined {
  if (isLonger(path, LONGEST)) return tooLong(LONGEST)
  if (
    !/^[\p{L}\d_.][\p{L}\d_.-]*$/u.test(path) ||
    /(^|\.)(git|atom)$|\.$/i.test(path) ||
    path.startsWith('.')
  )
    return "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or '.', end in '.', '.git' or '.atom'."
  if (topLevel && RESERVED.has(path.toLowerCase())) return `${path} is a reserved name`
  return undefined
}
