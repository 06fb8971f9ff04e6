/** The tips that a list of commits starts from, and the commits that it excludes. */
interface Range {
  readonly from: string
  readonly exclude?: string
  /** Lists what only one of both sides holds. */
  readonly symmetric?: true
}

/** Takes `A..B` and `A...B` apart; an empty side is the default branch. */
export function readRange(refName: string): Range {
  const at = refName.indexOf('..')
  if (at === -1) return { from: refName }
  const symmetric = refName.startsWith('...', at)
  const from = refName.slice(at + (symmetric ? 3 : 2))
  return { from, exclude: refName.slice(0, at), ...(symmetric && { symmetric }) }
}

interface Written {
  readonly id: string
  readonly message: string
}

/** The message of a commit that is made again: its own, and where it comes from. */
export const cherryPickMessage = ({ id, message }: Written): string =>
  [message.trimEnd(), `(cherry picked from commit ${id})`].filter((part) => part !== '').join('\n\n')

/** The message of a commit that undoes another. */
export function revertMessage({ id, message }: Written): string {
  const title = message.trimStart().split('\n', 1)[0]?.trimEnd() ?? ''
  return `Revert "${title}"\n\nThis reverts commit ${id}`
}
