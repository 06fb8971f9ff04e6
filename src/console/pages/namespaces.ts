import { noRoute } from '../../http/problems.ts'
import { prose } from '../render/markdown.ts'
import { html, type Html } from '../web/html.ts'
import { get, link, type Ask, type Reply, type Route, type View } from '../web/page.ts'
import { ago, avatar, badge, day, empty, pager, paging, plural } from '../web/parts.ts'
import { inGroup, of, ofGroup, type InGroup } from '../web/places.ts'
import type { Group, Project, User } from '../web/records.ts'
import { absentOr } from './refs.ts'
import { projectHome } from './tree.ts'

const projectRow = ({ now }: Pick<Ask, 'now'>, project: Project): Html =>
  html`<li>
    ${avatar({ name: project.name, username: project.path_with_namespace }, 34)}
    <div class="grow">
      <a class="title" href="${of(project)}">${project.name_with_namespace}</a>
      ${project.description && html`<div class="quiet small">${firstLine(project.description)}</div>`}
      <div class="meta">
        ${project.visibility !== 'public' && html`<span>${project.visibility}</span>`}<span
          >${plural(project.star_count, 'star')}</span
        ><span>active ${ago(project.last_activity_at, now)}</span>
      </div>
    </div>
  </li>`

const firstLine = (text: string): string => {
  const line = text.split('\n', 1)[0] ?? ''
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

export const projectRows = (ask: Pick<Ask, 'now'>, projects: readonly Project[], none: string): Html =>
  projects.length === 0
    ? empty(none)
    : html`<ul class="rows">
        ${projects.map((project) => projectRow(ask, project))}
      </ul>`

async function groupHome(ask: InGroup): Promise<View> {
  const { call, group } = ask
  const [subgroups, projects] = await Promise.all([
    call.list<Group>('listSubgroups', { id: group.id, per_page: 100, order_by: 'name' }),
    call.list<Project>('listGroupProjects', { id: group.id, order_by: 'name', sort: 'asc', ...paging(ask) }),
  ])
  return {
    title: group.name,
    main: html`<div class="head">
        <div>
          <h1>${group.name}</h1>
          <div class="meta">${badge(group.visibility)}</div>
          ${group.description && html`<div class="lead">${prose(group.description)}</div>`}
        </div>
      </div>
      ${
        subgroups.items.length > 0 &&
        html`<section>
          <h2>Groups</h2>
          <ul class="cards">
            ${subgroups.items.map((each) => groupCard(each))}
          </ul>
        </section>`
      }
      <section>
        <h2>Projects</h2>
        ${projectRows(ask, projects.items, 'There are no projects in this group.')}${pager(ask, projects)}
      </section>`,
  }
}

const groupCard = (group: Group): Html =>
  html`<li>
    <a class="title" href="${ofGroup(group)}"><strong>${group.name}</strong></a
    >${group.visibility !== 'public' && html` ${badge(group.visibility)}`}
    <p>
      ${group.description ? firstLine(group.description) : html`<span class="mono">${group.full_path}</span>`}
    </p>
  </li>`

async function explore(ask: Ask): Promise<View> {
  const search = ask.query.get('search') ?? ''
  const found = { search: search || undefined }
  const [projects, groups] = await Promise.all([
    ask.call.list<Project>('listProjects', {
      ...found,
      search_namespaces: true,
      order_by: 'last_activity_at',
      ...paging(ask),
    }),
    ask.call.list<Group>('listGroups', {
      ...found,
      top_level_only: search === '' ? true : undefined,
      per_page: 12,
    }),
  ])
  return {
    title: 'Explore',
    main: html`<div class="head"><h1>Explore</h1></div>
      <div class="filters">
        <form method="get" action="/explore" role="search">
          <input
            type="search"
            name="search"
            value="${search}"
            placeholder="Projects and groups"
            aria-label="Projects and groups"
          /><button class="small">Find</button>
        </form>
      </div>
      ${
        groups.items.length > 0 &&
        html`<section>
          <h2>Groups</h2>
          <ul class="cards">
            ${groups.items.map((group) => groupCard(group))}
          </ul>
        </section>`
      }
      <section>
        <h2>Projects</h2>
        ${projectRows(ask, projects.items, 'No project is open to you here.')}${pager(ask, projects)}
      </section>`,
  }
}

interface Profile extends User {
  readonly bio?: string | null
  readonly location?: string | null
  readonly organization?: string | null
  readonly job_title?: string | null
  readonly created_at?: string
}

async function userPage(ask: Ask, user: User): Promise<View> {
  const { call } = ask
  const [profile, projects] = await Promise.all([
    call.one<Profile>('getUser', { id: user.id }).catch(absentOr),
    call.list<Project>('listUserProjects', { user_id: user.id, ...paging(ask) }).catch(absentOr),
  ])
  const facts = [profile?.job_title, profile?.organization, profile?.location].filter(Boolean)
  return {
    title: user.name,
    main: html`<div class="head">
        ${avatar(user, 64)}
        <div>
          <h1>${user.name}</h1>
          <div class="meta">
            <span>@${user.username}</span
            >${user.state !== 'active' && badge(user.state)}${facts.map((fact) => html`<span>${fact}</span>`)}${profile?.created_at && html`<span>since ${day(profile.created_at)}</span>`}
          </div>
          ${profile?.bio && html`<p class="lead">${profile.bio}</p>`}
        </div>
      </div>
      <section>
        <h2>Projects</h2>
        ${projectRows(ask, projects?.items ?? [], 'There are no projects here for you to see.')}${projects && pager(ask, projects)}
      </section>`,
  }
}

/** An address of nothing but a path: a person, a project, or a group that stands at another one. */
async function byPath(ask: Ask): Promise<Reply> {
  const path = (ask.at['place'] ?? '').replace(/\/$/, '')
  if (!path.includes('/')) {
    const found = await ask.call.list<User>('listUsers', { username: path })
    const [user] = found.items
    if (user !== undefined) return userPage(ask, user)
  } else {
    const page = await projectHome(ask).catch(absentOr)
    if (page !== undefined) return page
  }
  const group = await ask.call.one<Group>('getGroup', { id: path, with_projects: false }).catch(absentOr)
  if (group === undefined) throw noRoute()
  return { to: link('groups', group.full_path) }
}

export const namespaceRoutes: readonly Route[] = [
  get('/explore', explore),
  get('/groups/*place', inGroup('home', groupHome)),
  get('/*place', byPath),
]
