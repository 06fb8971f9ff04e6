const API = String.raw`^(/api/v4/(?:(?:projects|groups)/[^/?]+(?:/-)?/)?packages/`
/** Addresses whose last part is a path. */
const PATHS = new RegExp(String.raw`${API}(?:maven|generic/[^/?]+/[^/?]+)/)([^?]+)`)
const NPM = new RegExp(String.raw`${API}npm/)([^?]+)`)

/** Brings the address of a file, or of an npm package with a scope, whose parts clients send as they are, to one segment each. */
export function packageAddress(url: string): string {
  if (!url.includes('/packages/')) return url
  return url
    .replace(PATHS, (_, place: string, path: string) => place + path.replaceAll('/', '%2F'))
    .replace(
      NPM,
      (_, place: string, path: string) => place + path.replaceAll(/((?:@|%40)[^/%]+)\//g, '$1%2F'),
    )
}
