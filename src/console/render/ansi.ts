import { html, type Html } from '../web/html.ts'

/** Bytes of a log's end that a page shows. */
export const MAX_LOG_BYTES = 512 * 1024

/** Sequences of terminals, and the marks that runners write around sections. */
const SEQUENCE = new RegExp(
  String.raw`\x1b\[([0-9;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b[()][0-9A-B]|section_(?:start|end):\d+:[^\r\n]*\r`,
  'g',
)

/** A job's log with its colours as spans; other terminal sequences are dropped. */
export function ansi(text: string): Html {
  const parts: Html[] = []
  let style: string[] = []
  let at = 0
  const push = (piece: string): void => {
    // A line that was drawn anew, as progress bars are, shows what it ended with.
    const plain = piece.replaceAll(/[^\n]*\r(?=[^\n])/g, '').replaceAll('\r', '')
    if (plain !== '')
      parts.push(style.length > 0 ? html`<span class="${style.join(' ')}">${plain}</span>` : html`${plain}`)
  }
  for (const found of text.matchAll(SEQUENCE)) {
    push(text.slice(at, found.index))
    at = found.index + found[0].length
    if (found[2] === 'm') style = styled(style, found[1] ?? '')
  }
  push(text.slice(at))
  return html`${parts}`
}

function styled(style: readonly string[], codes: string): string[] {
  let next = [...style]
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) next = []
    else if (code >= 1 && code <= 4) next.push(`ansi-${code}`)
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      next = [...next.filter((name) => !name.startsWith('fg-')), `fg-${code % 10}`]
    else if (code === 39) next = next.filter((name) => !name.startsWith('fg-'))
  }
  return [...new Set(next)]
}
