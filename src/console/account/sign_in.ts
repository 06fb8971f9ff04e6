import { RateLimiterMemory } from 'rate-limiter-flexible'
import { createTokenReader } from '../../access/sign_in.ts'
import { findByPassword } from '../../access/passwords.ts'
import { beginSession, endSession } from '../../access/sessions.ts'
import { Problem, insufficientScope, tooManyRequests } from '../../http/problems.ts'
import { SESSION, VISIT, createCookies, safeReturn } from '../web/cookies.ts'
import { html, type Html } from '../web/html.ts'
import { form } from '../web/parts.ts'
import { get, post, type Ask, type Redirect, type Route, type View } from '../web/page.ts'

/** Failed attempts in ten minutes: of one account from one address, and of one address. Others stay free to sign in. */
const ofAccount = new RateLimiterMemory({ keyPrefix: 'sign-in-account', points: 8, duration: 600 })
const ofAddress = new RateLimiterMemory({ keyPrefix: 'sign-in-address', points: 40, duration: 600 })

const view = (ask: Ask, fault: string | undefined, login = ''): View => ({
  title: 'Sign in',
  status: fault === undefined ? 200 : 422,
  main: html`<div class="narrow">
    <h1>Sign in</h1>
    <p class="lead">With the name and password of your account, or with one of its access tokens.</p>
    <br />
    ${fault !== undefined && html`<div class="note-box bad" role="alert">${fault}</div>`}
    ${form(ask, '/users/sign_in', fields(ask, login), 'box body-form')}
  </div>`,
})

const fields = ({ query, form: sent }: Ask, login: string): Html =>
  html`<div class="body">
    <input
      type="hidden"
      name="return_to"
      value="${safeReturn(query.get('return_to') ?? sent.get('return_to'))}"
    />
    <label class="field"
      >User name or email<input
        type="text"
        name="login"
        value="${login}"
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
    /></label>
    <label class="field"
      >Password<input type="password" name="password" autocomplete="current-password"
    /></label>
    <p class="quiet small">or</p>
    <label class="field"
      >Access token<input type="password" name="token" autocomplete="off" /><small
        >The session ends when the token does. It needs the scope <code>api</code>.</small
      ></label
    >
    <button class="main">Sign in</button>
  </div>`

interface Entered {
  readonly user_id: number
  readonly token_id: number | null
}

/** Throws the interface's Problem for a token that will not do. */
async function byToken({ instance }: Ask, token: string): Promise<Entered | undefined> {
  const { actor, tokenId } = await createTokenReader(instance)(token, undefined, (scopes) => {
    if (!scopes.includes('api')) throw insufficientScope(['api'])
  })
  return actor === null ? undefined : { user_id: actor.id, token_id: tokenId }
}

async function byPassword({ instance, form: sent }: Ask, login: string): Promise<Entered | undefined> {
  if (!instance.settings.get('password_authentication_enabled_for_web')) return undefined
  const id = await findByPassword(instance.db, login, (sent.get('password') ?? '').slice(0, 1_000))
  return id === undefined ? undefined : { user_id: id, token_id: null }
}

async function signIn(ask: Ask): Promise<View | Redirect> {
  const { instance, form: sent, ip, userAgent, viewer } = ask
  const login = (sent.get('login') ?? '').trim().slice(0, 300)
  const token = (sent.get('token') ?? '').trim()
  const keys = [
    [ofAccount, `${ip} ${login.toLowerCase()}`],
    [ofAddress, ip],
  ] as const
  // Counted before the password is compared, so that attempts at once count too; a success takes its own back.
  for (const [bucket, key] of keys)
    await bucket.consume(key).catch(() => {
      throw tooManyRequests({ 'retry-after': '600' })
    })
  const entered = await (token === '' ? byPassword(ask, login) : byToken(ask, token)).catch(
    (error: unknown) => {
      if (error instanceof Problem && error.status < 500) return undefined
      throw error
    },
  )
  if (entered === undefined) return view(ask, 'That name, password or token is not right.', login)
  for (const [bucket, key] of keys) await bucket.reward(key)
  if (viewer !== null) await endSession(instance.db, { id: viewer.sessionId, user_id: viewer.actor.id })
  // A fresh secret each time: one that was planted before is worth nothing.
  const secret = await beginSession(instance.db, { ...entered, ip, user_agent: userAgent })
  const cookies = createCookies(instance.config.url)
  return {
    to: safeReturn(sent.get('return_to')),
    cookies: [cookies.write(SESSION, secret), cookies.clear(VISIT)],
  }
}

async function signOut({ instance, viewer }: Ask): Promise<Redirect> {
  if (viewer !== null) await endSession(instance.db, { id: viewer.sessionId, user_id: viewer.actor.id })
  return { to: '/users/sign_in', cookies: [createCookies(instance.config.url).clear(SESSION)] }
}

export const signInRoutes: readonly Route[] = [
  get('/users/sign_in', async (ask) =>
    ask.viewer === null ? view(ask, undefined) : { to: safeReturn(ask.query.get('return_to')) },
  ),
  post('/users/sign_in', signIn),
  post('/users/sign_out', signOut),
]
