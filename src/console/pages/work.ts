import { html, type Html } from '../web/html.ts'
import type { List } from '../web/calls.ts'
import { get, post, type Ask, type Redirect, type Reply, type Route, type Viewer } from '../web/page.ts'
import { ago, avatar, empty, form, plural } from '../web/parts.ts'
import type { Issue, MergeRequest, Project, User } from '../web/records.ts'
import { itemRows, pathOf } from './issue_lists.ts'
import { projectRows } from './namespaces.ts'

interface Todo {
  readonly id: number
  readonly action_name: string
  readonly author: User | null
  readonly target: { readonly title: string; readonly references?: { readonly full: string } }
  readonly target_url: string
  readonly created_at: string
}

const DEEDS: Readonly<Record<string, string>> = {
  assigned: 'assigned you',
  mentioned: 'mentioned you',
  directly_addressed: 'addressed you',
  review_requested: 'asked for your review',
  approval_required: 'needs your approval',
  build_failed: 'the pipeline failed',
  unmergeable: 'it can no longer be merged',
  marked: 'you marked it',
}

const todoRow = (ask: Ask, todo: Todo): Html =>
  html`<li>
    ${todo.author && avatar(todo.author, 30)}
    <div class="grow">
      <a class="title" href="${pathOf(todo.target_url)}">${todo.target.title}</a>
      <div class="meta">
        <span>${todo.author?.name} ${DEEDS[todo.action_name] ?? todo.action_name.replaceAll('_', ' ')}</span
        ><span>${todo.target.references?.full}</span><span>${ago(todo.created_at, ask.now)}</span>
      </div>
    </div>
    ${form(ask, `/-/todos/${todo.id}`, html`<button class="small">Done</button>`)}
  </li>`

async function work(ask: Ask): Promise<Reply> {
  const { viewer, call } = ask
  if (viewer === null) return { to: '/explore' }
  const { username } = viewer.actor
  const mine = { per_page: 10, state: 'opened', with_labels_details: true }
  const assigned = { ...mine, scope: 'assigned_to_me' }
  const [todos, issues, merges, reviews, projects] = await Promise.all([
    call.list<Todo>('listTodos', { state: 'pending', per_page: 15 }),
    call.list<Issue>('listIssues', assigned),
    call.list<MergeRequest>('listMergeRequests', assigned),
    call.list<MergeRequest>('listMergeRequests', { ...mine, scope: 'all', reviewer_username: username }),
    call.list<Project>('listProjects', { membership: true, order_by: 'last_activity_at', per_page: 6 }),
  ])
  const part = (title: string, content: Html): Html =>
    html`<section>
      <h2>${title}</h2>
      ${content}
    </section>`
  const merging = (title: string, { items }: List<MergeRequest>): Html | false =>
    items.length > 0 && part(title, itemRows(ask, items, { kind: 'merge_requests', across: true }))
  const issueRows = itemRows(ask, issues.items, { kind: 'issues', across: true })
  const todoRows = html`<ul class="rows">
    ${todos.items.map((todo) => todoRow(ask, todo))}
  </ul>`
  return {
    title: 'My work',
    main: html`<div class="head">
        <div>
          <h1>My work</h1>
          <p class="lead">${greeting(viewer, todos)}</p>
        </div>
      </div>
      ${part('To do', todos.items.length === 0 ? empty('Nothing to do.') : todoRows)}${merging('Reviews asked of you', reviews)}
      ${part('Issues assigned to you', issues.items.length === 0 ? empty('No open issue is assigned to you.') : issueRows)}
      ${merging('Merge requests assigned to you', merges)}
      ${part('Your projects', projectRows(ask, projects.items, 'You are a member of no project yet.'))}`,
  }
}

function greeting({ actor }: Viewer, { total, items }: List<Todo>): string {
  const count = total ?? items.length
  if (count === 0) return `${actor.name}, nothing waits for you.`
  return `${actor.name}, ${plural(count, 'thing')} ${count === 1 ? 'waits' : 'wait'} for you.`
}

async function done({ call, at }: Ask): Promise<Redirect> {
  await call.one('markTodoDone', { id: at['id'] })
  return { to: '/dashboard' }
}

export const workRoutes: readonly Route[] = [
  get('/', work),
  get('/dashboard', work),
  post('/-/todos/:id', done),
]
