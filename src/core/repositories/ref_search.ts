/** A search for refs: part of a name, `^` before its start or `$` after its end, case-insensitive. */
export function searching(search: string): (name: string) => boolean {
  const text = search.toLowerCase()
  const [begins, ends] = [text.startsWith('^'), text.endsWith('$')]
  const inner = text.slice(begins ? 1 : 0, ends ? -1 : undefined)
  if (begins && ends) return (name) => name.toLowerCase() === inner
  if (begins) return (name) => name.toLowerCase().startsWith(inner)
  if (ends) return (name) => name.toLowerCase().endsWith(inner)
  return (name) => name.toLowerCase().includes(inner)
}
