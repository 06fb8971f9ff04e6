import { noSuchRecord } from '../../http/problems.ts'
import { prose } from '../render/markdown.ts'
import { html, type Html } from '../web/html.ts'
import { get, type Route, type View } from '../web/page.ts'
import { badge, empty, pager, paging } from '../web/parts.ts'
import { inGroup, type InGroup } from '../web/places.ts'
import type { Issue, Milestone } from '../web/records.ts'
import { itemRows, pathOf } from './issue_lists.ts'
import { all, loadList, span } from './load.ts'

interface Iteration extends Omit<Milestone, 'title' | 'state' | 'expired'> {
  readonly title: string | null
  readonly state: number
}

const nameOf = ({ title, iid }: Iteration): string => title ?? `Iteration ${iid}`
const ITERATION_STATES: Readonly<Record<number, string>> = { 1: 'upcoming', 2: 'active', 3: 'closed' }
const iterationRow = (it: Iteration): Html =>
  html`<li>
    <div class="grow">
      <a class="title" href="${pathOf(it.web_url)}">${nameOf(it)}</a>
      <div class="meta">${badge(ITERATION_STATES[it.state] ?? '')}<span>${span(it)}</span></div>
    </div>
  </li>`

async function iterations(ask: InGroup): Promise<View> {
  const list = await ask.call.list<Iteration>('listGroupIterations', { id: ask.group.id, ...paging(ask) })
  return {
    title: 'Iterations',
    main: html`<div class="head"><h1>Iterations</h1></div>
      ${
        list.items.length === 0
          ? empty('There are no iterations here.')
          : html`<ul class="rows">
              ${list.items.map((each) => iterationRow(each))}
            </ul>`
      }${pager(ask, list)}`,
  }
}

async function iteration(ask: InGroup): Promise<View> {
  const found = await all<Iteration>(ask.call, 'listGroupIterations', { id: ask.group.id })
  const it = found.find(({ iid }) => String(iid) === ask.at['iid'])
  if (it === undefined) throw noSuchRecord()
  const issues = await ask.call.list<Issue>('listGroupIssues', {
    id: ask.group.id,
    iteration_id: String(it.id),
    with_labels_details: true,
    per_page: 100,
  })
  return {
    title: nameOf(it),
    main: html`<div class="head">
        <div>
          <h1>${nameOf(it)}</h1>
          <div class="meta">${badge(ITERATION_STATES[it.state] ?? '')}<span>${span(it)}</span></div>
        </div>
      </div>
      ${it.description && prose(it.description)}
      ${
        issues.items.length === 0
          ? empty('No issue is planned for it yet.')
          : html`<section>
                <h2>Load</h2>
                <div class="table">${loadList(issues.items)}</div>
              </section>
              <section>
                <h2>Issues</h2>
                ${itemRows(ask, issues.items, { kind: 'issues', across: true })}
              </section>`
      }`,
  }
}

export const iterationRoutes: readonly Route[] = [
  get('/groups/*place/-/iterations', inGroup('iterations', iterations)),
  get('/groups/*place/-/iterations/:iid', inGroup('iterations', iteration)),
]
