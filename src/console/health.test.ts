import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makePipeline } from '../../test/support/ci_engine.ts'
import { plannedJob } from '../../test/support/planned_jobs.ts'
import { rowsOf } from '../../test/support/rows.ts'
import { openWorld, type World } from '../../test/support/world.ts'
import { createInspection } from '../ci/check.ts'

let worlds: World[] = []
before(async () => {
  // Requests of earlier files count too.
  worlds = [await openWorld({ fresh: true }), await openWorld({ fresh: true })]
})
after(async () => {
  await Promise.all(worlds.map((world) => world.close()))
})

test('each server counts its own requests, and both the process they are in', async () => {
  const texts: string[] = []
  for (const [i, world] of worlds.entries()) {
    for (let asked = 0; asked <= i; asked++) await world.get('/version')
    const admin = await world.make.admin()
    const headers = { 'private-token': admin.token }
    texts.push((await world.app.inject({ url: '/-/metrics', headers })).payload)
  }
  for (const [i, text] of texts.entries()) {
    const counted = /^guildhall_http_request_duration_seconds_count\{operation="getVersion".*\} (\d+)$/m.exec(
      text,
    )
    assert.equal(Number(counted?.[1]), i + 1)
    assert.equal(text.match(/^process_cpu_seconds_total [\d.]+$/gm)?.length, 1)
  }
})

test('scrapes count inconsistent pipelines, batch by batch', async () => {
  const [world] = worlds
  assert.ok(world)
  const inspect = createInspection(world.opened.client)
  const kinds: string[] = []
  for (let call = 0; call < 20; call++) for (const { kind } of await inspect()) kinds.push(kind)
  assert.equal(kinds.length, 0)
  const project = await world.make.project()
  const user = await world.make.memberOf('developer', { project })
  const pipeline = await makePipeline(world, project, [plannedJob({ name: 'job' })], { user_id: user.id })
  await rowsOf(world, "update pipelines set status = 'success' where id = $1", [pipeline.id])
  for (let call = 0; call < 20; call++) for (const { kind } of await inspect()) kinds.push(kind)
  assert.ok(kinds.includes('wrong_status'))
  assert.equal(new Set(kinds).size, 1)
  const admin = await world.make.admin()
  const headers = { 'private-token': admin.token }
  const { payload } = await world.app.inject({ url: '/-/metrics', headers })
  assert.match(payload, /^guildhall_ci_inconsistencies_total\{kind="jammed_group"\} 0$/m)
})
