/** HTML that may be sent as it is. Only `html` and the renderers of `src/console/render` make it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Values of a template: text is escaped; nothing is written for null, undefined and booleans. */
export type Part = Html | string | number | boolean | null | undefined | readonly Part[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)

function written(part: Part): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'string') return escaped(part)
  if (typeof part === 'number') return String(part)
  return Array.isArray(part) ? part.map((each: Part) => written(each)).join('') : ''
}

/** A template whose values are escaped. Attributes stand in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? ''
  for (const [i, part] of parts.entries()) text += written(part) + (strings[i + 1] ?? '')
  return new Html(text)
}

export const none = new Html('')
