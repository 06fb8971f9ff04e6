import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import { linkMergeRequests } from '../../ci/environments/deployment_links.ts'
import { makePipeline } from '../../../test/support/ci_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { plannedJob } from '../../../test/support/planned_jobs.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()
let shop: Workshop
let developer: Someone
before(async () => {
  shop = await openWorkshop(world())
  developer = await world().make.memberOf('developer', { project: shop.project })
  await shop.commit('main', { 'a.txt': 'a' })
})
beforeEach(() => rowsOf(world(), 'delete from environments where project_id = $1', [shop.project.id]))

const path = (more = ''): string => `/projects/${shop.project.id}/deployments${more}`
type Method = 'POST' | 'PUT' | 'DELETE'
const send = (method: Method, more: string, body?: object, as = developer): Promise<Answered> =>
  world().call(method, path(more), { as, ...(body && { body }) })
const get = (more = ''): Promise<Answered> => world().get(path(more), developer)
const said = ({ status, body }: Answered): unknown[] => [status, body]
type Body = { readonly id: number } & Readonly<Record<string, unknown>>
const told = async (more: object = {}): Promise<object> => ({
  environment: 'production',
  sha: await shop.tip('main'),
  ref: 'main',
  tag: false,
  status: 'success',
  ...more,
})
async function create(more: object = {}): Promise<Body> {
  const answer = await send('POST', '', await told(more))
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body
}
const stateOf = async (): Promise<unknown> =>
  (await rowsOf(world(), 'select state from environments where project_id = $1', [shop.project.id]))[0]?.[
    'state'
  ]

test('a deployment has its published fields, and makes and starts its environment', async () => {
  const made = await create()
  assert.equal(
    Object.keys(made).join(' '),
    'id iid ref sha created_at updated_at user deployable status environment',
  )
  assert.deepEqual(
    [made['ref'], made['sha'], made['status'], made['deployable'], (made['user'] as Body).id],
    ['main', await shop.tip('main'), 'success', null, developer.id],
  )
  const environment = made['environment'] as Body
  assert.equal(Object.keys(environment).join(' '), 'id name slug external_url created_at updated_at')
  assert.deepEqual((await get(`/${made.id}`)).body, made)
  assert.deepEqual((await get()).body, [made])
  await rowsOf(world(), "update environments set state = 'stopped' where project_id = $1", [shop.project.id])
  const failed = await create({ status: 'failed' })
  assert.deepEqual([failed['iid'], await stateOf()], [Number(made['iid']) + 1, 'stopped'])
  await create({ sha: 'main' })
  assert.equal(await stateOf(), 'available')
})

