/** Begins the path of an operation that is served below the server's own address, not below `/api/v4`. */
const BASE = '{base_url}'

/** The path parameter that stands for a full path of several segments, first in its address. */
const FULL_PATH = ':project_full_path'

/** Where what `foldPaths` folded is routed: no group or project can have this path. */
const FOLDED = '/-/in'

export const isOutside = (path: string): boolean => path.startsWith(BASE)
export const withoutBase = (path: string): string => path.slice(BASE.length)

/** The address at which an operation is routed. */
export const addressOf = (prefix: string, path: string): string =>
  isOutside(path) ? `${FOLDED}${withoutBase(path)}` : prefix + path

/**
 * Makes the function that brings an address to the form in which it is routed: `/group/project/alerts/notify.json` has
 * one parameter for the whole full path then. Where several operations fit, the one whose own part is longest is meant.
 */
export function foldPaths(operations: readonly { readonly path: string }[]): (url: string) => string {
  const tails = [
    ...new Set(
      operations
        .filter(({ path }) => isOutside(path))
        .map(({ path }) =>
          withoutBase(path)
            .replace(`/${FULL_PATH}`, '')
            .replaceAll('.', '\\.')
            .replaceAll(/:\w+/g, '[^/?#]+'),
        ),
    ),
  ]
  if (tails.length === 0) return gitAddress
  const address = new RegExp(
    `^/(?!api/|-/)([^?#]+?)(${tails.toSorted((a, b) => b.length - a.length).join('|')})/?(?=$|[?#])`,
  )
  return (url) =>
    gitAddress(url).replace(
      address,
      (_, fullPath: string, tail: string) => `${FOLDED}/${fullPath.replaceAll('/', '%2F')}${tail}`,
    )
}

const GIT_ADDRESS =
  /^\/(?!api\/|-\/)([^?#]+?)(?:\.git)?\/(info\/refs|info\/lfs\/[^?#]*|git-upload-pack|git-receive-pack)(?=$|[?#])/

/** Brings the address of a repository, whose path has as many segments as it has groups, to where it is routed. */
export const gitAddress = (url: string): string =>
  url.replace(
    GIT_ADDRESS,
    (_, place: string, rest: string) => `/-/git/${place.replaceAll('/', '%2F')}/${rest}`,
  )
