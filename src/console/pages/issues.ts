import { prose } from '../render/markdown.ts'
import { meter } from '../render/charts.ts'
import { html, type Html } from '../web/html.ts'
import type { LabelShown } from '../web/parts.ts'
import { get, post, type Redirect, type Reply, type Route, type View } from '../web/page.ts'
import { ago, badge, day, form, person } from '../web/parts.ts'
import { inGroup, inProject, of, type InGroup, type InProject } from '../web/places.ts'
import type { Discussion, Issue, Milestone, User } from '../web/records.ts'
import {
  ISSUE_STATES,
  fact,
  filterBar,
  itemList,
  labelFact,
  pathOf,
  people,
  readIssues,
} from './issue_lists.ts'
import { absentOr } from './refs.ts'
import { composer, discussion, replyForm } from './threads.ts'

interface Statistics {
  readonly statistics: { readonly counts: Record<string, number> }
}

async function list(ask: InProject): Promise<View> {
  const { call, project } = ask
  const [issues, counted] = await Promise.all([
    readIssues(ask, 'listProjectIssues', { id: project.id }),
    call.one<Statistics>('getProjectIssueStatistics', { id: project.id }),
  ])
  return {
    title: 'Issues',
    main: html`<div class="head">
        <h1>Issues</h1>
        ${ask.viewer !== null && html`<a class="button main" href="${of(project, 'issues', 'new')}">New issue</a>`}
      </div>
      ${filterBar(ask, ISSUE_STATES, counted.statistics.counts)}${itemList(ask, issues, { kind: 'issues' })}`,
  }
}

async function groupList(ask: InGroup): Promise<View> {
  const issues = await readIssues(ask, 'listGroupIssues', { id: ask.group.id })
  return {
    title: 'Issues',
    main: html`<div class="head"><h1>Issues</h1></div>
      ${filterBar(ask, ISSUE_STATES)}${itemList(ask, issues, { kind: 'issues', across: true })}`,
  }
}

const side = (issue: Issue, labels: readonly LabelShown[]): Html => {
  const { milestone, time_stats: time, task_completion_status: tasks } = issue
  return html`<aside class="side" aria-label="Facts">
    ${fact('Assignees', people(issue.assignees))}${fact('Labels', labelFact(labels))}
    ${fact('Milestone', milestone && html`<a href="${pathOf(milestone.web_url)}">${milestone.title}</a>`)}${fact('Due', day(issue.due_date))}
    ${typeof issue.weight === 'number' && fact('Weight', issue.weight)}${tasks.count > 0 && fact('Tasks', html`${tasks.completed_count} of ${tasks.count} done${meter(tasks.completed_count, tasks.count, 'Tasks done')}`)}
    ${time.human_total_time_spent && fact('Time spent', `${time.human_total_time_spent}${time.human_time_estimate ? ` of ${time.human_time_estimate}` : ''}`)}
  </aside>`
}

async function show(ask: InProject): Promise<View> {
  const { call, project, at, now } = ask
  const asked = { id: project.id, issue_iid: at['iid'] }
  const [issue, discussions] = await Promise.all([
    call.one<Issue>('getIssue', asked),
    call.list<Discussion>('listIssueDiscussions', { ...asked, per_page: 100 }).catch(absentOr),
  ])
  const labels = await labelsOf(ask, issue.labels as unknown as readonly string[])
  const around = { ask, project: project.path_with_namespace }
  const here = of(project, 'issues', issue.iid)
  const isOpen = issue.state === 'opened'
  return {
    title: `${issue.title} (#${issue.iid})`,
    main: html`<div class="head">
        <div>
          <h1>${issue.title} <span class="iid">#${issue.iid}</span></h1>
          <div class="meta">
            ${badge(issue.state, isOpen ? 'open' : issue.state)}${issue.confidential && badge('warning', 'confidential')}${person(issue.author)}<span
              >opened ${ago(issue.created_at, now)}</span
            >
          </div>
        </div>
      </div>
      <div class="two">
        <div>
          ${issue.description ? html`<div class="box"><div class="body">${prose(issue.description, around)}</div></div>` : html`<p class="quiet">There is no description.</p>`}
          <section class="thread" aria-label="Discussion">
            ${discussions?.items.map((each) => discussion(each, around, each.individual_note ? undefined : replyForm(around, `${here}/discussions/${each.id}`)))}
          </section>
          ${composer(around, here, html`<button name="act" value="${isOpen ? 'close' : 'reopen'}">${isOpen ? 'Close issue' : 'Reopen issue'}</button>`)}
        </div>
        ${side(issue, labels)}
      </div>`,
  }
}

