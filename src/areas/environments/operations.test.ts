import assert from 'node:assert/strict'
import { beforeEach, before, test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import { finishJob } from '../../ci/jobs/actions.ts'
import { inTurn } from '../../ci/turn.ts'
import { makePipeline, statesOf } from '../../../test/support/ci_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { plannedJob } from '../../../test/support/planned_jobs.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
before(async () => {
  project = await world().make.project({ repository: 'empty' })
  developer = await world().make.memberOf('developer', { project })
})
beforeEach(() => rowsOf(world(), 'delete from environments where project_id = $1', [project.id]))

const path = (more = ''): string => `/projects/${project.id}/environments${more}`
type Method = 'POST' | 'PUT' | 'DELETE'
const send = (method: Method, more: string, body?: object, as = developer): Promise<Answered> =>
  world().call(method, path(more), { as, ...(body && { body }) })
const get = (more = ''): Promise<Answered> => world().get(path(more), developer)
const said = ({ status, body }: Answered): unknown[] => [status, body]
type Body = { readonly id: number } & Readonly<Record<string, unknown>>
async function create(name: string, more: object = {}): Promise<Body> {
  const answer = await send('POST', '', { name, ...more })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body
}
const age = (name: string, days: number, state = 'stopped'): Promise<unknown> =>
  rowsOf(
    world(),
    `update environments set state = $3, created_at = now() - make_interval(days => $2),
            updated_at = now() - make_interval(days => $2) where project_id = $4 and name = $1`,
    [name, days, state, project.id],
  )

test('an environment has its published fields, and its tier follows from its name', async () => {
  const made = await create('production', { external_url: 'https://p.example' })
  assert.equal(
    Object.keys(made).join(' '),
    'id name slug external_url created_at updated_at tier state auto_stop_at project',
  )
  assert.deepEqual(
    [made['slug'], made['tier'], made['state'], made['auto_stop_at'], made['external_url']],
    ['production', 'production', 'available', null, 'https://p.example'],
  )
  assert.equal((made['project'] as Body).id, project.id)
  assert.deepEqual((await get()).body, [made])
  const { project: _, ...own } = made
  assert.deepEqual((await get(`/${made.id}`)).body, { ...own, last_deployment: null })
  assert.equal((await create('review/1', { tier: 'other', external_url: '' }))['tier'], 'other')
})

test('environments are found by name, by a part of it and by state', async () => {
  await create('production')
  await create('review/a_b')
  await create('review/acb')
  await age('review/a_b', 0)
  const names = async (query: string): Promise<unknown[]> => pick(await get(query), 'name')
  assert.deepEqual(await names('?name=production'), ['production'])
  assert.deepEqual(await names('?name=prod'), [])
  assert.deepEqual(await names('?search=PROD'), ['production'])
  assert.deepEqual(await names('?search=a_b'), ['review/a_b'])
  assert.deepEqual(await names('?states=stopped'), ['review/a_b'])
  assert.deepEqual(await names('?states=available&per_page=1&page=2'), ['review/acb'])
  assert.deepEqual(said(await get('?search=ab')), [
    400,
    { message: '400 Bad request - Search query is less than 3 characters' },
  ])
  assert.deepEqual(said(await get('?search=abc&name=a')), [
    400,
    { error: 'name, search cannot be used together' },
  ])
  assert.deepEqual(said(await get('?states=gone')), [400, { error: 'states does not have a valid value' }])
})

test('impossible environments are refused in the published words', async () => {
  const { id } = await create('eu')
  const taken = { message: { name: ['has already been taken'] } }
  const slug = { error: 'slug is automatically generated and cannot be changed' }
  const scheme = { message: { external_url: ['javascript scheme is not allowed'] } }
  for (const [method, more, body, text] of [
    ['POST', '', { name: 'eu' }, taken],
    ['POST', '', { name: 'us', slug: 'us' }, slug],
    ['PUT', `/${id}`, { slug: 'us' }, slug],
    ['POST', '', { name: 'us', external_url: 'javascript:alert(1)' }, scheme],
    ['PUT', `/${id}`, { external_url: 'javascript:alert(1)' }, scheme],
    ['POST', '', { name: 'us', tier: 'gold' }, { error: 'tier does not have a valid value' }],
    ['POST', '', {}, { error: 'name is missing' }],
    [
      'POST',
      '',
      { name: '/us' },
      {
        message: {
          name: [
            "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
          ],
        },
      },
    ],
  ] as const)
    assert.deepEqual(said(await send(method, more, body)), [400, text], JSON.stringify(body))
  assert.deepEqual(pick(await get(), 'name'), ['eu'])
})

test('address and tier are changed, and the name is not', async () => {
  const { id } = await create('eu')
  const changed = await send('PUT', `/${id}`, {
    name: 'us',
    external_url: 'https://e.example',
    tier: 'staging',
  })
  const { name, external_url, tier } = changed.body as Body
  assert.deepEqual([changed.status, name, external_url, tier], [200, 'eu', 'https://e.example', 'staging'])
  assert.equal(((await send('PUT', `/${id}`, { external_url: '' })).body as Body)['external_url'], null)
})

async function deployed(): Promise<Pipeline> {
  const environment = { name: 'eu', url: null, on_stop: 'stop', auto_stop_in: null, tier: null }
  const pipeline = await makePipeline(
    world(),
    project,
    [
      plannedJob({ name: 'deploy', environment: { ...environment, action: 'start' } }),
      plannedJob({
        name: 'stop',
        when: 'manual',
        allow_failure: true,
        environment: { ...environment, on_stop: null, action: 'stop' },
      }),
    ],
    { user_id: developer.id },
  )
  const [job] = await rowsOf<{ id: number }>(
    world(),
    "select id from ci_jobs where pipeline_id = $1 and name = 'deploy'",
    [pipeline.id],
  )
  await world().opened.client.transaction((tx) =>
    inTurn(tx, project.id, (turn) => finishJob(turn, job?.id ?? 0, { status: 'success' })),
  )
  return pipeline
}

test('a single environment shows its last successful deployment, with the job', async () => {
  const pipeline = await deployed()
  const [{ id } = { id: 0 }] = (await get()).body as Body[]
  const last = ((await get(`/${id}`)).body as { last_deployment: Body }).last_deployment
  assert.equal(Object.keys(last).join(' '), 'id iid ref sha created_at updated_at user deployable status')
  const job = last['deployable'] as { name: string; pipeline: { id: number } }
  assert.deepEqual([job.name, job.pipeline.id, last['status']], ['deploy', pipeline.id, 'success'])
})

test('an environment stops by its job in the name of the caller; by force at once', async () => {
  const pipeline = await deployed()
  const [{ id } = { id: 0 }] = (await get()).body as Body[]
  const stopped = await send('POST', `/${id}/stop`)
  assert.deepEqual([stopped.status, (stopped.body as Body)['state']], [200, 'stopping'])
  assert.equal(await statesOf(world(), pipeline), 'deploy success, stop pending')
  assert.deepEqual(said(await send('DELETE', `/${id}`)), [403, { message: '403 Forbidden' }])
  const forced = await send('POST', `/${id}/stop`, { force: true })
  assert.equal((forced.body as Body)['state'], 'stopped')
  assert.equal((await send('DELETE', `/${id}`)).status, 204)
})

test('a job on a protected branch stops an environment only for callers who may run it', async () => {
  await deployed()
  const [{ id } = { id: 0 }] = (await get()).body as Body[]
  const protect = { name: 'main', push_access_level: 40, merge_access_level: 40 }
  const owner = await world().make.memberOf('maintainer', { project })
  const at = `/projects/${project.id}/protected_branches`
  assert.equal((await world().call('POST', at, { as: owner, body: protect })).status, 201)
  assert.equal((await send('POST', `/${id}/stop`)).status, 403)
  assert.equal((await send('POST', `/${id}/stop`, { force: true })).status, 200)
  await world().call('DELETE', `${at}/main`, { as: owner })
})

test('stale environments are told to stop, those that changed or were deployed to since are not', async () => {
  const day = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()
  await create('old')
  await create('young')
  await deployed()
  for (const name of ['old', 'eu']) await age(name, 40, 'available')
  const answer = await send('POST', '/stop_stale', { before: day(30) })
  assert.deepEqual(said(answer), [200, { message: 'Successfully scheduled stale environments to stop' }])
  const due = await rowsOf<{ name: string }>(
    world(),
    'select name from environments where project_id = $1 and auto_stop_at <= now()',
    [project.id],
  )
  assert.deepEqual(due, [{ name: 'old' }])
  for (const before of [day(6), day(11 * 365)])
    assert.deepEqual(said(await send('POST', '/stop_stale', { before })), [
      400,
      { message: '400 Bad request - Invalid Date' },
    ])
})

test('stopped review apps of some age are deleted in a week, and only named in a dry run', async () => {
  for (const name of ['review/old', 'review/young', 'review/runs', 'other']) await create(name)
  for (const [name, days] of [
    ['review/old', 31],
    ['review/young', 1],
    ['other', 31],
  ] as const)
    await age(name, days)
  await age('review/runs', 31, 'available')
  const entries = async (query = ''): Promise<unknown[]> => {
    const { scheduled_entries, unprocessable_entries } = (await send('DELETE', `/review_apps${query}`))
      .body as { scheduled_entries: Body[]; unprocessable_entries: Body[] }
    assert.deepEqual(unprocessable_entries, [])
    return scheduled_entries.map((entry) => entry['name'])
  }
  assert.deepEqual(await entries(), ['review/old'])
  const soon = new Date(Date.now() + 60_000).toISOString()
  assert.deepEqual(await entries(`?before=${soon}`), ['review/old', 'review/young'])
  assert.deepEqual(await entries(`?before=${soon}&limit=1`), ['review/old'])
  assert.deepEqual(await entries('?dry_run=false'), ['review/old'])
  const none = await send('DELETE', '/review_apps')
  const { message } = none.body as { message: { scheduled_entries: unknown[]; message: string } }
  assert.deepEqual([none.status, message.scheduled_entries], [400, []])
  assert.match(message.message, /^No environments found for scheduled deletion\. /)
  assert.equal((await get()).headers['x-total'], '4')
})
