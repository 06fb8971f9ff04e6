import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openWorld, type World } from '../../test/support/world.ts'

let worlds: World[] = []
before(async () => {
  // What earlier files asked a server counts too.
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
