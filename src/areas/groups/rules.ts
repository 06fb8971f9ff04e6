/** What follows the last group of a page in the order of names, as text a caller hands back. */
export const writeCursor = ({ name, id }: { name: string; id: number }): string =>
  Buffer.from(JSON.stringify({ name, id: String(id), _kd: 'n' })).toString('base64url')

/** Reads a cursor; undefined when it is none of ours. */
export function readCursor(text: string): { name: string; id: number } | undefined {
  try {
    const { name, id } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
    const sound =
      typeof name === 'string' && !name.includes('\0') && typeof id === 'string' && /^\d{1,15}$/.test(id)
    return sound ? { name, id: Number(id) } : undefined
  } catch {
    return undefined
  }
}
