import { html, type Html, type Part } from '../web/html.ts'
import { linesOf, unmasked } from './code.ts'

export interface FileDiff {
  readonly old_path: string
  readonly new_path: string
  readonly diff: string
  readonly new_file: boolean
  readonly renamed_file: boolean
  readonly deleted_file: boolean
  readonly too_large?: boolean
  readonly collapsed?: boolean
}

interface Line {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk'
  readonly old?: number
  readonly new?: number
  readonly text: string
}

/** The lines of a unified diff with their numbers on both sides. */
function readDiff(diff: string): Line[] {
  const lines: Line[] = []
  let [before, after] = [0, 0]
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text)
    if (hunk) {
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      lines.push({ kind: 'hunk', text })
    } else if (text.startsWith('+')) lines.push({ kind: 'added', new: after++, text: text.slice(1) })
    else if (text.startsWith('-')) lines.push({ kind: 'removed', old: before++, text: text.slice(1) })
    else if (text.startsWith(' '))
      lines.push({ kind: 'same', old: before++, new: after++, text: text.slice(1) })
  }
  return lines
}

/** Discussions on lines of a file: the key is `old_new`, either side empty. */
export type Talk = ReadonlyMap<string, Part>
export const lineKey = (old: number | null | undefined, fresh: number | null | undefined): string =>
  `${old ?? ''}_${fresh ?? ''}`

const SIGNS = { added: '+', removed: '-', same: ' ', hunk: '' } as const

function table(lines: readonly Line[], path: string, talk: Talk): Html {
  // Coloured together: the state of the highlighter goes on from line to line.
  const coloured = linesOf(
    unmasked(lines.map(({ kind, text }) => (kind === 'hunk' ? '' : text)).join('\n')),
    path,
  )
  return html`<div class="code diff" tabindex="0" role="region" aria-label="Changes of ${path}">
    <table>
      <tbody>
        ${lines.map((line, i) => {
          if (line.kind === 'hunk')
            return html`<tr class="hunk">
              <td class="n"></td>
              <td class="n"></td>
              <td class="sign"></td>
              <td>${line.text}</td>
            </tr>`
          const said = talk.get(lineKey(line.old, line.new)) ?? talk.get(lineKey(undefined, line.new))
          return html`<tr class="${line.kind}">
              <td class="n">${line.old}</td>
              <td class="n">${line.new}</td>
              <td class="sign">${SIGNS[line.kind]}</td>
              <td>${coloured[i]}</td>
            </tr>
            ${
              said !== undefined &&
              html`<tr class="talk">
                <td colspan="4">${said}</td>
              </tr>`
            }`
        })}
      </tbody>
    </table>
  </div>`
}

/** Lines up to which a file stands open, and up to which all files together do. */
const MAX_OPEN_LINES = 400
const MAX_TOTAL_LINES = 4_000

export function counts(files: readonly FileDiff[]): { added: number; removed: number } {
  let [added, removed] = [0, 0]
  for (const { diff } of files)
    for (const line of diff.split('\n')) {
      if (line.startsWith('+')) added += 1
      else if (line.startsWith('-')) removed += 1
    }
  return { added, removed }
}

/** Changed files, each with what is said about its lines. */
export function diffView(files: readonly FileDiff[], talkOf: (path: string) => Talk = () => new Map()): Html {
  if (files.length === 0) return html`<div class="empty"><p>Nothing differs.</p></div>`
  const { added, removed } = counts(files)
  let shown = 0
  return html`<p class="meta">
      <span>${files.length === 1 ? '1 file' : `${files.length} files`}</span>
      <span class="plus">+${added}</span> <span class="minus">−${removed}</span>
    </p>
    ${files.map((file) => {
      const { new_path: path } = file
      const lines = readDiff(file.diff)
      const talk = talkOf(path)
      shown += lines.length
      const open = (lines.length <= MAX_OPEN_LINES && shown <= MAX_TOTAL_LINES) || talk.size > 0
      const size = counts([file])
      return html`<details class="box file" ${open ? html` open` : ''}>
        <summary class="box-head">
          <span class="mono">${file.renamed_file ? `${file.old_path} → ` : ''}${unmasked(path)}</span>
          ${file.new_file ? html`<span class="badge is-success">new</span>` : file.deleted_file ? html`<span class="badge is-failed">deleted</span>` : ''}
          <span class="right nowrap"
            ><span class="plus">+${size.added}</span> <span class="minus">−${size.removed}</span></span
          >
        </summary>
        ${lines.length > 0 ? table(lines, path, talk) : html`<div class="body quiet">${file.too_large || file.collapsed ? 'Too large to be shown here.' : file.renamed_file ? 'Renamed without changes.' : 'No text to show: the file is empty or binary.'}</div>`}
      </details>`
    })}`
}