/** The colours of labels that a record names. */
export async function labelsOf(
  { call, project }: InProject,
  names: readonly string[],
): Promise<readonly LabelShown[]> {
  if (names.length === 0) return []
  const asked = { id: project.id, per_page: 100 }
  const known = await call.list<LabelShown>('listProjectLabels', asked).catch(absentOr)
  const byName = new Map(known?.items.map((label) => [label.name, label]))
  return names.map((name) => byName.get(name) ?? { name, color: '#888888' })
}

/** Comments, and closes or reopens: what is written there goes first. */
async function answer(ask: InProject): Promise<Redirect> {
  const { call, project, at, form: sent } = ask
  const asked = { id: project.id, issue_iid: at['iid'] }
  const body = sent.get('body') ?? ''
  const act = sent.get('act')
  if (body.trim() !== '' || (act !== 'close' && act !== 'reopen'))
    await call.one('createIssueNote', { ...asked, body })
  if (act === 'close' || act === 'reopen') await call.one('updateIssue', { ...asked, state_event: act })
  return { to: of(project, 'issues', at['iid'] ?? '') }
}

async function reply({ call, project, at, form: sent }: InProject): Promise<Redirect> {
  const asked = { id: project.id, issue_iid: at['iid'], discussion_id: at['discussion'] }
  await call.one('createIssueDiscussionNote', { ...asked, body: sent.get('body') ?? '' })
  return { to: of(project, 'issues', at['iid'] ?? '') }
}

async function fresh(ask: InProject): Promise<View> {
  const { call, project } = ask
  const [labels, milestones, members] = await Promise.all([
    call.list<LabelShown>('listProjectLabels', { id: project.id, per_page: 100 }),
    call.list<Milestone>('listMilestones', {
      id: project.id,
      state: 'active',
      include_ancestors: true,
      per_page: 100,
    }),
    call.list<User>('listAllProjectMembers', { id: project.id, per_page: 100 }),
  ])
  const options = (items: readonly { id: number; text: string }[]): Html =>
    html`<option value="">None</option>
      ${items.map(({ id, text }) => html`<option value="${id}">${text}</option>`)}`
  const fields = html`<div class="body">
    <label class="field"
      >Title<input type="text" name="title" required maxlength="255" value="${ask.query.get('title') ?? ''}"
    /></label>
    <label class="field"
      >Description<textarea name="description" rows="10"></textarea
      ><small>Markdown, and quick actions on lines of their own.</small></label
    >
    <label class="field"
      >Assignee<select name="assignee_id">
        ${options(members.items.map((user) => ({ id: user.id, text: user.name })))}
      </select></label
    >
    <label class="field"
      >Milestone<select name="milestone_id">
        ${options(milestones.items.map(({ id, title }) => ({ id, text: title })))}
      </select></label
    >
    ${
      labels.items.length > 0 &&
      html`<fieldset>
        <legend>Labels</legend>
        ${labels.items.map(({ name }) => html`<label class="check"><input type="checkbox" name="labels" value="${name}" />${name}</label>`)}
      </fieldset>`
    }
    <label class="check"
      ><input type="checkbox" name="confidential" value="true" />Only members may see it</label
    ><br /><button class="main">Create issue</button>
  </div>`
  return {
    title: 'New issue',
    main: html`<div class="head"><h1>New issue</h1></div>
      ${form(ask, of(project, 'issues'), fields, 'box')}`,
  }
}

async function create({ call, project, form: sent }: InProject): Promise<Redirect> {
  const assignee = sent.get('assignee_id')
  const made = await call.one<Issue>('createIssue', {
    id: project.id,
    title: sent.get('title') ?? '',
    description: sent.get('description') ?? '',
    labels: sent.getAll('labels').join(','),
    ...(sent.get('milestone_id') && { milestone_id: sent.get('milestone_id') }),
    ...(assignee && { assignee_ids: [assignee] }),
    ...(sent.get('confidential') === 'true' && { confidential: true }),
  })
  return { to: of(project, 'issues', made.iid) }
}

const signedIn =
  (page: (ask: InProject) => Promise<Reply>) =>
  async (ask: InProject): Promise<Reply> =>
    ask.viewer === null ? { to: `/users/sign_in?return_to=${encodeURIComponent(ask.pathname)}` } : page(ask)

export const issueRoutes: readonly Route[] = [
  get('/groups/*place/-/issues', inGroup('issues', groupList)),
  get('/*place/-/issues', inProject('issues', list)),
  post('/*place/-/issues', inProject('issues', create)),
  get('/*place/-/issues/new', inProject('issues', signedIn(fresh))),
  get('/*place/-/issues/:iid', inProject('issues', show)),
  post('/*place/-/issues/:iid', inProject('issues', answer)),
  post('/*place/-/issues/:iid/discussions/:discussion', inProject('issues', reply)),
]
