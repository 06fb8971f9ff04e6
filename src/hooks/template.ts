/**
 * A custom body: `{{a.b}}` stands for a value of the payload; arrays cannot be entered. Throws where the result is no
 * JSON.
 */
export function fillTemplate(template: string, payload: unknown): string {
  const filled = template.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_all, path: string) => {
    let at: unknown = payload
    for (const name of path.split('.'))
      at =
        typeof at === 'object' && at !== null && !Array.isArray(at) && Object.hasOwn(at, name)
          ? (at as Record<string, unknown>)[name]
          : undefined
    if (at === undefined || at === null) return ''
    // The template has the quotes.
    return typeof at === 'string' ? JSON.stringify(at).slice(1, -1) : JSON.stringify(at)
  })
  JSON.parse(filled)
  return filled
}
