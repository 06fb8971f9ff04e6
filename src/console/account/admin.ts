import { inAdmin } from './admin_frame.ts'
import { valueRoutes } from './admin_values.ts'
import { html, type Html } from '../web/html.ts'
import { get, link, post, type Ask, type Page, type Redirect, type Route, type View } from '../web/page.ts'
import { avatar, badge, day, empty, form, pager, paging } from '../web/parts.ts'
import type { User } from '../web/records.ts'

interface Person extends User {
  readonly email: string
  readonly is_admin: boolean
  readonly created_at: string
  readonly bot: boolean
}

const personRow = (ask: Ask, user: Person): Html => {
  const act = user.state === 'blocked' ? 'unblock' : 'block'
  const isOther = user.id !== ask.viewer?.actor.id && !user.bot
  return html`<li>
    ${avatar(user, 34)}
    <div class="grow">
      <a class="title" href="${link(user.username)}">${user.name}</a>
      ${user.is_admin && badge('active', 'administrator')} ${user.state !== 'active' && badge(user.state)}
      <div class="meta">
        <span>@${user.username}</span><span>${user.email}</span><span>since ${day(user.created_at)}</span>
      </div>
    </div>
    ${isOther && form(ask, `/admin/users/${user.id}/${act}`, html`<button class="small">${act === 'block' ? 'Block' : 'Unblock'}</button>`)}
  </li>`
}

async function users(ask: Ask): Promise<View> {
  const search = ask.query.get('search') ?? ''
  const found = await ask.call.list<Person>('listUsers', {
    search: search || undefined,
    order_by: 'name',
    sort: 'asc',
    ...paging(ask),
  })
  return {
    title: 'Users',
    main: html`<div class="head"><h1>Users</h1></div>
      <div class="filters">
        <form method="get" action="/admin" role="search">
          <input
            type="search"
            name="search"
            value="${search}"
            placeholder="Name, user name or address"
            aria-label="Name, user name or address"
          /><button class="small">Find</button>
        </form>
      </div>
      ${
        found.items.length === 0
          ? empty('There is no such user.')
          : html`<ul class="rows">
              ${found.items.map((user) => personRow(ask, user))}
            </ul>`
      }${pager(ask, found)}
      <section>
        <h2>New user</h2>
        ${form(ask, '/admin/users', newUserFields, 'box')}
      </section>`,
  }
}

const field = (text: string, name: string, type: string): Html =>
  html`<label class="field"
    >${text}<input type="${type}" name="${name}" required autocomplete="off"
  /></label>`
const newUserFields = html`<div class="body">
  ${field('User name', 'username', 'text')}${field('Name for people', 'name', 'text')}${field('Email', 'email', 'email')}${field('First password', 'password', 'password')}<button
    class="main"
  >
    Create user
  </button>
</div>`

async function createUser({ call, form: sent }: Ask): Promise<Redirect> {
  const given = Object.fromEntries(
    ['username', 'name', 'email', 'password'].map((name) => [name, sent.get(name) ?? '']),
  )
  await call.one('createUser', { ...given, skip_confirmation: true })
  return { to: '/admin' }
}

interface Runner {
  readonly id: number
  readonly description: string | null
  readonly runner_type: string
  readonly status: string
  readonly paused: boolean
}

async function runners(ask: Ask): Promise<View> {
  const found = await ask.call.list<Runner>('listAllRunners', { ...paging(ask) })
  return {
    title: 'Runners',
    main: html`<div class="head"><h1>Runners</h1></div>
      ${
        found.items.length === 0
          ? empty('No runner is registered. Start one with guildhall runner.')
          : html`<ul class="rows">
              ${found.items.map(
                (runner) =>
                  html`<li>
                    <div class="grow">
                      <strong>${runner.description || `Runner ${runner.id}`}</strong>
                      <div class="meta">
                        <span>#${runner.id}</span><span>${runner.runner_type.replaceAll('_', ' ')}</span>
                      </div>
                    </div>
                    ${runner.paused && badge('manual', 'paused')}${badge(runner.status === 'online' ? 'active' : runner.status, runner.status.replaceAll('_', ' '))}
                  </li>`,
              )}
            </ul>`
      }${pager(ask, found)}`,
  }
}

const setState = (operation: string): Page =>
  inAdmin('users', async ({ call, at }) => {
    await call.one(operation, { id: at['id'] })
    return { to: '/admin' }
  })

export const adminRoutes: readonly Route[] = [
  ...valueRoutes,
  get('/admin', inAdmin('users', users)),
  post('/admin/users', inAdmin('users', createUser)),
  post('/admin/users/:id/block', setState('blockUser')),
  post('/admin/users/:id/unblock', setState('unblockUser')),
  get('/admin/runners', inAdmin('runners', runners)),
]
