import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { statesOf } from '../../../test/support/ci_engine.ts'
import { writeConfig } from '../../../test/support/config_commit.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { listOf, pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
let sha: string
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty' })
  developer = await make.memberOf('developer', { project })
  sha = writeConfig(world(), project, 'build:\n  script: make\ndeploy:\n  stage: deploy\n  script: ship\n')
})

const path = (more = ''): string => `/projects/${project.id}/pipelines${more}`
const create = (body: object, as = developer): Promise<Answered> =>
  world().call('POST', `/projects/${project.id}/pipeline`, { as, body })
async function made(body: object = { ref: 'ci' }): Promise<{ id: number } & Record<string, unknown>> {
  const answer = await create(body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: number } & Record<string, unknown>
}

test('a pipeline that is started has the published fields, and can be read', async () => {
  const pipeline = await made()
  const { source, ref, status, before_sha, tag, yaml_errors, coverage, name } = pipeline
  assert.deepEqual(
    [pipeline['sha'], source, ref, status, before_sha, tag, yaml_errors, coverage, name],
    [sha, 'api', 'ci', 'created', '0'.repeat(40), false, null, null, null],
  )
  const read = (await world().get(path(`/${pipeline.id}`), developer)).body as Record<string, unknown>
  assert.deepEqual(
    [read['status'], read['web_url'], (read['user'] as { id: number }).id],
    ['pending', `https://guild.example/${project.full_path}/-/pipelines/${pipeline.id}`, developer.id],
  )
  const jobs = await world().get(path(`/${pipeline.id}/jobs`), developer)
  assert.deepEqual(pick(jobs, 'name'), ['deploy', 'build'])
  assert.deepEqual(pick(jobs, 'status'), ['created', 'pending'])
})

test('a pipeline that cannot be made is told why, and nothing is kept', async () => {
  const before = (await world().get(path(), developer)).headers['x-total']
  const rows: [object, unknown][] = [
    [{}, { error: 'ref is missing' }],
    [{ ref: 'nothing' }, { message: { base: ['Reference not found'] } }],
    [{ ref: 'refs/tags/ci' }, { message: { base: ['Reference not found'] } }],
  ]
  for (const [body, expected] of rows) {
    const answer = await create(body)
    assert.deepEqual([answer.status, answer.body], [400, expected])
  }
  assert.equal((await world().get(path(), developer)).headers['x-total'], before)
})

test('pipelines are listed the newest first, by ref, status, sha and source', async () => {
  const first = await made()
  const second = await made()
  const ids = async (query: string): Promise<unknown[]> =>
    pick(await world().get(`${path()}?per_page=2&${query}`, developer), 'id')
  assert.deepEqual(await ids(''), [second.id, first.id])
  assert.deepEqual(await ids(`sha=${sha}&ref=ci&source=api&status=pending&scope=branches`), [
    second.id,
    first.id,
  ])
  for (const none of ['ref=other', 'status=manual', 'source=push', 'scope=tags', 'sha=0'])
    assert.deepEqual(await ids(none), [], none)
  assert.equal((await world().get(`${path()}?status=odd`, developer)).status, 400)
  assert.ok('name' in (listOf(await world().get(path(), developer))[0] ?? {}))
})

test('a pipeline is canceled, retried and deleted', async () => {
  const pipeline = await made()
  const act = async (what: string): Promise<unknown[]> => {
    const answer = await world().call('POST', path(`/${pipeline.id}/${what}`), { as: developer })
    return [answer.status, (answer.body as { status: string }).status]
  }
  assert.deepEqual(await act('cancel'), [200, 'canceled'])
  assert.deepEqual(await act('cancel'), [200, 'canceled'])
  assert.deepEqual(await act('retry'), [201, 'pending'])
  assert.equal(await statesOf(world(), pipeline), 'build pending, deploy created')
  const owner = await world().make.memberOf('owner', { project })
  assert.equal((await world().call('DELETE', path(`/${pipeline.id}`), { as: owner })).status, 204)
  assert.equal((await world().get(path(`/${pipeline.id}`), developer)).status, 404)
})
