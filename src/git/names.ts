const fullSha = /^[0-9a-f]{40}$/
const abbreviation = /^[0-9a-f]{4,40}$/i
// eslint-disable-next-line no-control-regex
const forbiddenInRef = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/\./
const maxRefBytes = 1_000
/** File systems name 255 bytes, and git locks a ref by a file named after it with `.lock`. */
const maxRefPartBytes = 250

/** True for a full commit, tree, blob or tag hash: 40 lower-case hexadecimal digits. */
export function isSha(text: string): boolean {
  return fullSha.test(text)
}

/** True for text that can be a hash cut short: 4 to 40 hexadecimal digits of either case. */
export function isAbbreviation(text: string): boolean {
  return abbreviation.test(text)
}

/**
 * True for text that may stand below `refs/heads/` or `refs/tags/`: the rules of `git check-ref-format`, and besides
 * not starting with a dash, no longer than 1,000 bytes, and no part between slashes longer than 250. Such a name has no meaning to git but that of a name.
 */
export function isRefName(text: string): boolean {
  if (text === '' || text === '@' || text.startsWith('-') || !text.isWellFormed()) return false
  if (Buffer.byteLength(text) > maxRefBytes || forbiddenInRef.test(text)) return false
  return text.split('/').every(isRefPart)
}

function isRefPart(part: string): boolean {
  return (
    part !== '' &&
    !part.startsWith('.') &&
    !part.endsWith('.lock') &&
    Buffer.byteLength(part) <= maxRefPartBytes
  )
}

/**
 * The full names that `rev` can mean as HEAD, tag or branch, in the order in which git tries them; empty when it is no
 * name. Other namespaces below `refs/` are not offered: nobody outside may name what they keep.
 */
export function refCandidates(rev: string): string[] {
  if (rev === 'HEAD') return ['HEAD']
  if (!isRefName(rev)) return []
  const candidates = [`refs/tags/${rev}`, `refs/heads/${rev}`]
  if (/^(?:heads|tags)\//.test(rev)) candidates.unshift(`refs/${rev}`)
  if (/^refs\/(?:heads|tags)\//.test(rev)) candidates.unshift(rev)
  return candidates
}

/** Ref namespaces that the server writes and clients never do. Fetches see only the heads of merge requests. */
export const SERVER_REFS = [
  'refs/merge-requests',
  'refs/keep-around',
  'refs/pipelines',
  'refs/environments',
  'refs/tmp',
]

/** True for a ref in a namespace of the server. */
export const isServerRef = (ref: string): boolean =>
  SERVER_REFS.some((own) => ref === own || ref.startsWith(`${own}/`))

const segment = /^[@A-Za-z0-9_][A-Za-z0-9_.-]*$/

/** True for the path of a repository below the root: plain segments, none of them hidden, none leading upwards. */
export function isRepositoryPath(path: string): boolean {
  return path.length <= 500 && path.split('/').every((part) => segment.test(part) && !part.endsWith('.lock'))
}

/**
 * The path inside a tree that `path` names, without the slashes around it; undefined when it can name nothing there
 * (segments that are empty, `.` or `..`, a NUL, more than 4,096 bytes).
 */
export function treePath(path: string): string | undefined {
  const inner = path.replace(/^\//, '').replace(/\/$/, '')
  if (inner.includes('\0') || !inner.isWellFormed() || Buffer.byteLength(inner) > 4_096) return undefined
  return inner.split('/').some((part) => part === '' || part === '.' || part === '..') ? undefined : inner
}
