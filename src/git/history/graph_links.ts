/** The part of a commit that the shape of history needs. */
export interface Links {
  readonly tree: string
  readonly parents: readonly string[]
  /** Unix seconds. */
  readonly time: number
}

const header =
  /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author [^\n]*\ncommitter [^\n>]*> (\d{1,15})[ \n]/
const maxHeaderBytes = 64 * 1024

/** Reads a commit object; undefined for one so odd that git's own reading of it is to be asked for. */
export function readLinks(bytes: Buffer): Links | undefined {
  const found = header.exec(bytes.toString('latin1', 0, Math.min(bytes.length, maxHeaderBytes)))
  if (found === null) return undefined
  const [, tree = '', parents = '', time = ''] = found
  return { tree, parents: parents.match(/[0-9a-f]{40}/g) ?? [], time: Number(time) }
}
