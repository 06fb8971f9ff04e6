import { html, type Html } from '../web/html.ts'
import type { List } from '../web/calls.ts'
import { withQuery, type Ask } from '../web/page.ts'
import {
  ago,
  avatar,
  badge,
  chip,
  empty,
  pager,
  paging,
  person,
  plural,
  type LabelShown,
} from '../web/parts.ts'
import type { Issue, MergeRequest, User } from '../web/records.ts'

/** Filters of a list as parameters of its operation and of its address alike. */
const FILTERS = [
  'search',
  'labels',
  'milestone',
  'author_username',
  'assignee_username',
  'reviewer_username',
] as const

export function filtersOf(
  { query }: Pick<Ask, 'query'>,
  states: readonly string[],
): Record<string, string | undefined> {
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) || undefined]))
  const state = query.get('state') ?? states[0]
  return { ...given, state: states.includes(state ?? '') ? state : states[0] }
}

/** States, search and the filters that are set, each of which can be taken off. */
export function filterBar(
  ask: Ask,
  states: readonly string[],
  counts: Readonly<Record<string, number>> = {},
): Html {
  const shown = filtersOf(ask, states)
  const set = FILTERS.filter((name) => name !== 'search' && shown[name] !== undefined)
  const words: Readonly<Record<string, string>> = {
    labels: 'label',
    author_username: 'author',
    assignee_username: 'assignee',
    reviewer_username: 'reviewer',
  }
  return html`<div class="filters">
      <nav class="switch" aria-label="State">
        ${states.map((state) => html`<a href="${withQuery(ask, { state, page: null })}" ${state === shown['state'] ? html` aria-current="page"` : ''}>${state === 'opened' ? 'Open' : state[0]?.toUpperCase() + state.slice(1)}${counts[state] !== undefined && html` <span class="count">${counts[state]}</span>`}</a>`)}
      </nav>
      <form method="get" action="${ask.pathname}" role="search">
        ${['state', ...set].map((name) => html`<input type="hidden" name="${name}" value="${ask.query.get(name) ?? ''}" />`)}<input
          type="search"
          name="search"
          value="${shown['search'] ?? ''}"
          placeholder="Search titles and descriptions"
          aria-label="Search"
        /><button class="small">Search</button>
      </form>
    </div>
    ${set.length > 0 && html`<p class="chips">${set.map((name) => html`<a class="chip" href="${withQuery(ask, { [name]: null, page: null })}" aria-label="Remove the filter ${words[name] ?? name} ${shown[name]}">${words[name] ?? name}: <strong>${shown[name]}</strong> <span aria-hidden="true">×</span></a>`)}</p>`}`
}

const faces = (users: readonly User[]): Html =>
  html`<span class="nowrap"
    >${users.slice(0, 3).map((user) => html`<span title="${user.name}">${avatar(user, 22)}<span class="visually-hidden">${user.name}</span></span>`)}</span
  >`

interface Shown {
  readonly kind: 'issues' | 'merge_requests'
  /** Whether rows name their project: on lists of several. */
  readonly across?: boolean
}

function row(ask: Ask, item: Issue | MergeRequest, { kind, across }: Shown): Html {
  const sign = kind === 'issues' ? '#' : '!'
  const href = pathOf(item.web_url)
  const labelHref = (name: string): string | undefined =>
    across ? undefined : withQuery(ask, { labels: name, page: null })
  const byState =
    item.state === 'opened'
      ? html`opened ${ago(item.created_at, ask.now)}`
      : html`${item.state}
        ${ago(('merged_at' in item ? item.merged_at : null) ?? item.closed_at ?? item.updated_at, ask.now)}`
  return html`<li>
    <div class="grow">
      <a class="title" href="${href}">${item.title}</a
      >${'draft' in item && item.draft && html` ${badge('draft')}`}${'confidential' in item && item.confidential && html` ${badge('warning', 'confidential')}`}
      <div class="meta">
        <span>${across ? item.references.full : `${sign}${item.iid}`}</span
        ><span>${byState} by ${item.author?.name ?? 'a removed user'}</span
        >${item.milestone && html`<span>${item.milestone.title}</span>`}${'due_date' in item && item.due_date && html`<span>due ${item.due_date}</span>`}${item.user_notes_count > 0 && html`<span>${plural(item.user_notes_count, 'comment')}</span>`}
      </div>
      ${item.labels.length > 0 && html`<div class="chips">${item.labels.map((label) => labelChip(label, labelHref))}</div>`}
    </div>
    ${faces(item.assignees)}
  </li>`
}

/** Some lists name labels without their colours. */
const labelChip = (label: LabelShown | string, href: (name: string) => string | undefined): Html => {
  const shown = typeof label === 'string' ? { name: label, color: '#888888' } : label
  return chip(shown, href(shown.name))
}

/** The path of an address of this server. */
export const pathOf = (url: string): string => {
  const { pathname, search, hash } = new URL(url)
  return pathname + search + hash
}

export const itemRows = (ask: Ask, items: readonly (Issue | MergeRequest)[], shown: Shown): Html =>
  html`<ul class="rows">
    ${items.map((item) => row(ask, item, shown))}
  </ul>`

/** A whole list with its pages. */
export function itemList(ask: Ask, list: List<Issue | MergeRequest>, shown: Shown): Html {
  const noun = shown.kind === 'issues' ? 'issues' : 'merge requests'
  return html`${list.items.length === 0 ? empty(`There are no such ${noun}.`) : itemRows(ask, list.items, shown)}${pager(ask, list)}`
}

export const readIssues = (
  ask: Ask,
  operation: string,
  params: Record<string, string | number | undefined>,
): Promise<List<Issue>> =>
  ask.call.list<Issue>(operation, {
    ...params,
    ...filtersOf(ask, ISSUE_STATES),
    with_labels_details: true,
    ...paging(ask),
  })
export const readMergeRequests = (
  ask: Ask,
  operation: string,
  params: Record<string, string | number | undefined>,
): Promise<List<MergeRequest>> =>
  ask.call.list<MergeRequest>(operation, {
    ...params,
    ...filtersOf(ask, MERGE_STATES),
    with_labels_details: true,
    ...paging(ask),
  })

export const ISSUE_STATES = ['opened', 'closed', 'all'] as const
export const MERGE_STATES = ['opened', 'merged', 'closed', 'all'] as const

/** One property of an issue or a merge request. */
export const fact = (title: string, content: Html | string | number | null | undefined | false): Html =>
  html`<div>
    <h2>${title}</h2>
    ${content || html`<span class="quiet">None</span>`}
  </div>`
export const people = (users: readonly User[]): Html | '' =>
  users.length === 0 ? '' : html`${users.map((user) => html`<div>${person(user)}</div>`)}`
export const labelFact = (labels: readonly LabelShown[]): Html | '' =>
  labels.length === 0 ? '' : html`<div class="chips">${labels.map((label) => chip(label))}</div>`
