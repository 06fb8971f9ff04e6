// Refuses the settings of `.gitmodules` that git's own check of pushed objects refuses: those that would make a
// client's git run or write unexpected things. Reads as git reads configuration, and stops where git stops.

const MOST_BYTES = 1_048_576
const EOL = '\n'

interface Setting {
  readonly submodule: string
  readonly key: string
  readonly value: string | undefined
}

/** Whether a client is safe with this file. What is longer than any such file is not looked through, and not safe. */
export function isSafeGitmodules(content: Buffer): boolean {
  if (content.length > MOST_BYTES) return false
  return settingsIn(content.toString('latin1')).every((one) => isSafe(one))
}

function isSafe({ submodule, key, value }: Setting): boolean {
  if (submodule === '' || submodule.split(/[/\\]/).includes('..')) return false
  if (value === undefined) return true
  if (key === 'url') return isSafeUrl(value)
  if (key === 'path') return !value.startsWith('-')
  return key !== 'update' || !value.startsWith('!')
}

function isSafeUrl(url: string): boolean {
  if (url.startsWith('-')) return false
  const breaks = url.includes('\n') || /%0a/i.test(url)
  if (/^\.\.?\//.test(url)) return !breaks && !climbsOut(url)
  const web =
    /^(?:https?|ftps?)::(.*)$/s.exec(url)?.[1] ?? (/^(?:https?|ftps?):\/\//.test(url) ? url : undefined)
  return web === undefined || (!breaks && /^[a-z]+:\/\/[^/?#]/.test(web) && URL.canParse(web))
}

/** A relative address that climbs above its host could name another one. */
function climbsOut(url: string): boolean {
  const rest = url.replace(/^(?:\.\.?\/)+/, '')
  return /^(?:\.\/)*\.\.\//.test(url) && /^[:/]/.test(rest)
}

function settingsIn(text: string): Setting[] {
  const found: Setting[] = []
  let at = text.startsWith('\xef\xbb\xbf') ? 3 : 0
  let submodule: string | undefined
  while (at < text.length) {
    const char = text[at] ?? ''
    if (/\s/.test(char)) at++
    else if (char === '#' || char === ';') at = lineEnd(text, at)
    else if (char === '[') {
      const header = /\[\s*([A-Za-z0-9.-]+)(?:[ \t]+"((?:\\[^\n]|[^"\\\n])*)")?\]/y
      header.lastIndex = at
      const [whole, section, sub] = header.exec(text) ?? []
      if (whole === undefined || section === undefined) return found
      submodule = submoduleOf(section, sub)
      at += whole.length
    } else {
      const name = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)/y
      name.lastIndex = at
      const [whole, key = '', sign] = name.exec(text) ?? []
      if (whole === undefined) return found
      const read = sign === '=' ? valueAt(text, at + whole.length) : { end: at + whole.length }
      if (read === undefined) return found
      if (submodule !== undefined) found.push({ submodule, key: key.toLowerCase(), value: read.value })
      at = read.end
    }
  }
  return found
}

/** The name in `[submodule "name"]` or, of old, `[submodule.name]`. */
function submoduleOf(section: string, sub: string | undefined): string | undefined {
  const lower = section.toLowerCase()
  if (lower === 'submodule') return sub?.replaceAll(/\\([^\n])/g, '$1')
  if (!lower.startsWith('submodule.')) return undefined
  const rest = lower.slice('submodule.'.length)
  return sub === undefined ? rest : `${rest}.${sub}`
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf(EOL, at)
  return end === -1 ? text.length : end
}

const ESCAPED: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '\\': '\\', '"': '"' }

/** A value to the end of its line, with quotes, escapes and lines that go on; undefined where git reads none. */
function valueAt(text: string, from: number): { value?: string; end: number } | undefined {
  let value = ''
  let kept = 0
  let quoted = false
  let at = from
  for (; at < text.length; at++) {
    const char = text[at] ?? ''
    if (char === EOL) break
    if (char === '\\') {
      const next = text[++at] ?? EOL
      if (next === '\r' && text[at + 1] === EOL) at++
      else if (next !== EOL) {
        const meant = ESCAPED[next]
        if (meant === undefined) return undefined
        value += meant
        kept = value.length
      }
    } else if (char === '"') {
      quoted = !quoted
      kept = value.length
    } else if (!quoted && (char === '#' || char === ';')) {
      at = lineEnd(text, at)
      break
    } else if (quoted || !/\s/.test(char)) {
      value += char
      kept = value.length
    } else if (value !== '') value += char
  }
  return quoted ? undefined : { value: value.slice(0, kept), end: at }
}
