/** Bytes at the beginning by which a file is taken for text or not, as git does it. */
const LOOKED_AT = 8_000

/** The content type of a raw file: never one that browsers render as a page. */
export const mediaTypeOf = (start: Buffer): string =>
  start.subarray(0, LOOKED_AT).includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8'

/** The published header of a download, by the file's name. */
export function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return plain === name
    ? `inline; filename="${plain}"`
    : `inline; filename="${plain}"; filename*=UTF-8''${exact}`
}
