import { html, type Html, type Part } from './html.ts'
import type { List } from './calls.ts'
import { link, withQuery, type Ask } from './page.ts'

/** Small parts that pages are made of. */

export interface Named {
  readonly name: string
  readonly username: string
}

const HUES = 12
const hueOf = (text: string): number =>
  Array.from(text).reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) % 9973, 7) % HUES

/** A coloured disc with the first letters of a name. */
export const avatar = ({ name, username }: Named, size = 20): Html => {
  const letters = name
    .trim()
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.match(/./u)?.[0] ?? '')
    .join('')
    .toUpperCase()
  return html`<svg
    class="avatar hue-${hueOf(username)}"
    width="${size}"
    height="${size}"
    viewBox="0 0 40 40"
    aria-hidden="true"
  >
    <circle cx="20" cy="20" r="20" />
    <text x="20" y="26" text-anchor="middle">${letters || '?'}</text>
  </svg>`
}

export const person = (user: Named | null | undefined, size = 20): Html =>
  user
    ? html`<a class="person" href="${link(user.username)}">${avatar(user, size)}<span>${user.name}</span></a>`
    : html`<span class="quiet">a removed user</span>`

const STEPS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [31_557_600, 'year'],
  [2_629_800, 'month'],
  [604_800, 'week'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
]
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A moment as people say it, with the exact one at hand. */
export function ago(moment: string | null | undefined, now: Date): Html {
  if (moment === null || moment === undefined) return html``
  const at = new Date(moment)
  const seconds = (at.getTime() - now.getTime()) / 1000
  const [size, unit] = STEPS.find(([each]) => Math.abs(seconds) >= each) ?? [1, 'second']
  const text = Math.abs(seconds) < 60 ? 'just now' : words.format(Math.round(seconds / size), unit)
  return html`<time
    datetime="${at.toISOString()}"
    title="${at.toISOString().slice(0, 16).replace('T', ' ')} UTC"
    >${text}</time
  >`
}

export const day = (date: string | null | undefined): string =>
  date
    ? new Date(date).toLocaleDateString('en-GB', {
        day: 'numeric',
        month: 'short',
        year: 'numeric',
        timeZone: 'UTC',
      })
    : ''

/** `1 h 2 min`, `3.4 s`. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return ''
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function bytes(size: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  const step = size === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(size) / 10))
  return `${step === 0 ? size : (size / 1024 ** step).toFixed(1)} ${units[step]}`
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

export interface LabelShown {
  readonly name: string
  readonly color: string
  readonly description?: string | null
}

/** A label: its colour as a dot, so that the text is readable on any background. */
export const chip = ({ name, color, description }: LabelShown, href?: string): Html => {
  const dot = html`<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
    <circle cx="5" cy="5" r="5" fill="${color}" />
  </svg>`
  const title = description ? html` title="${description}"` : ''
  return href === undefined
    ? html`<span class="chip" ${title}>${dot}${name}</span>`
    : html`<a class="chip" href="${href}" ${title}>${dot}${name}</a>`
}

/** The state of a thing as a coloured word. */
export const badge = (state: string, text = state.replaceAll('_', ' ')): Html =>
  html`<span class="badge is-${state.replaceAll(/[^\w-]/g, '')}">${text}</span>`

export const empty = (text: string, more: Part = ''): Html =>
  html`<div class="empty">
    <p>${text}</p>
    ${more}
  </div>`

/** Links to the pages before and after, where there are any. */
export function pager(ask: Pick<Ask, 'pathname' | 'query'>, list: List<unknown>): Html {
  if (list.page === 1 && !list.hasNext) return html``
  const at = (page: number): string => withQuery(ask, { page })
  return html`<nav class="pager" aria-label="Pages">
    ${list.page > 1 ? html`<a class="button small" rel="prev" href="${at(list.page - 1)}">Previous</a>` : html`<span></span>`}
    <span class="quiet"
      >Page
      ${list.page}${list.total !== undefined && ` of ${Math.max(1, Math.ceil(list.total / PER_PAGE))}`}</span
    >
    ${list.hasNext ? html`<a class="button small" rel="next" href="${at(list.page + 1)}">Next</a>` : html`<span></span>`}
  </nav>`
}
/** Records on a page of a list. */
export const PER_PAGE = 20

/** Which page of a list is asked for. */
export const paging = ({ query }: Pick<Ask, 'query'>): { page: string; per_page: number } => ({
  page: /^[1-9]\d{0,8}$/.test(query.get('page') ?? '') ? (query.get('page') ?? '1') : '1',
  per_page: PER_PAGE,
})

/** A form that sends this viewer's proof along. */
export const form = (ask: Pick<Ask, 'csrf'>, action: string, fields: Part, className = ''): Html =>
  html`<form method="post" action="${action}" class="${className}">
    <input type="hidden" name="csrf" value="${ask.csrf}" />${fields}
  </form>`
