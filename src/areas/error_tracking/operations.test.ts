import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { freshenTokens, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'
import { setFeature } from '../../core/settings/settings.ts'

let project: Project
let maintainer: Someone
const world = sharedWorld(async ({ make }) => {
  project = await make.project()
  maintainer = await make.memberOf('maintainer', { project })
})
before(() => rowsOf(world(), 'delete from error_tracking_settings'))

interface Key {
  readonly id: number
  readonly active: boolean
  readonly public_key: string
  readonly sentry_dsn: string
}

const call = (
  method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Answered> =>
  world().call(method, `/projects/${project.id}/error_tracking/${path}`, {
    as: maintainer,
    ...(body && { body }),
  })
const integrated = (active: boolean, on: boolean): object => ({
  active,
  project_name: null,
  tracker_external_url: null,
  sentry_external_url: null,
  api_url: null,
  integrated: on,
})

test('settings are absent until a PUT makes them, and a PATCH makes none', async () => {
  for (const answer of [await call('GET', 'settings'), await call('PATCH', 'settings', { active: true })])
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Error Tracking Setting Not Found' }])
  const made = await call('PUT', 'settings', { active: true, integrated: true })
  assert.deepEqual([made.status, made.body], [200, integrated(true, true)])
  assert.deepEqual((await call('GET', 'settings')).body, integrated(true, true))
  assert.deepEqual(
    (await call('PUT', 'settings', { active: false, integrated: false })).body,
    integrated(false, false),
  )
})

test('a PATCH switches error tracking on or off and leaves integrated unless it names it', async () => {
  await call('PUT', 'settings', { active: false, integrated: true })
  assert.deepEqual((await call('PATCH', 'settings', { active: true })).body, integrated(true, true))
  const both = await call('PATCH', 'settings', { active: false, integrated: false })
  assert.deepEqual([both.status, both.body], [200, integrated(false, false)])
})

test('missing, empty and invalid values are named', async () => {
  const rows: ['PUT' | 'PATCH', object, string][] = [
    ['PATCH', {}, 'active is missing'],
    ['PATCH', { active: '' }, 'active is empty'],
    ['PATCH', { active: 'randomstring' }, 'active is invalid'],
    ['PATCH', { active: true, integrated: 'x' }, 'integrated is invalid'],
    ['PUT', { active: true }, 'integrated is missing'],
    ['PUT', { integrated: true }, 'active is missing'],
    ['PUT', { active: 'x', integrated: 'y' }, 'active is invalid, integrated is invalid'],
    ['PUT', { active: true, integrated: '' }, 'integrated is empty'],
  ]
  for (const [method, body, error] of rows) {
    const answer = await call(method, 'settings', body)
    assert.deepEqual([answer.status, answer.body], [400, { error }], JSON.stringify(body))
  }
})

test('a client sends settings in the query, beside an empty body', async () => {
  const answer = await world().call('PUT', `/projects/${project.id}/error_tracking/settings`, {
    as: maintainer,
    query: { active: 'true', integrated: 'true' },
    body: {},
  })
  assert.deepEqual([answer.status, answer.body], [200, integrated(true, true)])
})

test('while integrated error tracking is off a PUT is absent and integrated reads false', async () => {
  await call('PUT', 'settings', { active: true, integrated: true })
  const { db, settings } = world().opened.instance
  await setFeature(db, 'integrated_error_tracking', false)
  await settings.reload()
  try {
    assert.equal((await call('PUT', 'settings', { active: true, integrated: true })).status, 404)
    assert.deepEqual((await call('GET', 'settings')).body, integrated(true, false))
  } finally {
    await setFeature(db, 'integrated_error_tracking', true)
    await settings.reload()
  }
})

test('a client key is generated, listed with its DSN, and deleted with itself as the answer', async () => {
  const made = await call('POST', 'client_keys')
  assert.equal(made.status, 201, made.text)
  const key = made.body as Key
  assert.match(key.public_key, /^glet_[0-9a-f]{32}$/)
  assert.deepEqual(key, {
    id: key.id,
    active: true,
    public_key: key.public_key,
    sentry_dsn: `https://${key.public_key}@guild.example/api/v4/error_tracking/collector/${project.id}`,
  })
  const list = await call('GET', 'client_keys')
  assert.deepEqual([list.status, list.body, list.headers['x-total']], [200, [key], '1'])
  const gone = await call('DELETE', `client_keys/${key.id}`)
  assert.deepEqual([gone.status, gone.body], [200, key])
  const again = await call('DELETE', `client_keys/${key.id}`)
  assert.deepEqual([again.status, again.body], [404, { message: '404 Not found' }])
})

test('keys are paged in the order they were made', async () => {
  const made: unknown[] = []
  for (let n = 0; n < 3; n++) made.push((await call('POST', 'client_keys')).body)
  const page = await call('GET', 'client_keys?per_page=2&page=2')
  assert.deepEqual(page.body, made.slice(2))
  assert.deepEqual([page.headers['x-total'], page.headers['x-next-page']], ['3', ''])
})

test('a key of another project is not found', async () => {
  const { id } = (await call('POST', 'client_keys')).body as Key
  const other = await world().make.project()
  await world().make.member(maintainer, 'maintainer', { project: other })
  const answer = await world().call('DELETE', `/projects/${other.id}/error_tracking/client_keys/${id}`, {
    as: maintainer,
  })
  assert.deepEqual([answer.status, answer.body], [404, { message: '404 Not found' }])
})

test('the database holds a key encrypted and as a digest, never as it is', async () => {
  const { id, public_key } = (await call('POST', 'client_keys')).body as Key
  const [row] = await rowsOf(
    world(),
    'select k::text as row from error_tracking_client_keys k where id = $1',
    [id],
  )
  const text = String(row?.['row'])
  const hex = Buffer.from(public_key).toString('hex')
  assert.ok(!text.includes(public_key) && !text.includes(hex), text)
})

test('listing keys costs two statements, for one key as for a hundred', async () => {
  await freshenTokens(world(), maintainer)
  const few = await world().statements(() => call('GET', 'client_keys?per_page=1'))
  await world().make.sql(`
    insert into error_tracking_client_keys (project_id, digest, sealed)
    select project_id, sha256(n::text::bytea), sealed
      from (select * from error_tracking_client_keys limit 1) k, generate_series(1, 99) n`)
  const many = await world().statements(() => call('GET', 'client_keys?per_page=100'))
  assert.deepEqual([few.length, many.length], [2, 2])
})

test('of thirty who delete a key at once one does', async () => {
  const { id } = (await call('POST', 'client_keys')).body as Key
  const answers = await Promise.all(Array.from({ length: 30 }, () => call('DELETE', `client_keys/${id}`)))
  const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
  assert.deepEqual([count(200), count(404)], [1, 29])
})
