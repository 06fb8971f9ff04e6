import { prose } from '../render/markdown.ts'
import { html } from '../web/html.ts'
import { get, post, type Redirect, type Route, type View } from '../web/page.ts'
import { ago, badge, chip, day, empty, pager, paging, person, type LabelShown } from '../web/parts.ts'
import { inGroup, ofGroup, type InGroup } from '../web/places.ts'
import type { Discussion, Issue, User } from '../web/records.ts'
import { fact, itemRows, labelFact } from './issue_lists.ts'
import { composer, discussion } from './threads.ts'

interface Epic {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly author: User | null
  readonly created_at: string
  readonly start_date: string | null
  readonly due_date: string | null
  readonly labels: readonly LabelShown[]
}

async function list(ask: InGroup): Promise<View> {
  const found = await ask.call.list<Epic>('listEpics', {
    id: ask.group.id,
    state: 'all',
    with_labels_details: true,
    ...paging(ask),
  })
  return {
    title: 'Epics',
    main: html`<div class="head"><h1>Epics</h1></div>
      ${
        found.items.length === 0
          ? empty('There are no epics here.')
          : html`<ul class="rows">
              ${found.items.map(
                (epic) =>
                  html`<li>
                    <div class="grow">
                      <a class="title" href="${ofGroup(ask.group, 'epics', epic.iid)}">${epic.title}</a>
                      <div class="meta">
                        <span>&amp;${epic.iid}</span
                        >${epic.due_date && html`<span>due ${day(epic.due_date)}</span>`}
                      </div>
                      <div class="chips">${epic.labels.map((label) => chip(label))}</div>
                    </div>
                    ${badge(epic.state, epic.state === 'opened' ? 'open' : epic.state)}
                  </li>`,
              )}
            </ul>`
      }${pager(ask, found)}`,
  }
}

async function show(ask: InGroup): Promise<View> {
  const { call, group, at, now } = ask
  const asked = { id: group.id, epic_iid: at['iid'] }
  const epic = await call.one<Omit<Epic, 'labels'> & { labels: readonly string[] }>('getEpic', asked)
  const [issues, discussions] = await Promise.all([
    call.list<Issue>('listEpicIssues', { ...asked, per_page: 100 }),
    call.list<Discussion>('listEpicDiscussions', { id: group.id, epic_id: String(epic.id), per_page: 100 }),
  ])
  const labelled = issues.items.map((issue) => ({ ...issue, labels: [] }))
  return {
    title: `${epic.title} (&${epic.iid})`,
    main: html`<div class="head">
        <div>
          <h1>${epic.title} <span class="iid">&amp;${epic.iid}</span></h1>
          <div class="meta">
            ${badge(epic.state, epic.state === 'opened' ? 'open' : epic.state)}${person(epic.author)}<span
              >${ago(epic.created_at, now)}</span
            >
          </div>
        </div>
      </div>
      <div class="two">
        <div>
          ${epic.description ? html`<div class="box"><div class="body">${prose(epic.description)}</div></div>` : html`<p class="quiet">There is no description.</p>`}
          <section>
            <h2>Issues</h2>
            ${labelled.length === 0 ? empty('No issue belongs to it yet.') : itemRows(ask, labelled, { kind: 'issues', across: true })}
          </section>
          <section class="thread" aria-label="Discussion">
            ${discussions.items.map((each) => discussion(each, { ask }))}
          </section>
          ${composer({ ask }, ofGroup(group, 'epics', epic.iid))}
        </div>
        <aside class="side" aria-label="Facts">
          ${fact('Labels', labelFact(epic.labels.map((name) => ({ name, color: '#888888' }))))}${fact('Start', day(epic.start_date))}${fact('Due', day(epic.due_date))}
        </aside>
      </div>`,
  }
}

async function comment({ call, group, at, form: sent }: InGroup): Promise<Redirect> {
  const epic = await call.one<Epic>('getEpic', { id: group.id, epic_iid: at['iid'] })
  await call.one('createEpicNote', { id: group.id, epic_id: String(epic.id), body: sent.get('body') ?? '' })
  return { to: ofGroup(group, 'epics', epic.iid) }
}

export const epicRoutes: readonly Route[] = [
  get('/groups/*place/-/epics', inGroup('epics', list)),
  get('/groups/*place/-/epics/:iid', inGroup('epics', show)),
  post('/groups/*place/-/epics/:iid', inGroup('epics', comment)),
]
