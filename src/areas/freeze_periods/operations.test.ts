import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { pick } from '../../../test/support/shares.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

let project: Project
let maintainer: Someone
before(async () => {
  const { make } = world()
  project = await make.project({ visibility: 'public' })
  maintainer = await make.memberOf('maintainer', { project })
})

const path = (id?: string): string =>
  `/projects/${project.id}/freeze_periods${id === undefined ? '' : `/${id}`}`
const send = (method: 'POST' | 'PUT' | 'DELETE', id?: string, body?: object): Promise<Answered> =>
  world().call(method, path(id), { as: maintainer, ...(body && { body }) })
type Body = Readonly<Record<string, string>>

test('a freeze period keeps its crons trimmed; the time zone is UTC where none is given', async () => {
  const created = await send('POST', undefined, { freeze_start: ' 0 23 * * 5 ', freeze_end: '0 7 * * 1\n' })
  assert.equal(created.status, 201)
  const body = created.body as Body
  assert.deepEqual(Object.keys(body), [
    'id',
    'freeze_start',
    'freeze_end',
    'cron_timezone',
    'created_at',
    'updated_at',
  ])
  assert.deepEqual(
    [body['freeze_start'], body['freeze_end'], body['cron_timezone']],
    ['0 23 * * 5', '0 7 * * 1', 'UTC'],
  )
  assert.deepEqual((await world().get(path(body['id']), maintainer)).body, body)
})

test('freeze periods are listed by creation, the oldest first, in pages', async () => {
  const { make } = world()
  await make.sql(`delete from freeze_periods where project_id = ${project.id}`)
  const one = await send('POST', undefined, { freeze_start: '5 4 * * sun', freeze_end: '0 7 * * 1' })
  const two = await send('POST', undefined, { freeze_start: '5 4 * * 1', freeze_end: '0 7 * * 2' })
  const ids = [one, two].map(({ body }) => (body as Body)['id'])
  await make.sql(`update freeze_periods set created_at = now() - interval '1 day' where id = ${ids[1]}`)
  const list = await world().get(path(), maintainer)
  assert.deepEqual(pick(list, 'id'), ids.toReversed())
  assert.equal(list.headers['x-total'], '2')
  assert.deepEqual(pick(await world().get(`${path()}?per_page=1&page=2`, maintainer), 'id'), [ids[0]])
})

test('only what is given changes, and an empty change is none', async () => {
  const { body } = await send('POST', undefined, { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' })
  const made = body as Body
  const changed = await send('PUT', made['id'], { freeze_end: ' 0 3 * * * ', cron_timezone: 'Europe/Berlin' })
  assert.equal(changed.status, 200)
  const after = changed.body as Body
  assert.deepEqual(after, {
    ...made,
    freeze_end: '0 3 * * *',
    cron_timezone: 'Europe/Berlin',
    updated_at: after['updated_at'],
  })
  assert.equal((await send('PUT', made['id'], {})).status, 200)
})

test('bad crons and time zones are refused in the published words, and nothing is kept', async () => {
  const good = { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' }
  const made = (await send('POST', undefined, good)).body as Body
  const before = await contents(world())
  const cron = [' is invalid syntax']
  const cases = [
    [{ ...good, freeze_end: '0 0 0 * *' }, { freeze_end: cron }],
    [{ ...good, freeze_start: 'soon' }, { freeze_start: cron }],
    [
      { freeze_start: '', freeze_end: '* * * * * *' },
      { freeze_start: cron, freeze_end: cron },
    ],
    [{ ...good, cron_timezone: 'Nowhere' }, { cron_timezone: ['syntax is invalid'] }],
    [
      { ...good, freeze_start: 'x', cron_timezone: '' },
      { freeze_start: cron, cron_timezone: ['syntax is invalid'] },
    ],
  ] as const
  for (const [body, message] of cases)
    for (const answer of [await send('POST', undefined, body), await send('PUT', made['id'], body)])
      assert.deepEqual([answer.status, answer.body], [400, { message }])
  const missing = await send('POST', undefined, { freeze_start: '0 1 * * *' })
  assert.deepEqual([missing.status, missing.body], [400, { error: 'freeze_end is missing' }])
  assert.equal(await contents(world()), before)
})

test('a deleted freeze period is gone, and one of another project is not found', async () => {
  const { make } = world()
  const made = (await send('POST', undefined, { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' }))
    .body as Body
  const other = await make.project({ visibility: 'public' })
  await make.member(maintainer, 'maintainer', { project: other })
  const elsewhere = `/projects/${other.id}/freeze_periods/${made['id']}`
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    assert.deepEqual((await world().call(method, elsewhere, { as: maintainer })).body, {
      message: '404 Not found',
    })
  const removed = await send('DELETE', made['id'])
  assert.deepEqual([removed.status, removed.text], [204, ''])
  assert.equal((await send('DELETE', made['id'])).status, 404)
})
