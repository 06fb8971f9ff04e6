import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConsoleClient } from '../../../test/support/console_client.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
let user: Someone
const PASSWORD = 'correct horse battery'
const COOKIE = '__Host-guildhall_session'
before(async () => {
  world = await openWorld()
  user = await world.make.user({ name: 'Vera Holm' })
  const admin = await world.make.admin()
  const { status } = await world.call('PUT', `/users/${user.id}`, { as: admin, body: { password: PASSWORD } })
  assert.equal(status, 200)
})
after(() => world.close())

const byPassword = async (fields: Record<string, string> = {}, headers: Record<string, string> = {}) => {
  const client = createConsoleClient(world)
  const answer = await client.submit(
    '/users/sign_in',
    '/users/sign_in',
    { login: user.username, password: PASSWORD, ...fields },
    headers,
  )
  return { client, answer }
}

test('a name or address with its password opens a session, and signing out ends it on the server', async () => {
  const { client, answer } = await byPassword()
  assert.equal(answer.status, 303, answer.text)
  const cookie = [answer.headers['set-cookie']].flat().find((text) => text?.startsWith(COOKIE))
  assert.match(cookie ?? '', /; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
  assert.match((await client.get('/dashboard')).text, /Vera Holm, nothing waits for you/)
  const kept = client.cookies.get(COOKIE) ?? ''
  assert.equal((await client.submit('/dashboard', '/users/sign_out', {})).status, 303)
  const again = createConsoleClient(world)
  again.cookies.set(COOKIE, kept)
  assert.equal((await again.get('/dashboard')).headers['location'], '/explore')
  assert.equal((await byPassword({ login: user.email.toUpperCase() })).answer.status, 303)
})

test('a wrong password, an unknown name and a blocked user are refused in the same words', async () => {
  const blocked = await world.make.user()
  const admin = await world.make.admin()
  await world.call('PUT', `/users/${blocked.id}`, { as: admin, body: { password: PASSWORD } })
  await world.call('POST', `/users/${blocked.id}/block`, { as: admin })
  for (const fields of [
    { password: 'wrong password' },
    { login: 'absent-user' },
    { login: blocked.username },
  ]) {
    const { answer } = await byPassword(fields)
    assert.equal(answer.status, 422)
    assert.match(answer.text, /That name, password or token is not right\./)
  }
})

test('a token opens a session that ends with it, and makes no token or password', async () => {
  const client = createConsoleClient(world)
  const token = await world.make.token(user, { scopes: ['api'] })
  await client.signIn(token)
  for (const [action, fields] of [
    ['/-/profile/tokens', { name: 'more', scopes: 'api' }],
    ['/-/profile/password', { password: 'another password' }],
  ] as const)
    assert.equal((await client.submit('/-/profile', action, fields)).status, 403)
  await world.call('DELETE', '/personal_access_tokens/self', { headers: { 'private-token': token } })
  assert.equal((await client.get('/-/profile')).status, 303)
  const readOnly = await world.make.token(user, { scopes: ['read_api'] })
  await assert.rejects(createConsoleClient(world).signIn(readOnly), /422/)
})

test('repeated failures of one account are throttled without locking the account elsewhere', async () => {
  const victim = await world.make.user()
  const statuses: number[] = []
  for (let i = 0; i < 10; i++)
    statuses.push((await byPassword({ login: victim.username, password: 'x' })).answer.status)
  assert.deepEqual(statuses.slice(-2), [429, 429])
  assert.equal((await byPassword()).answer.status, 303)
})

test('a session id that was planted before the sign-in is not taken over', async () => {
  const client = createConsoleClient(world)
  client.cookies.set(COOKIE, 'planted')
  await client.signIn(user.token)
  assert.notEqual(client.cookies.get(COOKIE), 'planted')
  const first = client.cookies.get(COOKIE)
  await client.signIn(user.token).catch(() => {})
  const { status } = await client.submit('/dashboard', '/users/sign_in', { token: user.token })
  assert.equal(status, 303)
  assert.notEqual(client.cookies.get(COOKIE), first)
})

test('a form without its proof, of another session or of another origin changes nothing', async () => {
  const { client } = await byPassword()
  const other = await byPassword()
  const proof = /name="csrf" value="([^"]+)"/.exec((await other.client.get('/-/profile')).text)?.[1] ?? ''
  for (const [fields, headers] of [
    [{}, {}],
    [{ csrf: 'x' }, {}],
    [{ csrf: proof }, {}],
  ] as const)
    assert.equal((await client.post('/-/profile/name', { name: 'Mallory', ...fields }, headers)).status, 403)
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    assert.equal(
      (
        await client.submit(
          '/-/profile',
          '/-/profile/name',
          { name: 'Mallory' },
          headers as Record<string, string>,
        )
      ).status,
      403,
    )
  const me = await world.get('/user', user)
  assert.equal((me.body as { name: string }).name, 'Vera Holm')
})

