import { ROLE_NAMES } from '../../core/sight/roles.ts'
import { html, type Html } from '../web/html.ts'
import { get, link, type Ask, type Route, type View } from '../web/page.ts'
import { avatar, badge, day, empty, pager, paging } from '../web/parts.ts'
import { inGroup, inProject } from '../web/places.ts'
import type { User } from '../web/records.ts'
import { absentOr } from './refs.ts'

interface Member extends User {
  readonly access_level: number
  readonly expires_at: string | null
}
interface Invitation {
  readonly invite_email: string
  readonly access_level: number
  readonly created_at: string
}

const roleOf = (level: number): string => {
  const name = ROLE_NAMES.get(level) ?? String(level)
  return name.replaceAll('_', ' ')
}

const memberRow = (member: Member): Html =>
  html`<li>
    ${avatar(member, 34)}
    <div class="grow">
      <a class="title" href="${link(member.username)}">${member.name}</a>
      <div class="meta">
        <span>@${member.username}</span
        >${member.state !== 'active' && badge(member.state)}${member.expires_at && html`<span>until ${day(member.expires_at)}</span>`}
      </div>
    </div>
    <span class="badge">${roleOf(member.access_level)}</span>
  </li>`

async function members(ask: Ask, id: number, kind: 'Project' | 'Group'): Promise<View> {
  const search = ask.query.get('search') ?? ''
  const [list, invited] = await Promise.all([
    ask.call.list<Member>(`listAll${kind}Members`, { id, query: search || undefined, ...paging(ask) }),
    ask.call.list<Invitation>(`list${kind}Invitations`, { id, per_page: 100 }).catch(absentOr),
  ])
  return {
    title: 'Members',
    main: html`<div class="head"><h1>Members</h1></div>
      <div class="filters">
        <form method="get" action="${ask.pathname}" role="search">
          <input
            type="search"
            name="search"
            value="${search}"
            placeholder="Name or user name"
            aria-label="Name or user name"
          /><button class="small">Find</button>
        </form>
      </div>
      ${
        list.items.length === 0
          ? empty('Nobody is a member here.')
          : html`<ul class="rows">
              ${list.items.map((member) => memberRow(member))}
            </ul>`
      }${pager(ask, list)}
      ${
        invited !== undefined &&
        invited.items.length > 0 &&
        html`<section>
          <h2>Invited</h2>
          <ul class="rows">
            ${invited.items.map(
              (each) =>
                html`<li>
                  <div class="grow">
                    ${each.invite_email}
                    <div class="meta"><span>since ${day(each.created_at)}</span></div>
                  </div>
                  <span class="badge">${roleOf(each.access_level)}</span>
                </li>`,
            )}
          </ul>
        </section>`
      }`,
  }
}

export const memberRoutes: readonly Route[] = [
  get(
    '/groups/*place/-/group_members',
    inGroup('members', (ask) => members(ask, ask.group.id, 'Group')),
  ),
  get(
    '/*place/-/project_members',
    inProject('members', (ask) => members(ask, ask.project.id, 'Project')),
  ),
]
