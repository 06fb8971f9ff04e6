// Texts of system notes about issues, merge requests and epics, in the published words.

const sentenceOf = (names: readonly string[]): string => {
  const marked = names.map((name) => `@${name}`)
  if (marked.length < 3) return marked.join(' and ')
  return `${marked.slice(0, -1).join(', ')}, and ${marked.at(-1) ?? ''}`
}

interface Reassigned {
  readonly username: string
  readonly added: boolean
}
export function reassigned(changes: readonly Reassigned[]): string {
  const names = (added: boolean): string[] =>
    changes.filter((one) => one.added === added).map(({ username }) => username)
  const [fresh, gone] = [names(true), names(false)]
  return [
    ...(fresh.length > 0 ? [`assigned to ${sentenceOf(fresh)}`] : []),
    ...(gone.length > 0 ? [`unassigned ${sentenceOf(gone)}`] : []),
  ].join(' and ')
}

/** Both titles, with what differs between them marked. */
export function retitled(from: string, to: string): string {
  const [before, after] = [Array.from(from), Array.from(to)]
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const mark = (title: string[], sign: '-' | '+'): string => {
    const middle = title.slice(head, title.length - tail).join('')
    const marked = middle === '' ? '' : `{${sign}${middle}${sign}}`
    return title.slice(0, head).join('') + marked + title.slice(title.length - tail).join('')
  }
  return `changed title from **${mark(before, '-')}** to **${mark(after, '+')}**`
}

const longDay = (day: string): string =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString('en-US', {
    timeZone: 'UTC',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
  })
export const dueOn = (from: string | null, to: string | null): string =>
  to === null ? `removed due date ${longDay(from ?? '')}` : `changed due date to ${longDay(to)}`

export const approvalsReset = (names: readonly string[]): string =>
  `reset approvals from ${sentenceOf(names)} by pushing to the branch`

export const weighs = (weight: number | null): string =>
  weight === null ? 'removed the weight' : `changed weight to **${weight}**`

export const hidden = (confidential: boolean): string =>
  confidential ? 'made the issue confidential' : 'made the issue visible to everyone'

export const lockedIn = (locked: boolean, kind: 'issue' | 'merge request'): string =>
  `${locked ? 'locked' : 'unlocked'} the discussion in this ${kind}`

export const iterationSet = (id: number | null): string =>
  id === null ? 'removed iteration' : `changed iteration to *iteration:${id}`

export const milestoneSet = (title: string): string => `changed milestone to %"${title}"`
export const milestoneRemoved = (title: string): string => `removed milestone %"${title}"`

export const branchGone = (from: string, to: string): string =>
  `deleted the \`${from}\` branch. This merge request now targets the \`${to}\` branch`
