/* The whole program is killed under concurrent writes, again and again, and started again as it was. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { killServer, killsOf, openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const KILLS = killsOf(6)
const WRITERS = 6
const TOKEN = 'a-token-that-outlives-every-crash'

let place: Place
before(async () => {
  place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
})
after(() => place.clear())

interface Label {
  readonly id: number
  readonly name: string
}

/** Creates labels until the server is gone; adds those whose creation was acknowledged in full. */
async function write(server: Running, prefix: string, acknowledged: Label[]): Promise<void> {
  for (let i = 0; ; i += 1) {
    const name = `${prefix}-${i}`
    try {
      const answer = await fetch(`${server.api}/groups/harbour/labels`, {
        method: 'POST',
        headers: { 'private-token': TOKEN, 'content-type': 'application/json' },
        body: JSON.stringify({ name, color: '#123456' }),
      })
      const body = (await answer.json()) as Label
      assert.equal(answer.status, 201, JSON.stringify(body))
      acknowledged.push({ id: body.id, name: body.name })
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      return
    }
  }
}

async function allLabels(server: Running): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (let page = '1'; page !== '';) {
    const answer = await server.get(`/api/v4/groups/harbour/labels?per_page=100&page=${page}`, {
      'private-token': TOKEN,
    })
    const labels = (await answer.json()) as Label[]
    assert.equal(answer.status, 200, JSON.stringify(labels))
    for (const label of labels) found.set(label.id, label.name)
    page = answer.headers.get('x-next-page') ?? ''
  }
  return found
}

test('no acknowledged write is lost when the program is killed, and it starts again by itself', async (t) => {
  const kept = new Map<number, string>()
  const restarts: number[] = []
  let server = await place.serve()
  await place.json(['group', 'create', '--path', 'harbour', '--visibility', 'public'])
  for (let round = 0; round < KILLS; round += 1) {
    const acknowledged: Label[] = []
    const writers = Array.from({ length: WRITERS }, (_, i) => write(server, `r${round}-w${i}`, acknowledged))
    await until('some writes are acknowledged', () => acknowledged.length >= WRITERS)
    await sleep((round * 37) % 150)
    await killServer(place, server, { withDatabase: round % 2 === 1 })
    await Promise.all(writers)
    for (const { id, name } of acknowledged) kept.set(id, name)

    const began = performance.now()
    server = await place.serve()
    assert.equal((await server.get('/-/readiness')).status, 200)
    restarts.push(performance.now() - began)
    const found = await allLabels(server)
    const lost = [...kept].filter(([id, name]) => found.get(id) !== name)
    assert.deepEqual(lost, [], `round ${round}`)
    // Nothing was written that nobody asked for: at most one request of each writer went unanswered.
    const unanswered = found.size - kept.size
    assert.ok(unanswered >= 0 && unanswered <= WRITERS * (round + 1), `${unanswered} more than acknowledged`)
    assert.equal(new Set(found.values()).size, found.size)
  }
  t.diagnostic(`${kept.size} acknowledged writes survived ${KILLS} kills`)
  t.diagnostic(`the slowest restart was ready after ${Math.round(Math.max(...restarts))} ms`)
  assert.equal((await server.stop()).code, 0)
})
