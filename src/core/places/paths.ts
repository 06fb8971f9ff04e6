import { isLonger, tooLong } from '../values/lengths.ts'

/**
 * Names that would shadow a route or a file of the server, as published, and the administrator's, which the first start
 * takes.
 */
const RESERVED = new Set(
  (
    '- .well-known 404.html 422.html 500.html 502.html 503.html admin api apple-touch-icon.png assets dashboard ' +
    'deploy.html explore favicon.ico favicon.png files groups health_check help import jwt login oauth profile projects ' +
    'public robots.txt root s search sitemap sitemap.xml sitemap.xml.gz slash-command-logo.png snippets unsubscribes ' +
    'uploads users v2'
  ).split(' '),
)

const MAX_PATH_CHARACTERS = 255

/**
 * Why `path` cannot be one segment of a group's or project's address, in the published words; undefined when it can.
 * Top-level names must not shadow a route.
 */
export function pathFault(path: string, topLevel: boolean): string | undefined {
  if (isLonger(path, MAX_PATH_CHARACTERS)) return tooLong(MAX_PATH_CHARACTERS)
  if (!/^[a-z\d_.][a-z\d_.-]*$/i.test(path) || /(^|\.)(git|atom)$|\.$/i.test(path) || path.startsWith('.'))
    return "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or '.', end in '.', '.git' or '.atom'."
  return topLevel ? reservedFault(path) : undefined
}

/** Why a path that can be one elsewhere cannot stand at the top, in the published words; undefined when it can. */
export const reservedFault = (path: string): string | undefined =>
  RESERVED.has(path.toLowerCase()) ? `${path} is a reserved name` : undefined
