/** Takes `A..B` apart into what is listed and what is left out; an empty side is the default branch. */
export function readRange(refName: string): { from: string; exclude: string | undefined } {
  const at = refName.indexOf('..')
  return at === -1
    ? { from: refName, exclude: undefined }
    : { from: refName.slice(at + 2), exclude: refName.slice(0, at) }
}
