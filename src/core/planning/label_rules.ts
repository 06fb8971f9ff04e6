import colorNames from 'color-name'
import { LRUCache } from 'lru-cache'
import MarkdownIt from 'markdown-it'
import { lengthFaults } from '../values/lengths.ts'

/** A colour as `#` and six upper-case hex digits, from such, from three digits or from a CSS name; else undefined. */
export function hexColor(given: string): string | undefined {
  const text = given.trim()
  const named = Object.hasOwn(colorNames, text.toLowerCase())
    ? colorNames[text.toLowerCase() as keyof typeof colorNames]
    : undefined
  if (named) return `#${named.map((part) => part.toString(16).padStart(2, '0')).join('')}`.toUpperCase()
  if (/^#[\da-f]{6}$/i.test(text)) return text.toUpperCase()
  if (/^#[\da-f]{3}$/i.test(text)) return text.replaceAll(/[\da-f]/gi, '$&$&').toUpperCase()
  return undefined
}

/** The text colour that is readable on a colour given as `#` and six hex digits. */
export function textColor(hex: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
  return parts.reduce((sum, part) => sum + part, 0) > 500 ? '#333333' : '#FFFFFF'
}

const MAX_TITLE_CHARACTERS = 255

const TAG_BEGINS = /[a-z/!?]/i
/** Longer texts are no titles in any form, and are not scanned. */
const LOOKED_AT = 100_000

/**
 * A title as it is stored: without tags and blanks around it. A tag that another one is hidden in goes too, and a sign
 * that only compares stays.
 */
export function cleanTitle(given: string): string {
  if (given.length > LOOKED_AT) return given
  const kept: string[] = []
  const opened: number[] = []
  for (const sign of given) {
    if (sign === '<') opened.push(kept.length)
    const from = sign === '>' ? opened.pop() : undefined
    if (from !== undefined && TAG_BEGINS.test(kept[from + 1] ?? '')) kept.length = from
    else kept.push(sign)
  }
  return kept.join('').trim()
}

/** Why a clean title will not do, in the published words. */
export function titleFaults(title: string): string[] {
  return [
    ...(title === '' ? ["can't be blank"] : []),
    ...(title === '' || title.includes(',') ? ['is invalid'] : []),
    ...lengthFaults(title, MAX_TITLE_CHARACTERS),
  ]
}

const BETWEEN = '::'

/** The scope of a scoped label, up to the last `::`; undefined for a label without any. */
export function scopeOf(title: string): string | undefined {
  const end = title.lastIndexOf(BETWEEN)
  return end === -1 ? undefined : title.slice(0, end + BETWEEN.length)
}

/** The last title of each scope, and all titles without a scope. */
export const lastOfScopes = (titles: readonly string[]): string[] => [
  // Scopes end with `::`, so that no title without a scope equals one.
  ...new Map(titles.map((title) => [scopeOf(title) ?? title, title])).values(),
]

const markdown = new MarkdownIt({ html: false, linkify: false })
const PLAIN = /^[\p{L}\p{N} .,:;?/()#%+='-]*$/u
/** Brackets in brackets take the square of their number: what is longer is shown as it is written. */
const LONGEST_LINE = 1_000
const rendered = new LRUCache<string, string>({ max: 1_000 })

function render(text: string): string {
  const html = rendered.get(text) ?? markdown.renderInline(text)
  rendered.set(text, html)
  return html
}

/** A description as one line of HTML; what the text holds of HTML itself is shown, not obeyed. */
export function renderLine(text: string): string {
  if (PLAIN.test(text)) return text
  return text.length > LONGEST_LINE ? markdown.utils.escapeHtml(text) : render(text)
}
