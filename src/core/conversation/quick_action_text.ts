// Commands in a text: lines that begin with a slash and a word, outside of code and quotes.

export interface Command {
  readonly name: string
  readonly argument: string
}
export interface Parsed {
  /** The text without its commands. */
  readonly text: string
  readonly commands: readonly Command[]
  /** Words that look like commands and are none, a hundred at most. */
  readonly unknown: readonly string[]
  /** Set when every line looks like a command, whether it is one or not. */
  readonly onlyCommands: boolean
}

// The dot stands for every sign, so that nothing is tried twice.
const LINE = /^\/([a-z_]{1,40})(?:[ \t]+(.*))?$/is
/** Commands between two of these are ignored. */
const FENCE = /^(`{3,}|~{3,}|>>>)/
/** The start of a fence: a million empty lines cost no more. */
const MARKS: ReadonlySet<string | undefined> = new Set(['`', '~', '>'])

/** `/cc @ada` does nothing but name people: it is a line of the text. */
const MENTION = 'cc'

/** Each line is looked at once, so that a text of any kind costs what its length costs. */
export function parseCommands(text: string, known: ReadonlySet<string>): Parsed {
  const kept: string[] = []
  const commands: Command[] = []
  const unknown = new Set<string>()
  let fence: string | undefined
  let onlyCommands = true
  for (const ended of text.split('\n')) {
    const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended
    const mark = MARKS.has(line[0]) ? FENCE.exec(line)?.[1] : undefined
    if (mark !== undefined && (fence === undefined || line.trimEnd() === fence))
      fence = fence === undefined ? mark : undefined
    const [, word, argument = ''] = (fence === undefined && line[0] === '/' && LINE.exec(line)) || []
    const given = word?.toLowerCase()
    const name = given === MENTION ? undefined : given
    if (name === undefined && line.trim() !== '') onlyCommands = false
    if (name !== undefined && known.has(name)) commands.push({ name, argument: argument.trim() })
    else kept.push(line)
    if (name !== undefined && !known.has(name) && unknown.size < MAX_COMMANDS) unknown.add(name)
  }
  const all = { commands, unknown: [...unknown] }
  if (commands.length === 0) return { ...all, text, onlyCommands: onlyCommands && text.trim() !== '' }
  return { ...all, text: kept.join('\n').trim(), onlyCommands }
}

const WORD = /~?"([^"]{1,255})"|~?([^\s,]{1,255})/g

/** The titles in `~bug ~"in review" later`, each where it is named last, no more than a hundred. */
export function titlesIn(argument: string): string[] {
  const titles = new Set<string>()
  for (const [, quoted, plain] of argument.slice(0, MAX_COMMAND_CHARACTERS).matchAll(WORD)) {
    const title = quoted ?? plain ?? ''
    titles.delete(title)
    titles.add(title)
    if (titles.size === MAX_COMMANDS) break
  }
  titles.delete('')
  return [...titles]
}
const MAX_COMMAND_CHARACTERS = 30_000
const MAX_COMMANDS = 100

/** The user names in `@ada @grace`; `me` stands for who says it. */
export const namesIn = (argument: string): string[] =>
  [
    ...new Set(
      [...argument.slice(0, MAX_COMMAND_CHARACTERS).matchAll(/@?([\w.-]{1,255})/g)].map(
        ([, name = '']) => name,
      ),
    ),
  ]
    .map((name) => name.toLowerCase())
    .slice(0, MAX_COMMANDS)

const DAY = 86_400_000
const LENGTHS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30 }

/** `2026-12-31`, `today`, `tomorrow`, `in 2 weeks` or `December 31 2026`, as a date; undefined for no day. */
export function dayIn(argument: string, now: Date): string | undefined {
  const text = argument.trim().toLowerCase()
  const at = (time: number): string | undefined =>
    Number.isNaN(new Date(time).getTime()) ? undefined : new Date(time).toISOString().slice(0, 10)
  if (text.length > 40) return undefined
  if (text === 'today') return at(now.getTime())
  if (text === 'tomorrow') return at(now.getTime() + DAY)
  const [, count, unit = ''] = /^in (\d{1,4}) (day|week|month)s?$/.exec(text) ?? []
  if (count !== undefined) return at(now.getTime() + Number(count) * (LENGTHS[unit] ?? 1) * DAY)
  if (/^\d{4}-\d\d-\d\d$/.test(text)) {
    const day = at(Date.parse(`${text}T00:00:00Z`))
    return day === text ? day : undefined
  }
  return /^[a-z]{3,9} \d{1,2},? \d{4}$/.test(text) ? at(Date.parse(`${text} UTC`)) : undefined
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Dec 31, 2026`. */
export const showDay = (day: string): string =>
  `${MONTHS[Number(day.slice(5, 7)) - 1]} ${Number(day.slice(8))}, ${day.slice(0, 4)}`

export const plural = (count: number, word: string): string => (count === 1 ? word : `${word}s`)