test('signing in leads to paths of this server only', async () => {
  const to = async (path: string): Promise<unknown> =>
    (await byPassword({ return_to: path })).answer.headers['location']
  assert.equal(await to('/groups/a?x=1'), '/groups/a?x=1')
  for (const path of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/%0d%0a//evil',
    '',
  ])
    assert.ok(['/', '/%0d%0a//evil'].includes(String(await to(path))), path)
})

test('a person changes name and password, and makes and revokes a token that is shown once', async () => {
  const { client } = await byPassword()
  const { client: elsewhere } = await byPassword()
  await client.submit('/-/profile', '/-/profile/name', { name: 'Vera Holm-Lind' })
  assert.equal(((await world.get('/user', user)).body as { name: string }).name, 'Vera Holm-Lind')
  const shown = await client.submit('/-/profile', '/-/profile/tokens', {
    name: 'laptop',
    scopes: 'api',
    expires_at: '',
  })
  const token = /<code id="token">([^<]+)</.exec(shown.text)?.[1] ?? ''
  assert.equal((await world.call('GET', '/user', { headers: { 'private-token': token } })).status, 200)
  const { text } = await client.get('/-/profile')
  assert.ok(!text.includes(token))
  const [, id] = /laptop[\s\S]*?\/-\/profile\/tokens\/(\d+)\/revoke/.exec(text) ?? []
  await client.submit('/-/profile', `/-/profile/tokens/${id}/revoke`, {})
  assert.equal((await world.call('GET', '/user', { headers: { 'private-token': token } })).status, 401)
  assert.equal(
    (await client.submit('/-/profile', '/-/profile/password', { current: 'no', password: 'second password' }))
      .status,
    422,
  )
  assert.equal(
    (
      await client.submit('/-/profile', '/-/profile/password', {
        current: PASSWORD,
        password: 'second password',
      })
    ).status,
    303,
  )
  assert.equal((await client.get('/-/profile')).status, 200)
  assert.equal((await elsewhere.get('/-/profile')).status, 303)
  assert.equal((await byPassword({ password: 'second password' })).answer.status, 303)
})

test('administrators create users, block them and change settings and limits; to others the area is not there', async () => {
  const admin = await world.make.admin()
  const client = createConsoleClient(world)
  await client.signIn(admin.token)
  for (const page of ['/admin', '/admin/settings', '/admin/limits', '/admin/runners'])
    assert.equal((await client.get(page)).status, 200, page)
  const fields = { username: 'made-here', name: 'Made Here', email: 'made@example.com', password: PASSWORD }
  assert.equal((await client.submit('/admin', '/admin/users', fields)).status, 303)
  assert.equal((await byPassword({ login: 'made-here' })).answer.status, 303)
  const [made] = (await world.get('/users?username=made-here', admin)).body as { id: number }[]
  await client.submit('/admin', `/admin/users/${made?.id}/block`, {})
  assert.equal((await byPassword({ login: 'made-here' })).answer.status, 422)
  await client.submit('/admin/limits', '/admin/limits', { plan_name: 'default', ci_pipeline_size: '77' })
  const limits = (await world.get('/application/plan_limits', admin)).body as Record<string, number>
  assert.equal(limits['ci_pipeline_size'], 77)
  await client.submit('/admin/settings', '/admin/settings', { home_page_url: 'https://harbour.example' })
  const settings = (await world.get('/application/settings', admin)).body as Record<string, unknown>
  assert.equal(settings['home_page_url'], 'https://harbour.example')
  const { client: other } = await byPassword({ password: 'second password' })
  assert.equal((await other.get('/admin')).status, 404)
  assert.equal((await other.submit('/dashboard', '/admin/users', fields)).status, 404)
})
