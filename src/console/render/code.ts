import { Html, html, escaped } from '../web/html.ts'
import { colour, knows } from './highlighter.js'

/** Characters above which code is shown without colours: highlighting takes about a millisecond for 20 kB. */
const MAX_HIGHLIGHTED = 16_000
/** Characters of one line above which a file is data, not code. */
const MAX_LINE = 5_000

/** Milliseconds that colours may take in one second, over all pages: the rest is shown without, and blocks nobody. */
const BUDGET_MS = 200
const spent = { ms: 0, since: 0 }

const NAMES: Readonly<Record<string, string>> = {
  dockerfile: 'bash',
  makefile: 'makefile',
  gemfile: 'ruby',
  rakefile: 'ruby',
  '.gitlab-ci.yml': 'yaml',
}

function languageOf(path: string): string | undefined {
  const name = path.split('/').at(-1)?.toLowerCase() ?? ''
  const language = NAMES[name] ?? (name.includes('.') ? name.split('.').at(-1) : undefined)
  return language !== undefined && knows(language) ? language : undefined
}

/** Code as HTML, coloured where its language is known. */
export function highlighted(text: string, language: string | undefined): string {
  if (language === undefined || !knows(language) || text.length > MAX_HIGHLIGHTED || /\s{100}/.test(text))
    return escaped(text)
  if (text.split('\n').some((line) => line.length > MAX_LINE)) return escaped(text)
  const began = performance.now()
  if (began - spent.since > 1_000) Object.assign(spent, { ms: 0, since: began })
  if (spent.ms > BUDGET_MS) return escaped(text)
  const coloured = colour(text, language)
  spent.ms += performance.now() - began
  return coloured
}

/** Each line as HTML of its own: spans that go over several lines are closed and opened again. */
export function linesOf(text: string, path: string): Html[] {
  const open: string[] = []
  return highlighted(text.replace(/\n$/, ''), languageOf(path))
    .split('\n')
    .map((line) => {
      const before = open.join('')
      for (const [tag] of line.matchAll(/<span [^>]*>|<\/span>/g)) {
        if (tag === '</span>') open.pop()
        else open.push(tag)
      }
      return new Html(before + line + '</span>'.repeat(open.length))
    })
}

/** Signs that make text look like another one: shown by their numbers. */
const HIDDEN = /[\u202A-\u202E\u2066-\u2069\u200B\u200E\u200F\uFEFF]/g
export const unmasked = (text: string): string =>
  text.replaceAll(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0)?.toString(16).toUpperCase() ?? ''}⟩`)

/** A file with numbered lines that can be linked to. */
export const codeTable = (text: string, path: string): Html =>
  html`<div class="code" tabindex="0" role="region" aria-label="${path}">
    <table>
      <tbody>
        ${linesOf(unmasked(text), path).map(
          (line, i) =>
            html`<tr id="L${i + 1}">
              <td class="n"><a href="#L${i + 1}">${i + 1}</a></td>
              <td>${line}</td>
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
