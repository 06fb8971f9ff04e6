import { Problem, noSuchRecord } from '../../http/problems.ts'
import { html, type Html } from '../web/html.ts'
import { get, type Route, type View } from '../web/page.ts'
import { ago, badge, empty, pager, paging, PER_PAGE } from '../web/parts.ts'
import { inProject, of, type InProject } from '../web/places.ts'
import type { Commit, Ref } from '../web/records.ts'

/** A ref and a path in its tree. */
export interface Placed {
  readonly ref: string
  readonly path: string
}

/** For what a page does without: undefined where it is not there or not the viewer's to see. */
export function absentOr(error: unknown): undefined {
  if (error instanceof Problem && [401, 403, 404].includes(error.status)) return undefined
  throw error
}

/** Segments of the longest name of a ref that an address is tried with. */
const MAX_REF_SEGMENTS = 6

/** Splits `feature/x/src/a.ts` where the name of the ref ends: names of refs may hold slashes. */
export async function findRef({ call, project }: InProject, rest: string): Promise<Placed> {
  const parts = rest.split('/')
  for (let size = 1; size <= Math.min(parts.length, MAX_REF_SEGMENTS); size++) {
    const ref = parts.slice(0, size).join('/')
    const found = await call
      .one<Commit>('getCommit', { id: project.id, sha: ref, stats: false })
      .catch(absentOr)
    if (found !== undefined) return { ref, path: parts.slice(size).join('/') }
  }
  throw noSuchRecord()
}

const search = (ask: InProject): Html =>
  html`<div class="filters">
    <form method="get" action="${ask.pathname}" role="search">
      <input
        type="search"
        name="search"
        value="${ask.query.get('search') ?? ''}"
        placeholder="Find by name"
        aria-label="Find by name"
      /><button class="small">Find</button>
    </form>
  </div>`

const row = (
  ask: InProject,
  { name, commit, protected: guarded, default: isDefault, merged, message }: Ref,
): Html =>
  html`<li>
    <div class="grow">
      <a class="title mono" href="${of(ask.project, 'tree', name)}">${name}</a>
      ${isDefault === true && badge('active', 'default')} ${guarded && badge('protected')}
      ${merged === true && !isDefault && badge('merged')}
      ${message && html`<div class="quiet small">${message}</div>`}
      <div class="meta">
        <a class="sha" href="${of(ask.project, 'commit', commit.id)}">${commit.short_id}</a
        ><span>${commit.title}</span><span>${ago(commit.committed_date, ask.now)}</span>
      </div>
    </div>
    ${isDefault !== true && ask.project.default_branch !== null && html`<a class="button small wide-only" href="${of(ask.project, 'compare', `${ask.project.default_branch}...${name}`)}">Compare</a>`}
  </li>`

async function refList(ask: InProject, operation: 'listBranches' | 'listTags'): Promise<View> {
  const list = await ask.call.list<Ref>(operation, {
    id: ask.project.id,
    search: ask.query.get('search') || undefined,
    ...paging(ask),
    per_page: PER_PAGE,
  })
  const [title, other] = operation === 'listBranches' ? ['Branches', 'tags'] : ['Tags', 'branches']
  return {
    title,
    main: html`<div class="head">
        <h1>${title}</h1>
        <a class="button small" href="${of(ask.project, other)}">${other === 'tags' ? 'Tags' : 'Branches'}</a>
      </div>
      ${search(ask)}
      ${
        list.items.length === 0
          ? empty(`There are no ${title.toLowerCase()} here.`)
          : html`<ul class="rows">
              ${list.items.map((ref) => row(ask, ref))}
            </ul>`
      }${pager(ask, list)}`,
  }
}

export const refRoutes: readonly Route[] = [
  get(
    '/*place/-/branches',
    inProject('branches', (ask) => refList(ask, 'listBranches')),
  ),
  get(
    '/*place/-/tags',
    inProject('branches', (ask) => refList(ask, 'listTags')),
  ),
]
