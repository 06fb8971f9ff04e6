import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let admin: Someone
let user: Someone
const world = sharedWorld(async ({ make }) => {
  admin = await make.user({ admin: true })
  user = await make.user()
})

const names = async (path: string, query: Record<string, string>, as = admin): Promise<string[]> => {
  const answer = await world().call('GET', path, { as, query: { per_page: '100', ...query } })
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as { path?: string; username: string }[]).map((one) => one.path ?? one.username)
}
const create = async (
  body: object,
): Promise<{ status: number; id: number; identities: unknown; message: unknown }> => {
  const username = `new${Math.random().toString(36).slice(2)}`
  const answer = await world().call('POST', '/users', {
    as: admin,
    body: { email: `${username}@x.example`, username, name: username, reset_password: true, ...body },
  })
  return { status: answer.status, ...(answer.body as { id: number; identities: unknown; message: unknown }) }
}

test('identities of users are kept, shown to administrators and found', async () => {
  const ada = await create({ provider: 'ldapmain', extern_uid: 'uid=ada' })
  assert.deepEqual(ada.identities, [{ provider: 'ldapmain', extern_uid: 'uid=ada' }])
  const path = `/users/${ada.id}`
  const put = await world().call('PUT', path, { as: admin, body: { provider: 'saml', extern_uid: '7' } })
  const both = [
    { provider: 'ldapmain', extern_uid: 'uid=ada' },
    { provider: 'saml', extern_uid: '7' },
  ]
  assert.deepEqual((put.body as { identities: unknown }).identities, both)
  await world().call('PUT', path, { as: admin, body: { provider: 'saml', extern_uid: '8' } })
  const shown = (await world().get(path, admin)).body as { identities: unknown; username: string }
  assert.deepEqual(shown.identities, [both[0], { provider: 'saml', extern_uid: '8' }])
  assert.equal('identities' in ((await world().get(path, user)).body as object), false)
  assert.deepEqual(await names('/users', { provider: 'saml', extern_uid: '8' }), [shown.username])
  assert.deepEqual(await names('/users', { provider: 'saml', extern_uid: '7' }), [])
})

test('an identity is one user’s, and has both parts', async () => {
  assert.equal((await create({ provider: 'ldapmain', extern_uid: 'uid=bo' })).status, 201)
  const again = await create({ provider: 'ldapmain', extern_uid: 'UID=bo' })
  assert.deepEqual(
    [again.status, again.message],
    [400, { 'identities.extern_uid': ['has already been taken'] }],
  )
  assert.equal((await create({ provider: 'ldapmain' })).status, 400)
})

test('administrators filter projects, groups and users by custom attributes; others’ filter has no effect', async () => {
  const { make } = world()
  const group = await make.group({ path: 'attributed', visibility: 'public' })
  await make.group({ path: 'plain', visibility: 'public' })
  const project = await make.project({ visibility: 'public' })
  const other = await make.project({ visibility: 'public' })
  await make.sql(`
    update namespaces set custom_attributes = '{"tier":"gold","region":"eu"}' where id = ${group.id};
    update projects set custom_attributes = '{"tier":"gold"}' where id = ${project.id}`)
  const [gold, none] = [{ 'custom_attributes[tier]': 'gold' }, { 'custom_attributes[tier]': 'tin' }]
  assert.deepEqual(await names('/groups', gold), ['attributed'])
  assert.deepEqual(await names('/groups', { ...gold, 'custom_attributes[region]': 'us' }), [])
  assert.deepEqual(await names('/projects', gold), [project.path])
  assert.deepEqual(await names('/projects', none), [])
  assert.deepEqual(await names('/users', none), [])
  assert.ok((await names('/groups', { ...none, all_available: 'true' }, user)).includes('plain'))
  assert.ok((await names('/projects', none, user)).includes(other.path))
  assert.ok((await names('/users', none, user)).includes(user.username))
})
