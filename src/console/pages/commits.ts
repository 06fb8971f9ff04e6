import { diffView, type FileDiff } from '../render/diff.ts'
import { prose } from '../render/markdown.ts'
import { html, type Html } from '../web/html.ts'
import { get, type Route, type View } from '../web/page.ts'
import { ago, badge, day, empty, pager, paging } from '../web/parts.ts'
import { noSuchRecord } from '../../http/problems.ts'
import { inProject, of, type InProject } from '../web/places.ts'
import type { Commit, MergeRequest } from '../web/records.ts'
import type { List } from '../web/calls.ts'
import { absentOr, findRef } from './refs.ts'
import { pathLinks } from './folder.ts'

export const commitRow = ({ project, now }: Pick<InProject, 'project' | 'now'>, commit: Commit): Html =>
  html`<li>
    <div class="grow">
      <a class="title" href="${of(project, 'commit', commit.id)}">${commit.title}</a>
      <div class="meta">
        <span>${commit.author_name}</span><span>${ago(commit.committed_date, now)}</span>
      </div>
    </div>
    <a class="sha" href="${of(project, 'commit', commit.id)}">${commit.short_id}</a>
  </li>`

/** Commits under the days on which they were made. */
export function byDay(ask: Pick<InProject, 'project' | 'now'>, commits: readonly Commit[]): Html {
  const days =
    Map.groupBy === undefined ? grouped(commits) : Map.groupBy(commits, ({ committed_date: at }) => day(at))
  return html`${[...days].map(
    ([date, made]) =>
      html`<section>
        <h2 class="quiet small">${date}</h2>
        <ul class="rows">
          ${made.map((commit) => commitRow(ask, commit))}
        </ul>
      </section>`,
  )}`
}

function grouped(commits: readonly Commit[]): Map<string, Commit[]> {
  const days = new Map<string, Commit[]>()
  for (const commit of commits) {
    const date = day(commit.committed_date)
    days.set(date, [...(days.get(date) ?? []), commit])
  }
  return days
}

async function commitList(ask: InProject): Promise<View> {
  const at = await findRef(ask, ask.at['rest'] ?? '')
  const list = await ask.call.list<Commit>('listCommits', {
    id: ask.project.id,
    ref_name: at.ref,
    path: at.path || undefined,
    ...paging(ask),
  })
  return {
    title: 'Commits',
    main: html`<div class="head">
        <h1>Commits</h1>
        <span class="chip mono">${at.ref}</span>${at.path !== '' && pathLinks(ask, at)}
      </div>
      ${list.items.length === 0 ? empty('There are no commits here.') : byDay(ask, list.items)}${pager(ask, list)}`,
  }
}

/** Files of a diff that one page shows. */
const MAX_FILES = 300

/** The pages of a list of diffs, up to what one page shows. */
export async function allDiffs(read: (page: string) => Promise<List<FileDiff>>): Promise<FileDiff[]> {
  const files: FileDiff[] = []
  for (let page = 1; files.length < MAX_FILES; page++) {
    const list = await read(String(page))
    files.push(...list.items)
    if (!list.hasNext || list.items.length === 0) break
  }
  return files
}

async function commitPage(ask: InProject): Promise<View> {
  const { call, project, at, now } = ask
  const asked = { id: project.id, sha: at['sha'] }
  const commit = await call.one<Commit>('getCommit', asked)
  const [files, merges] = await Promise.all([
    allDiffs((page) => call.list<FileDiff>('listCommitDiffs', { ...asked, page, per_page: 100 })),
    call.list<MergeRequest>('listCommitMergeRequests', asked).catch(absentOr),
  ])
  const body = commit.message.slice(commit.title.length).trim()
  const pipeline = commit.last_pipeline
  return {
    title: commit.title,
    wide: true,
    main: html`<div class="head">
        <div>
          <h1>${commit.title}</h1>
          <div class="meta">
            <span>${commit.author_name}</span>${ago(commit.authored_date, now)}<span class="sha"
              >${commit.id}</span
            >
            ${pipeline && html`<a href="${of(project, 'pipelines', pipeline.id)}">${badge(pipeline.status)}</a>`}
          </div>
        </div>
        <a class="button small" href="${of(project, 'tree', commit.id)}">Browse files</a>
      </div>
      ${
        body !== '' &&
        html`<div class="box">
            <div class="body">${prose(body, { project: project.path_with_namespace })}</div>
          </div>
          <br />`
      }
      <p class="meta">
        ${commit.parent_ids.length > 0 && html`<span>${commit.parent_ids.length === 1 ? 'Parent' : 'Parents'} ${commit.parent_ids.map((id) => html`<a class="sha" href="${of(project, 'commit', id)}">${id.slice(0, 8)}</a> `)}</span>`}${merges?.items.map((merge) => html`<a href="${of(project, 'merge_requests', merge.iid)}">!${merge.iid} ${merge.title}</a>`)}
      </p>
      <section aria-label="Changes">${diffView(files)}</section>`,
  }
}

interface Comparison {
  readonly commits: readonly Commit[]
  readonly diffs: readonly FileDiff[]
  readonly compare_same_ref: boolean
}

async function compare(ask: InProject): Promise<View> {
  const { call, project, at } = ask
  const [, from, dots, to] = /^(.+?)(\.{2,3})(.+)$/.exec(at['range'] ?? '') ?? []
  if (from === undefined || to === undefined) throw noSuchRecord()
  const { commits, diffs } = await call.one<Comparison>('getComparison', {
    id: project.id,
    from,
    to,
    straight: dots === '..',
  })
  return {
    title: `${from} to ${to}`,
    wide: true,
    main: html`<div class="head">
        <h1>Compare</h1>
        <div class="meta">
          <span class="chip mono">${from}</span>${dots === '..' ? 'directly with' : 'with'}<span
            class="chip mono"
            >${to}</span
          >
        </div>
      </div>
      <section>
        <h2>Commits</h2>
        ${
          commits.length === 0
            ? empty('There are no commits between the two.')
            : html`<ul class="rows">
                ${commits.map((commit) => commitRow(ask, commit))}
              </ul>`
        }
      </section>
      <section>
        <h2>Changes</h2>
        ${diffView(diffs)}
      </section>`,
  }
}

export const commitRoutes: readonly Route[] = [
  get('/*place/-/commits/*rest', inProject('commits', commitList)),
  get('/*place/-/commit/:sha', inProject('commits', commitPage)),
  get('/*place/-/compare/*range', inProject('branches', compare)),
]
