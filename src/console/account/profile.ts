import { setPassword, hasPassword } from '../../access/passwords.ts'
import { beginSession, endSession } from '../../access/sessions.ts'
import { issueToken } from '../../access/token_making.ts'
import { SCOPES, type Scope } from '../../access/tokens.ts'
import { renameUser } from '../../core/people/own_profile.ts'
import { lengthFaults } from '../../core/values/lengths.ts'
import { forbidden, refused } from '../../http/problems.ts'
import { SESSION, createCookies } from '../web/cookies.ts'
import { get, post, type Page, type Redirect, type Reply, type Route, type View } from '../web/page.ts'
import { view, type Own } from './profile_view.ts'

/** A page of the viewer's own account. */
const own =
  (page: (ask: Own) => Promise<Reply>): Page =>
  async (ask) =>
    ask.viewer === null
      ? { to: `/users/sign_in?return_to=${encodeURIComponent(ask.pathname)}` }
      : page({ ...ask, viewer: ask.viewer })

/** A stolen token must not make itself another one, or a password. */
function checkSignedIn({ viewer }: Own): void {
  if (viewer.tokenId !== null) throw forbidden('sign in with your password to do this')
}

async function changeName(ask: Own): Promise<Redirect> {
  const name = (ask.form.get('name') ?? '').trim()
  const [fault] = lengthFaults(name, 255)
  if (name === '' || fault) throw refused(`Name ${fault ?? "can't be blank"}`)
  await renameUser(ask.instance.db, ask.viewer.actor.id, name)
  return { to: '/-/profile' }
}

async function changePassword(ask: Own): Promise<Reply> {
  checkSignedIn(ask)
  const { instance, viewer, form: sent, ip, userAgent } = ask
  const password = sent.get('password') ?? ''
  const held = await hasPassword(instance.db, viewer.actor.id, (sent.get('current') ?? '').slice(0, 1_000))
  if (held === false) return view(ask, { fault: 'The current password is not right.' })
  if (password.length < 8 || password.length > 128)
    return view(ask, { fault: 'A password has 8 to 128 characters.' })
  const secret = await instance.db.transaction(async (db) => {
    // All sessions end, and this one goes on under another secret.
    await setPassword(db, viewer.actor.id, password)
    return beginSession(db, { user_id: viewer.actor.id, token_id: null, ip, user_agent: userAgent })
  })
  return { to: '/-/profile', cookies: [createCookies(instance.config.url).write(SESSION, secret)] }
}

const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text)

async function createToken(ask: Own): Promise<View> {
  checkSignedIn(ask)
  const { instance, viewer, form: sent, now } = ask
  const name = (sent.get('name') ?? '').trim().slice(0, 255)
  const expires_at = sent.get('expires_at') ?? ''
  if (name === '') throw refused("Name can't be blank")
  if (expires_at !== '' && !/^\d{4}-\d\d-\d\d$/.test(expires_at)) throw refused('The last day is no date')
  const scopes = sent.getAll('scopes').filter(isScope)
  const made = await instance.db.transaction((db) =>
    issueToken(
      { db, settings: instance.settings, now },
      { user_id: viewer.actor.id, name, scopes, expires_at: expires_at || undefined },
    ),
  )
  return view(ask, { token: made.token })
}

async function revokeToken({ call, at }: Own): Promise<Redirect> {
  await call.one('revokePersonalAccessToken', { token_id: at['id'] })
  return { to: '/-/profile' }
}

async function endOther({ instance, viewer, at }: Own): Promise<Redirect> {
  const id = Number(at['id'])
  if (Number.isSafeInteger(id)) await endSession(instance.db, { id, user_id: viewer.actor.id })
  return { to: '/-/profile' }
}

export const profileRoutes: readonly Route[] = [
  get(
    '/-/profile',
    own((ask) => view(ask)),
  ),
  post('/-/profile/name', own(changeName)),
  post('/-/profile/password', own(changePassword)),
  post('/-/profile/tokens', own(createToken)),
  post('/-/profile/tokens/:id/revoke', own(revokeToken)),
  post('/-/profile/sessions/:id/end', own(endOther)),
]
