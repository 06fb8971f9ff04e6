/* The message that the unmodified client shows when the server refuses. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

test('its errors carry the words of a record that is not there', async () => {
  const { projectId, as } = harbour
  const root = as('root')
  assert.deepEqual(await errorOf(root.Groups.show('nowhere')), {
    status: 404,
    message: '404 Group Not Found',
  })
  assert.deepEqual(await errorOf(root.Namespaces.show('nowhere')), {
    status: 404,
    message: '404 Namespace Not Found',
  })
  assert.deepEqual(await errorOf(root.Commits.all('no/where')), {
    status: 404,
    message: '404 Project Not Found',
  })
  assert.deepEqual(await errorOf(root.Commits.show(projectId, 'nothing')), {
    status: 404,
    message: '404 Commit Not Found',
  })
  assert.deepEqual(await errorOf(root.ProjectAliases.remove('nothing')), {
    status: 404,
    message: '404 Not found',
  })
})

test('to a stranger a private group is as absent as one that never was', async () => {
  const { as } = harbour
  const stranger = as('stranger')
  const hidden = await errorOf(stranger.Groups.show('harbour-09'))
  assert.deepEqual(hidden, await errorOf(stranger.Groups.show('harbour-99')))
  assert.deepEqual(hidden, { status: 404, message: '404 Group Not Found' })
})

test('its errors carry the words of a caller who is nobody', async () => {
  const { clientFor } = harbour
  const refused = { status: 401, message: '401 Unauthorized' }
  assert.deepEqual(await errorOf(clientFor().Namespaces.all()), refused)
  assert.deepEqual(await errorOf(clientFor().GroupLabels.all('harbour')), refused)
  assert.deepEqual(await errorOf(clientFor('glpat-wrong').Groups.all()), refused)
})

test('its errors carry the words of a caller who may not', async () => {
  const { as } = harbour
  const refused = { status: 403, message: '403 Forbidden' }
  const stranger = as('stranger')
  assert.deepEqual(await errorOf(stranger.GroupLabels.create('harbour', 'mine', '#000000')), refused)
  assert.deepEqual(await errorOf(stranger.ProjectAliases.all()), refused)
  assert.deepEqual(await errorOf(as('owner').ApplicationPlanLimits.show()), refused)
  assert.deepEqual(await as('owner').GroupLabels.all('harbour'), [])
})

test('its errors carry the words of a read-only token, and of a conflict', async () => {
  const { place, groupId, clientFor, as } = harbour
  const args = ['--user', 'root', '--scopes', 'read_api']
  const reader = clientFor(String((await place.json(['token', 'create', ...args]))['token']))
  assert.equal((await reader.Groups.show('harbour')).id, groupId)
  assert.deepEqual(await errorOf(reader.GroupLabels.create('harbour', 'x', '#000000')), {
    status: 403,
    message: 'insufficient_scope',
  })
  const { GroupLabels } = as('owner')
  await GroupLabels.create('harbour', 'once', '#000000')
  assert.deepEqual(await errorOf(GroupLabels.create('harbour', 'once', '#000000')), {
    status: 409,
    message: 'Label already exists',
  })
  await GroupLabels.remove('harbour', 'once')
})

test('its errors carry what is wrong with a parameter, and with a record', async () => {
  const { projectId, as } = harbour
  const { GroupLabels, Groups, ApplicationPlanLimits, Commits } = as('root')
  const faults: [() => Promise<unknown>, string][] = [
    [() => GroupLabels.create('harbour', 'x', 'no colour'), '{"color":["must be a valid color code"]}'],
    [() => GroupLabels.create('harbour', 'a,b', 'red'), '{"title":["is invalid"]}'],
    [() => GroupLabels.create('harbour', undefined as unknown as string, 'red'), 'name is missing'],
    [() => Groups.all({ visibility: 'secret' as 'public' }), 'visibility does not have a valid value'],
    [() => Groups.all({ minAccessLevel: 'high' as never }), 'min_access_level is invalid'],
    [
      () => ApplicationPlanLimits.edit('default', { ciActiveJobs: -1 }),
      '{"ci_active_jobs":["must be greater than or equal to 0"]}',
    ],
    [
      () => ApplicationPlanLimits.edit('nothing', { ciActiveJobs: 1 }),
      'plan_name does not have a valid value',
    ],
    [() => Commits.all(projectId, { refName: '--all' }), 'ref_name is invalid'],
  ]
  for (const [work, message] of faults) assert.deepEqual(await errorOf(work()), { status: 400, message })
})

test('its own wrong path for label subscriptions is told apart from a missing label', async () => {
  const { as } = harbour
  const { GroupLabels } = as('owner')
  const { id } = await GroupLabels.create('harbour', 'followed', 'red')
  assert.deepEqual(await errorOf(GroupLabels.subscribe('harbour', id)), {
    status: 404,
    message: '404 Not Found',
  })
  assert.equal((await GroupLabels.show('harbour', id)).subscribed, false)
  await GroupLabels.remove('harbour', id)
})

test('past its allowance the client hears of the rate limit', async () => {
  const { place, groupId, as } = harbour
  const throttle = 'throttle_authenticated_api'
  await place.json(['setting', 'set', `${throttle}_requests_per_period`, '3'])
  await place.json(['setting', 'set', `${throttle}_enabled`, 'true'])
  const { Groups } = as('stranger')
  for (let i = 0; i < 3; i += 1) await Groups.show('harbour')
  await assert.rejects(Groups.show('harbour'), {
    name: 'GitbeakerRetryError',
    message: /after 10 retries, last status code: 429/,
  })
  await place.json(['setting', 'set', `${throttle}_enabled`, 'false'])
  assert.equal((await Groups.show('harbour')).id, groupId)
})
