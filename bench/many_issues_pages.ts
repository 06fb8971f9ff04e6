import type { Filled } from './many_issues_fill.ts'

// Pages of lists of issues, and what each may take.

const split = (text: string): string[] => text.split('|').map((page) => page.trim())

/** Of a project: at most five times the same among 1,000, and 50 ms. */
const COMMON = split(`
  per_page=20 | page=50 | state=opened | state=closed | labels=label 1 | labels=label 2 | labels=label 3 | labels=label 4 |
  assignee_id=5 | assignee_id=99 | author_id=7 | milestone=v2 | search=capsized | search=issue`)
/** Of a project, in any mixture of two: a second. */
const MIXED = split(`
  state=opened | labels=label 1 | labels=label 3 | labels=label 2,label 5 | labels=None | not[labels]=label 1 |
  assignee_id=5 | assignee_id=None | author_id=7 | milestone=v2 | milestone=None | weight=3 | epic_id=2 | iteration_id=2 |
  confidential=true | my_reaction_emoji=rocket | due_date=overdue | search=capsized | search=issue |
  created_after=2020-01-01 | order_by=updated_at | order_by=title | order_by=weight | order_by=priority |
  order_by=label_priority&sort=asc`)
/** Below a group and everywhere: a second. */
const ABROAD = split(`
  per_page=20 | page=50 | state=opened | order_by=updated_at | order_by=priority | labels=label 1 | labels=label 4 |
  labels=label 1,label 2 | labels=label 2,of all | labels=None | not[labels]=label 1 | milestone=v2 | author_id=7 |
  assignee_id=5 | search=capsized | search=issue`)

export interface Page {
  readonly name: string
  readonly path: (project: number, group: number) => string
  /** Milliseconds. */
  readonly most: number
  /** Times the same among 1,000. */
  readonly ratio?: number
}

const keyOf = (page: string): string => page.slice(0, page.indexOf('='))
const isPair = (a: string, b: string): boolean =>
  keyOf(a) !== keyOf(b) && !(a.startsWith('assignee') && b.startsWith('assignee'))

export const pages: readonly Page[] = [
  ...COMMON.map((page) => ({
    name: page,
    path: (project: number) => `/projects/${project}/issues?${page}`,
    most: 50,
    ratio: 5,
  })),
  ...MIXED.flatMap((one, at) =>
    MIXED.slice(at + 1).flatMap((other) =>
      isPair(one, other)
        ? [
            {
              name: `${one}&${other}`,
              path: (project: number) => `/projects/${project}/issues?${one}&${other}`,
              most: 1_000,
            },
          ]
        : [],
    ),
  ),
  ...ABROAD.map((page) => ({
    name: `group ${page}`,
    path: (_: number, group: number) => `/groups/${group}/issues?${page}`,
    most: 1_000,
  })),
  ...ABROAD.map((page) => ({
    name: `everything ${page}`,
    path: () => `/issues?scope=all&${page}`,
    most: 1_000,
  })),
]

/** Callers: one sees everything, the other needs a check of each confidential issue. */
export const readers = ['planner', 'guest'] as const satisfies (keyof Filled)[]