test('a deployment of nothing deployable is refused in the published words, and makes no environment', async () => {
  const commit = ['The commit does not exist']
  const ref = ['The branch or tag does not exist']
  for (const [more, text] of [
    [{ sha: 'none' }, { message: { sha: commit } }],
    [{ ref: 'none' }, { message: { ref } }],
    [{ sha: 'f'.repeat(40), ref: 'none' }, { message: { sha: commit, ref } }],
    [{ sha: '' }, { error: 'sha is empty' }],
    [{ environment: '' }, { error: 'environment is empty' }],
    [{ status: 'created' }, { error: 'status does not have a valid value' }],
    [{ environment: 'a'.repeat(300) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
  ] as const)
    assert.deepEqual(said(await send('POST', '', await told(more))), [400, text], JSON.stringify(more))
  assert.equal(await stateOf(), undefined)
})

test('deployments are ordered and filtered; filters by time need their order', async () => {
  const one = await create()
  const two = await create({ environment: 'eu', status: 'running' })
  const three = await create({ status: 'failed' })
  const ids = async (query = ''): Promise<unknown[]> => pick(await get(query), 'id')
  assert.deepEqual(await ids(), [one.id, two.id, three.id])
  for (const order of ['id', 'iid', 'created_at', 'updated_at'])
    assert.deepEqual(await ids(`?sort=desc&order_by=${order}`), [three.id, two.id, one.id], order)
  assert.deepEqual(await ids('?order_by=finished_at'), [one.id, three.id, two.id])
  assert.deepEqual(await ids('?order_by=ref'), [three.id, two.id, one.id])
  assert.deepEqual(await ids('?environment=eu'), [two.id])
  assert.deepEqual(await ids('?environment=none'), [])
  assert.deepEqual(await ids('?status=failed&environment=production'), [three.id])
  assert.deepEqual(await ids('?per_page=1&page=2'), [two.id])
  const past = new Date(Date.now() - 60_000).toISOString()
  assert.deepEqual(await ids(`?order_by=updated_at&updated_after=${past}`), [one.id, two.id, three.id])
  assert.deepEqual(await ids(`?order_by=updated_at&updated_before=${past}`), [])
  assert.deepEqual(await ids(`?order_by=finished_at&status=success&finished_after=${past}`), [one.id])
  for (const [query, text] of [
    [`updated_after=${past}`, '`updated_at` filter and `updated_at` sorting must be paired'],
    [
      `finished_after=${past}&status=success`,
      '`finished_at` filter and `finished_at` sorting must be paired',
    ],
    [
      `finished_before=${past}&order_by=finished_at`,
      '`finished_at` filter must be combined with `success` status filter.',
    ],
    [
      `finished_before=${past}&updated_before=${past}`,
      'Both `updated_at` filter and `finished_at` filter can not be specified',
    ],
  ])
    assert.deepEqual(said(await get(`?${query}`)), [400, { message: `400 Bad request - ${text}` }], query)
})

test('a deployment changes its status along the published transitions', async () => {
  const { id } = await create({ status: 'running' })
  const change = (status: string): Promise<Answered> => send('PUT', `/${id}`, { status })
  const text = (event: string): unknown[] => [
    400,
    { message: { status: [`cannot transition via "${event}"`] } },
  ]
  assert.deepEqual(said(await change('running')), text('run'))
  for (const [status, event] of [
    ['success', 'succeed'],
    ['failed', 'drop'],
    ['canceled', 'cancel'],
  ] as const) {
    const changed = await change(status)
    assert.deepEqual([changed.status, (changed.body as Body)['status']], [200, status])
    assert.deepEqual(said(await change(status)), text(event))
  }
  assert.deepEqual(said(await change('running')), text('run'))
})

test('the deployment of a job is changed by the job alone, and shows it', async () => {
  const environment = { name: 'eu', url: null, on_stop: null, auto_stop_in: null, tier: null }
  await makePipeline(
    world(),
    shop.project,
    [plannedJob({ name: 'deploy', environment: { ...environment, action: 'start' } })],
    { user_id: developer.id },
  )
  const [shown] = (await get()).body as Body[]
  assert.ok(shown)
  assert.equal((shown['deployable'] as Body)['name'], 'deploy')
  const text = '403 Forbidden - Deployments created using GitLab CI can not be updated using the API'
  assert.deepEqual(said(await send('PUT', `/${shown.id}`, { status: 'success' })), [403, { message: text }])
})

test('a deployment that runs or is the last one stays', async () => {
  const first = await create()
  const running = await create({ status: 'running' })
  const last = await create()
  const remove = (id: number): Promise<Answered> => send('DELETE', `/${id}`, undefined, shop.owner)
  assert.deepEqual(said(await remove(running.id)), [400, { message: 'Cannot destroy running deployment' }])
  assert.deepEqual(said(await remove(last.id)), [
    400,
    { message: 'Deployment currently deployed to environment' },
  ])
  assert.equal((await remove(first.id)).status, 204)
  assert.deepEqual(pick(await get(), 'id'), [running.id, last.id])
})

const run = (id: number): Promise<void> =>
  linkMergeRequests.run(world().opened.instance, { deployment_id: id })

test('a deployment is linked with the merge requests that it is the first to ship', async () => {
  const merge = async (branch: string): Promise<number> => {
    const iid = await shop.open(branch)
    assert.equal((await shop.ask('PUT', `/${iid}/merge`)).status, 200)
    return iid
  }
  const iids = async (id: number, as = developer): Promise<unknown[]> =>
    pick(await world().get(path(`/${id}/merge_requests`), as), 'iid')
  const one = await merge('one')
  const first = await create()
  await run(first.id)
  await run(first.id)
  const two = await merge('two')
  const three = await merge('three')
  const second = await create()
  const review = await create({ environment: 'review/three' })
  for (const { id } of [second, review]) await run(id)
  assert.deepEqual(await iids(first.id), [one])
  assert.deepEqual(await iids(second.id), [three, two])
  assert.deepEqual(await iids(review.id), [])
  const again = await create()
  await run(again.id)
  assert.deepEqual(await iids(again.id), [])
})

test('merge requests of a deployment are hidden from callers who may not see them', async () => {
  const { id } = await create()
  await rowsOf(
    world(),
    'insert into deployment_merge_requests select $1, id from merge_requests where project_id = $2 limit 1',
    [id, shop.project.id],
  )
  const off = { merge_requests_access_level: 'disabled' }
  const place = `/projects/${shop.project.id}`
  assert.equal((await get(`/${id}/merge_requests`)).headers['x-total'], '1')
  assert.equal((await world().call('PUT', place, { as: shop.owner, body: off })).status, 200)
  assert.deepEqual((await get(`/${id}/merge_requests`)).body, [])
  assert.equal(
    (await world().call('PUT', place, { as: shop.owner, body: { environments_access_level: 'disabled' } }))
      .status,
    200,
  )
  assert.equal((await get()).status, 403)
})
