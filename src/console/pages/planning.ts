import { noSuchRecord } from '../../http/problems.ts'
import { burnCharts, meter, type BurnEvent } from '../render/charts.ts'
import { prose } from '../render/markdown.ts'
import { html, type Html } from '../web/html.ts'
import { get, type Ask, type Route, type View } from '../web/page.ts'
import { badge, chip, empty, pager, paging, plural, type LabelShown } from '../web/parts.ts'
import { inGroup, inProject, of, ofGroup, type InGroup, type InProject } from '../web/places.ts'
import type { Issue, Milestone } from '../web/records.ts'
import { all, loadList, span } from './load.ts'
import { absentOr } from './refs.ts'
import { itemRows, pathOf } from './issue_lists.ts'

interface Place {
  readonly ask: Ask
  readonly id: number
  readonly operations: { list: string; issues: string; events: string; labels: string }
  readonly href: (...rest: readonly (string | number)[]) => string
}
const projectPlace = (ask: InProject): Place => ({
  ask,
  id: ask.project.id,
  operations: {
    list: 'listMilestones',
    issues: 'listMilestoneIssues',
    events: 'listBurndownEvents',
    labels: 'listProjectLabels',
  },
  href: (...rest) => of(ask.project, ...rest),
})
const groupPlace = (ask: InGroup): Place => ({
  ask,
  id: ask.group.id,
  operations: {
    list: 'listGroupMilestones',
    issues: 'listGroupMilestoneIssues',
    events: 'listGroupBurndownEvents',
    labels: 'listGroupLabels',
  },
  href: (...rest) => ofGroup(ask.group, ...rest),
})

const milestoneRow = (milestone: Milestone): Html =>
  html`<li>
    <div class="grow">
      <a class="title" href="${pathOf(milestone.web_url)}">${milestone.title}</a>
      <div class="meta">
        ${badge(milestone.state)}${milestone.expired && milestone.state === 'active' && badge('warning', 'past due')}<span
          >${span(milestone)}</span
        >
      </div>
    </div>
  </li>`

async function milestones({ ask, id, operations }: Place): Promise<View> {
  const list = await ask.call.list<Milestone>(operations.list, { id, ...paging(ask) })
  return {
    title: 'Milestones',
    main: html`<div class="head"><h1>Milestones</h1></div>
      ${
        list.items.length === 0
          ? empty('There are no milestones here.')
          : html`<ul class="rows">
              ${list.items.map((each) => milestoneRow(each))}
            </ul>`
      }${pager(ask, list)}`,
  }
}

async function milestone({ ask, id, operations }: Place): Promise<View> {
  const { call, at, now } = ask
  const found = await call.list<Milestone>(operations.list, { id, iids: [at['iid'] ?? ''] })
  const [it] = found.items
  if (it === undefined) throw noSuchRecord()
  const asked = { id, milestone_id: it.id }
  const [without, events, known] = await Promise.all([
    all<Issue>(call, operations.issues, asked),
    call.one<BurnEvent[]>(operations.events, asked).catch(absentOr),
    call.list<LabelShown>(operations.labels, { id, per_page: 100 }),
  ])
  const colours = new Map(known.items.map((label) => [label.name, label]))
  const issues = without.map((issue) => ({
    ...issue,
    labels: (issue.labels as unknown as string[]).map(
      (name) => colours.get(name) ?? { name, color: '#888888' },
    ),
  }))
  return {
    title: it.title,
    main: html`${milestoneHead(ask, it, issues)}${it.description && prose(it.description)}
    ${events && burnCharts(events, { start: it.start_date, due: it.due_date, now }, byWeight(ask))}
    ${planned(ask, issues)}`,
  }
}

const byWeight = ({ query }: Ask): boolean => query.get('by') === 'weight'

function milestoneHead(ask: Ask, it: Milestone, issues: readonly Issue[]): Html {
  const done = issues.filter(({ state }) => state === 'closed').length
  const unit = (text: string, query: string, isShown: boolean): Html =>
    html`<a href="${ask.pathname}${query}" ${isShown ? html` aria-current="page"` : ''}>${text}</a>`
  return html`<div class="head">
      <div>
        <h1>${it.title}</h1>
        <div class="meta">
          ${badge(it.state)}${it.expired && it.state === 'active' && badge('warning', 'past due')}<span
            >${span(it)}</span
          ><span>${done} of ${plural(issues.length, 'issue')} done</span>
        </div>
      </div>
      <nav class="switch right" aria-label="Unit of the charts">
        ${unit('Issues', '', !byWeight(ask))}${unit('Weight', '?by=weight', byWeight(ask))}
      </nav>
    </div>
    ${meter(done, issues.length, `${done} of ${issues.length} issues done`)}<br />`
}

/** The issues of a milestone, after who has how many of them. */
function planned(ask: Ask, issues: readonly Issue[]): Html {
  if (issues.length === 0) return html`<section>${empty('No issue is planned for it yet.')}</section>`
  const rows = (title: string, state: string): Html => {
    const found = issues.filter((issue) => issue.state === state)
    return found.length === 0
      ? html``
      : html`<section>
          <h2>${title}</h2>
          ${itemRows(ask, found, { kind: 'issues', across: true })}
        </section>`
  }
  return html`<section>
      <h2>Load</h2>
      <div class="table">${loadList(issues)}</div>
    </section>
    ${rows('Open', 'opened')}${rows('Closed', 'closed')}`
}

interface Counted extends LabelShown {
  readonly open_issues_count?: number
  readonly closed_issues_count?: number
  readonly open_merge_requests_count?: number
}

async function labels({ ask, id, operations, href }: Place): Promise<View> {
  const list = await ask.call.list<Counted>(operations.labels, { id, with_counts: true, ...paging(ask) })
  const row = (label: Counted): Html =>
    html`<li>
      <div class="grow">
        ${chip({ name: label.name, color: label.color }, `${href('issues')}?labels=${encodeURIComponent(label.name)}`)}${label.description && html` <span class="quiet">${label.description}</span>`}
      </div>
      <span class="meta nowrap">${plural(label.open_issues_count ?? 0, 'open issue')}</span>
    </li>`
  return {
    title: 'Labels',
    main: html`<div class="head"><h1>Labels</h1></div>
      ${
        list.items.length === 0
          ? empty('There are no labels here.')
          : html`<ul class="rows">
              ${list.items.map((label) => row(label))}
            </ul>`
      }${pager(ask, list)}`,
  }
}

export const planningRoutes: readonly Route[] = [
  get(
    '/groups/*place/-/milestones',
    inGroup('milestones', (ask) => milestones(groupPlace(ask))),
  ),
  get(
    '/groups/*place/-/milestones/:iid',
    inGroup('milestones', (ask) => milestone(groupPlace(ask))),
  ),
  get(
    '/groups/*place/-/labels',
    inGroup('labels', (ask) => labels(groupPlace(ask))),
  ),
  get(
    '/*place/-/milestones',
    inProject('milestones', (ask) => milestones(projectPlace(ask))),
  ),
  get(
    '/*place/-/milestones/:iid',
    inProject('milestones', (ask) => milestone(projectPlace(ask))),
  ),
  get(
    '/*place/-/labels',
    inProject('labels', (ask) => labels(projectPlace(ask))),
  ),
]
