import { prose } from '../render/markdown.ts'
import { diffView, lineKey, type FileDiff, type Talk } from '../render/diff.ts'
import { html, type Part } from '../web/html.ts'
import { get, post, type Redirect, type Route, type View } from '../web/page.ts'
import { ago, badge, empty, pager, paging, plural } from '../web/parts.ts'
import { inGroup, inProject, of, type InGroup, type InProject } from '../web/places.ts'
import type { Commit, Discussion, MergeRequest, Pipeline } from '../web/records.ts'
import { allDiffs, commitRow } from './commits.ts'
import {
  MERGE_STATES,
  fact,
  filterBar,
  itemList,
  labelFact,
  pathOf,
  people,
  readMergeRequests,
} from './issue_lists.ts'
import { head, mergeBox, type Approvals } from './merge_request_parts.ts'
import { labelsOf } from './issues.ts'
import { absentOr } from './refs.ts'
import { composer, discussion, replyForm } from './threads.ts'

async function list(ask: InProject): Promise<View> {
  const found = await readMergeRequests(ask, 'listProjectMergeRequests', { id: ask.project.id })
  return {
    title: 'Merge requests',
    main: html`<div class="head"><h1>Merge requests</h1></div>
      ${filterBar(ask, MERGE_STATES)}${itemList(ask, found, { kind: 'merge_requests' })}`,
  }
}

async function groupList(ask: InGroup): Promise<View> {
  const found = await readMergeRequests(ask, 'listGroupMergeRequests', { id: ask.group.id })
  return {
    title: 'Merge requests',
    main: html`<div class="head"><h1>Merge requests</h1></div>
      ${filterBar(ask, MERGE_STATES)}${itemList(ask, found, { kind: 'merge_requests', across: true })}`,
  }
}

const read = ({ call, project, at }: InProject): Promise<MergeRequest> =>
  call.one<MergeRequest>('getMergeRequest', { id: project.id, merge_request_iid: at['iid'] })
const discussionsOf = async ({ call, project, at }: InProject): Promise<readonly Discussion[]> => {
  const asked = { id: project.id, merge_request_iid: at['iid'], per_page: 100 }
  const found = await call.list<Discussion>('listMergeRequestDiscussions', asked).catch(absentOr)
  return found?.items ?? []
}

async function show(ask: InProject): Promise<View> {
  const { call, project, at } = ask
  const [merge, discussions, approvals] = await Promise.all([
    read(ask),
    discussionsOf(ask),
    call
      .one<Approvals>('getMergeRequestApprovals', { id: project.id, merge_request_iid: at['iid'] })
      .catch(absentOr),
  ])
  const labels = await labelsOf(ask, merge.labels as unknown as readonly string[])
  const around = { ask, project: project.path_with_namespace }
  const here = of(project, 'merge_requests', merge.iid)
  const act = merge.state === 'opened' ? 'close' : merge.state === 'closed' ? 'reopen' : undefined
  const where = (each: Discussion): Part => {
    const path = each.notes[0]?.position?.new_path
    return path ? html`<a class="small mono" href="${here}/diffs">${path}</a>` : ''
  }
  return {
    title: `${merge.title} (!${merge.iid})`,
    main: html`${head(ask, merge, '')}
      <div class="two">
        <div>
          ${
            merge.description &&
            html`<div class="box"><div class="body">${prose(merge.description, around)}</div></div>
              <br />`
          }${mergeBox(ask, merge, approvals)}
          <section class="thread" aria-label="Discussion">
            ${discussions.map((each) => html`${where(each)}${discussion(each, around, each.individual_note ? undefined : replyForm(around, `${here}/discussions/${each.id}`))}`)}
          </section>
          ${composer(around, here, act && html`<button name="act" value="${act}">${act === 'close' ? 'Close' : 'Reopen'} merge request</button>`)}
        </div>
        <aside class="side" aria-label="Facts">
          ${fact('Assignees', people(merge.assignees))}${fact('Reviewers', people(merge.reviewers))}${fact('Labels', labelFact(labels))}${fact('Milestone', merge.milestone && html`<a href="${pathOf(merge.milestone.web_url)}">${merge.milestone.title}</a>`)}
          ${fact('Pipeline', merge.head_pipeline && html`<a href="${of(project, 'pipelines', merge.head_pipeline.id)}">${badge(merge.head_pipeline.status)}</a>`)}
        </aside>
      </div>`,
  }
}

