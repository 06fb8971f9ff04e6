import { hasPassword } from '../../access/passwords.ts'
import { sessionsOf, type SessionRow } from '../../access/sessions.ts'
import { SCOPES } from '../../access/tokens.ts'
import { html, type Html } from '../web/html.ts'
import type { Ask, View, Viewer } from '../web/page.ts'
import { ago, badge, day, empty, form } from '../web/parts.ts'

interface Token {
  readonly id: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
}

export type Own = Ask & { readonly viewer: Viewer }

const LIFETIME_DAYS = 365
const inDays = (now: Date, days: number): string =>
  new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10)

const tokenForm = (ask: Own): Html =>
  form(
    ask,
    '/-/profile/tokens',
    html`<div class="body">
      <label class="field"
        >Name<input type="text" name="name" required maxlength="255" /><small>What it is for</small></label
      >
      <label class="field"
        >Last day<input
          type="date"
          name="expires_at"
          value="${inDays(ask.now, LIFETIME_DAYS)}"
          min="${inDays(ask.now, 1)}"
      /></label>
      <fieldset>
        <legend>Scopes</legend>
        ${SCOPES.filter((scope) => scope !== 'admin_mode' && scope !== 'ai_features' && scope !== 'k8s_proxy').map((scope) => html`<label class="check"><input type="checkbox" name="scopes" value="${scope}" /><code>${scope}</code></label>`)}
      </fieldset>
      <button class="main">Create token</button>
    </div>`,
    'box',
  )

const tokenRow = (ask: Own, token: Token): Html =>
  html`<li>
    <div class="grow">
      <strong>${token.name}</strong>
      <div class="meta">
        <span>${token.scopes.join(', ')}</span
        ><span>${token.expires_at ? `until ${day(token.expires_at)}` : 'without an end'}</span
        ><span>${token.last_used_at ? html`used ${ago(token.last_used_at, ask.now)}` : 'never used'}</span>
      </div>
    </div>
    ${form(ask, `/-/profile/tokens/${token.id}/revoke`, html`<button class="small danger">Revoke</button>`)}
  </li>`

interface Shown {
  readonly token?: string
  readonly fault?: string
}

/** The page of the viewer's own account, with what was just made or refused. */
export async function view(ask: Own, shown: Shown = {}): Promise<View> {
  const { viewer, call, instance } = ask
  const { id } = viewer.actor
  const [tokens, sessions, known] = await Promise.all([
    call.list<Token>('listPersonalAccessTokens', { user_id: id, state: 'active', per_page: 100 }),
    sessionsOf(instance.db, id),
    hasPassword(instance.db, id, ''),
  ])
  return {
    title: 'Settings',
    status: shown.fault === undefined ? 200 : 422,
    main: html`<div class="head"><h1>Settings</h1></div>
      ${said(shown)}
      <section>
        <h2>Name</h2>
        ${form(ask, '/-/profile/name', nameFields(viewer.actor.name), 'box')}
      </section>
      <section>
        <h2>Password</h2>
        ${passwordPart(ask, known !== undefined)}
      </section>
      <section>
        <h2>Access tokens</h2>
        ${tokenList(ask, tokens.items)}<br />${viewer.tokenId === null && tokenForm(ask)}
      </section>
      <section>
        <h2>Sessions</h2>
        <ul class="rows">
          ${sessions.map((session) => sessionRow(ask, session))}
        </ul>
      </section>`,
  }
}

const said = ({ token, fault }: Shown): Html =>
  html`${fault !== undefined && html`<div class="note-box bad" role="alert">${fault}</div>`}
  ${
    token !== undefined &&
    html`<div class="note-box" role="status">
      <p>Keep this token now: it is not shown again.</p>
      <code id="token">${token}</code>
    </div>`
  }`

const nameFields = (name: string): Html =>
  html`<div class="body">
    <label class="field"
      >Name for people<input
        type="text"
        name="name"
        value="${name}"
        required
        maxlength="255"
        autocomplete="name" /></label
    ><button>Save</button>
  </div>`

const FROM_TOKEN =
  'This session was opened with a token. Sign in with your password to change it; an administrator gives you your first one.'

function passwordPart(ask: Own, hasOne: boolean): Html {
  if (ask.viewer.tokenId !== null) return empty(FROM_TOKEN)
  const field = (text: string, name: string, complete: string): Html =>
    html`<label class="field"
      >${text}<input type="password" name="${name}" autocomplete="${complete}" maxlength="128" required
    /></label>`
  return form(
    ask,
    '/-/profile/password',
    html`<div class="body">
      ${hasOne && field('Current password', 'current', 'current-password')}${field('New password', 'password', 'new-password')}<button>
        Change password
      </button>
    </div>`,
    'box',
  )
}

const tokenList = (ask: Own, tokens: readonly Token[]): Html =>
  tokens.length === 0
    ? empty('You have no active token.')
    : html`<ul class="rows">
        ${tokens.map((token) => tokenRow(ask, token))}
      </ul>`

const sessionRow = (ask: Own, session: SessionRow): Html =>
  html`<li>
    <div class="grow">
      <span>${session.user_agent.slice(0, 120) || 'An unnamed browser'}</span>
      <div class="meta">
        <span>${session.ip}</span><span>used ${ago(session.last_used_at.toISOString(), ask.now)}</span>
      </div>
    </div>
    ${session.id === ask.viewer.sessionId ? badge('active', 'this one') : form(ask, `/-/profile/sessions/${session.id}/end`, html`<button class="small">End</button>`)}
  </li>`
