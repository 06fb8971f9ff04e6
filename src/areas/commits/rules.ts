/** Takes `A..B` apart into what is listed and what is left out; an empty side is the default branch. */
export function readRange(refName: string): { from: string; exclude: string | undefined } {
  const at = refName.indexOf('..')
  return at === -1
    ? { from: refName, exclude: undefined }
    : { from: refName.slice(at + 2), exclude: refName.slice(0, at) }
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
