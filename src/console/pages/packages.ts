import { html, type Html } from '../web/html.ts'
import { get, link, type Ask, type Route, type View } from '../web/page.ts'
import { ago, badge, bytes, empty, pager, paging } from '../web/parts.ts'
import { inGroup, inProject, of, type InProject } from '../web/places.ts'

interface Package {
  readonly id: number
  readonly name: string
  readonly version: string | null
  readonly package_type: string
  readonly status: string
  readonly created_at: string
  readonly project_path?: string
  readonly _links: { readonly web_path: string }
  readonly tags: readonly { readonly name: string }[]
}
interface File {
  readonly file_name: string
  readonly size: number
  readonly created_at: string
  readonly file_sha256: string | null
}

const row = (ask: Ask, each: Package): Html => {
  const {
    _links: { web_path },
  } = each
  return html`<li>
    <div class="grow">
      <a class="title" href="${link(...web_path.slice(1).split('/'))}">${each.name}</a>
      <span class="mono">${each.version}</span>
      <div class="meta">
        <span>${each.package_type}</span>${each.project_path && html`<span>${each.project_path}</span>`}<span
          >${ago(each.created_at, ask.now)}</span
        >
      </div>
    </div>
    ${each.status !== 'default' && badge(each.status)}
  </li>`
}

async function list(ask: Ask, id: number, operation: string): Promise<View> {
  const search = ask.query.get('search') ?? ''
  const found = await ask.call.list<Package>(operation, {
    id,
    package_name: search || undefined,
    order_by: 'created_at',
    sort: 'desc',
    ...paging(ask),
  })
  return {
    title: 'Packages',
    main: html`<div class="head"><h1>Packages</h1></div>
      <div class="filters">
        <form method="get" action="${ask.pathname}" role="search">
          <input type="search" name="search" value="${search}" placeholder="Name" aria-label="Name" /><button
            class="small"
          >
            Find
          </button>
        </form>
      </div>
      ${
        found.items.length === 0
          ? empty('No package has been published here.')
          : html`<ul class="rows">
              ${found.items.map((each) => row(ask, each))}
            </ul>`
      }${pager(ask, found)}`,
  }
}

async function show(ask: InProject): Promise<View> {
  const { call, project, at, now } = ask
  const asked = { id: project.id, package_id: at['id'] }
  const [it, files] = await Promise.all([
    call.one<Package>('getProjectPackage', asked),
    call.list<File>('listPackageFiles', { ...asked, per_page: 100 }),
  ])
  return {
    title: `${it.name} ${it.version ?? ''}`,
    main: html`<div class="head">
        <div>
          <h1>${it.name} <span class="iid">${it.version}</span></h1>
          <div class="meta">
            <span class="chip">${it.package_type}</span
            >${it.tags.map(({ name }) => badge('active', name))}<span
              >published ${ago(it.created_at, now)}</span
            ><a href="${of(project, 'packages')}">All packages</a>
          </div>
        </div>
      </div>
      <section>
        <h2>Files</h2>
        <div class="table">
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th class="num">Size</th>
                <th class="wide-only">SHA-256</th>
              </tr>
            </thead>
            <tbody>
              ${files.items.map(
                (file) =>
                  html`<tr>
                    <td class="mono">${file.file_name}</td>
                    <td class="num">${bytes(file.size)}</td>
                    <td class="sha wide-only">${file.file_sha256?.slice(0, 16)}</td>
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>
      </section>`,
  }
}

export const packageRoutes: readonly Route[] = [
  get(
    '/groups/*place/-/packages',
    inGroup('packages', (ask) => list(ask, ask.group.id, 'listGroupPackages')),
  ),
  get(
    '/*place/-/packages',
    inProject('packages', (ask) => list(ask, ask.project.id, 'listProjectPackages')),
  ),
  get('/*place/-/packages/:id', inProject('packages', show)),
]
