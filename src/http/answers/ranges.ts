/** The part of a file of `size` bytes that `Range` asks for: undefined for all of it, 'none' where there is no such part. */
export function rangeOf(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | 'none' | undefined {
  // Several ranges in one request may be answered with the whole file.
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (from === '' && to === '') return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  return start > end ? 'none' : { start, end }
}
