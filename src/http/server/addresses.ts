/** Begins the path of an operation that is served below the server's own address, not below `/api/v4`. */
const BASE = '{base_url}'

/** The path parameter that stands for a full path of several segments, first in its address. */
const FULL_PATH = ':project_full_path'

/** Where what `foldPaths` folded is routed: no group or project can have this path. */
const FOLDED = '/-/in'

export const isOutside = (path: string): boolean => path.startsWith(BASE)
export const withoutBase = (path: string): string => path.slice(BASE.length)

const isFolded = (path: string): boolean => isOutside(path) && path.includes(FULL_PATH)

/** The address at which an operation is routed. */
export const addressOf = (prefix: string, path: string): string =>
  isFolded(path) ? `${FOLDED}${withoutBase(path)}` : isOutside(path) ? withoutBase(path) : prefix + path

/**
 * Makes the function that brings an address to the form in which it is routed: `/group/project/alerts/notify.json` has
 * one parameter for the whole full path then. Where several operations fit, the one whose own part is longest is meant.
 */
export function foldPaths(operations: readonly { readonly path: string }[]): (url: string) => string {
  const tails = [
    ...new Set(
      operations
        .filter(({ path }) => isFolded(path))
        .map(({ path }) =>
          withoutBase(path)
            .replace(`/${FULL_PATH}`, '')
            .replaceAll('.', '\\.')
            .replaceAll(/:\w+/g, '[^/?#]+'),
        ),
    ),
  ]
  if (tails.length === 0) return plainAddress
  const address = new RegExp(
    `^/(?!api/|-/)([^?#]+?)(${tails.toSorted((a, b) => b.length - a.length).join('|')})/?(?=$|[?#])`,
  )
  return (url) =>
    plainAddress(url).replace(
      address,
      (_, fullPath: string, tail: string) => `${FOLDED}/${fullPath.replaceAll('/', '%2F')}${tail}`,
    )
}

const ARTIFACTS = '/artifacts/'
const REF_ARTIFACT = /^(\/api\/v4\/projects\/[^/?#]+\/jobs\/artifacts\/)([^?#]+?)\/(download|raw)(?=[/?#]|$)/
const ARTIFACT_FILE =
  /^(\/api\/v4\/projects\/[^/?#]+\/jobs\/(?:\d+\/artifacts|artifacts\/[^/?#]+\/raw)\/)([^?#]+)/

/** Brings refs and paths of artifacts, whose slashes clients leave as they are, to one segment each. */
const artifactAddress = (url: string): string => {
  const folded = (_: string, before: string, text: string): string => before + text.replaceAll('/', '%2F')
  return url
    .replace(
      REF_ARTIFACT,
      (all, before: string, ref: string, what: string) => `${folded(all, before, ref)}/${what}`,
    )
    .replace(ARTIFACT_FILE, folded)
}

/** An address whose parameters have one segment each. */
const plainAddress = (url: string): string =>
  url.includes(ARTIFACTS) ? artifactAddress(url) : gitAddress(url)

const GIT_ADDRESS =
  /^\/(?!api\/|-\/)([^?#]+?)(?:\.git)?\/(info\/refs|info\/lfs\/[^?#]*|git-upload-pack|git-receive-pack)(?=$|[?#])/

/** Brings the address of a repository, whose path has as many segments as it has groups, to where it is routed. */
export const gitAddress = (url: string): string =>
  url.replace(
    GIT_ADDRESS,
    (_, place: string, rest: string) => `/-/git/${place.replaceAll('/', '%2F')}/${rest}`,
  )