async function diffs(ask: InProject): Promise<View> {
  const { call, project, at } = ask
  const asked = { id: project.id, merge_request_iid: at['iid'] }
  const [merge, discussions, files] = await Promise.all([
    read(ask),
    discussionsOf(ask),
    allDiffs((page) => call.list<FileDiff>('listMergeRequestDiffs', { ...asked, page, per_page: 100 })),
  ])
  const around = { ask, project: project.path_with_namespace }
  const here = of(project, 'merge_requests', merge.iid)
  const talkOf = (path: string): Talk => {
    const talk = new Map<string, Part[]>()
    for (const each of discussions) {
      const position = each.notes[0]?.position
      if (!position || position.new_path !== path) continue
      const key = lineKey(position.old_line, position.new_line)
      talk.set(key, [
        ...(talk.get(key) ?? []),
        discussion(each, around, replyForm(around, `${here}/discussions/${each.id}`)),
      ])
    }
    return talk
  }
  return {
    title: `Changes of !${merge.iid}`,
    wide: true,
    main: html`${head(ask, merge, 'diffs')}${diffView(files, talkOf)}`,
  }
}

async function commits(ask: InProject): Promise<View> {
  const { call, project, at } = ask
  const [merge, found] = await Promise.all([
    read(ask),
    call.list<Commit>('listMergeRequestCommits', {
      id: project.id,
      merge_request_iid: at['iid'],
      ...paging(ask),
    }),
  ])
  return {
    title: `Commits of !${merge.iid}`,
    main: html`${head(ask, merge, 'commits')}${
      found.items.length === 0
        ? empty('There are no commits.')
        : html`<ul class="rows">
            ${found.items.map((commit) => commitRow(ask, commit))}
          </ul>`
    }${pager(ask, found)}`,
  }
}

async function pipelines(ask: InProject): Promise<View> {
  const { call, project, at } = ask
  const [merge, found] = await Promise.all([
    read(ask),
    call.list<Pipeline>('listMergeRequestPipelines', {
      id: project.id,
      merge_request_iid: at['iid'],
      ...paging(ask),
    }),
  ])
  return {
    title: `Pipelines of !${merge.iid}`,
    main: html`${head(ask, merge, 'pipelines')}
      <p class="quiet">${plural(found.items.length, 'pipeline')}</p>
      ${
        found.items.length > 0 &&
        html`<ul class="rows">
          ${found.items.map(
            (pipeline) =>
              html`<li>
                ${badge(pipeline.status)}
                <div class="grow">
                  <a class="title" href="${of(project, 'pipelines', pipeline.id)}">#${pipeline.id}</a>
                  <span class="sha">${pipeline.sha.slice(0, 8)}</span>
                </div>
                ${ago(pipeline.created_at, ask.now)}
              </li>`,
          )}
        </ul>`
      }`,
  }
}

async function answer({ call, project, at, form: sent }: InProject): Promise<Redirect> {
  const asked = { id: project.id, merge_request_iid: at['iid'] }
  const body = sent.get('body') ?? ''
  const act = sent.get('act')
  if (body.trim() !== '' || (act !== 'close' && act !== 'reopen'))
    await call.one('createMergeRequestNote', { ...asked, body })
  if (act === 'close' || act === 'reopen')
    await call.one('updateMergeRequest', { ...asked, state_event: act })
  return { to: of(project, 'merge_requests', at['iid'] ?? '') }
}

/** A form that calls one operation and comes back. */
const acts = (operation: string, params: (sent: URLSearchParams) => Record<string, string | boolean>) =>
  inProject('merge_requests', async ({ call, project, at, form: sent }) => {
    const { iid = '', discussion: discussion_id } = at
    await call.one(operation, {
      id: project.id,
      merge_request_iid: iid,
      ...(discussion_id && { discussion_id }),
      ...params(sent),
    })
    return { to: of(project, 'merge_requests', iid) }
  })

export const mergeRequestRoutes: readonly Route[] = [
  get('/groups/*place/-/merge_requests', inGroup('merge_requests', groupList)),
  get('/*place/-/merge_requests', inProject('merge_requests', list)),
  get('/*place/-/merge_requests/:iid', inProject('merge_requests', show)),
  get('/*place/-/merge_requests/:iid/diffs', inProject('merge_requests', diffs)),
  get('/*place/-/merge_requests/:iid/commits', inProject('merge_requests', commits)),
  get('/*place/-/merge_requests/:iid/pipelines', inProject('merge_requests', pipelines)),
  post('/*place/-/merge_requests/:iid', inProject('merge_requests', answer)),
  post(
    '/*place/-/merge_requests/:iid/merge',
    acts('mergeMergeRequest', (sent) => ({
      sha: sent.get('sha') ?? '',
      ...(sent.get('remove') === 'true' && { should_remove_source_branch: true }),
    })),
  ),
  post(
    '/*place/-/merge_requests/:iid/approve',
    acts('approveMergeRequest', () => ({})),
  ),
  post(
    '/*place/-/merge_requests/:iid/unapprove',
    acts('unapproveMergeRequest', () => ({})),
  ),
  post(
    '/*place/-/merge_requests/:iid/discussions/:discussion',
    acts('createMergeRequestDiscussionNote', (sent) => ({ body: sent.get('body') ?? '' })),
  ),
]
