/* A storm of alerts from many connections, while the whole program is killed and started again. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { killServer, killsOf, openReadyPlace, type Place, type Running } from '../support/program.ts'

/** `TEST_ALERTS=10000` is the full run. */
const ALERTS = Number(process.env['TEST_ALERTS'] ?? 1_000)
const DISTINCT = ALERTS / 10
const CONNECTIONS = 50
const KILLS = killsOf(2)

let place: Place
before(async () => {
  place = await openReadyPlace({ LOG_LEVEL: 'warn' })
})
after(() => place.clear())

interface Tally {
  acknowledged: number
  /** Calls whose answer never came: their alert may have been stored. */
  interrupted: number
}

/** Whether no server was there to send to. */
const isUnsent = (error: unknown): boolean =>
  error instanceof Error && (error.cause as { code?: string } | undefined)?.code === 'ECONNREFUSED'

test('each fingerprint is one alert, and its events are those that were acknowledged', async (t) => {
  let server: Running | undefined = await place.serve()
  await place.json(['group', 'create', '--path', 'harbour'])
  await place.json(['project', 'create', '--path', 'harbour/crane'])
  const integration = await place.json(
    'alert-integration create --project harbour/crane --type http --name storm'.split(' '),
  )
  const tallies = Array.from({ length: DISTINCT }, (): Tally => ({ acknowledged: 0, interrupted: 0 }))
  let [next, refused] = [0, 0]

  const send = async (n: number): Promise<void> => {
    const tally = tallies[n % DISTINCT]
    assert.ok(tally)
    for (;;) {
      try {
        const answer = await fetch(String(integration['url']), {
          method: 'POST',
          headers: { authorization: `Bearer ${String(integration['key'])}` },
          body: JSON.stringify({ fingerprint: `f${n % DISTINCT}`, title: `f${n % DISTINCT}` }),
        })
        await answer.arrayBuffer()
        if (answer.status === 200) {
          tally.acknowledged += 1
          return
        }
        assert.equal(answer.status, 503)
        refused += 1
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        if (!isUnsent(error)) tally.interrupted += 1
      }
      // As senders do, after a while.
      await sleep(100)
    }
  }
  const connection = async (): Promise<void> => {
    while (next < ALERTS) await send(next++)
  }
  const storm = Promise.all(Array.from({ length: CONNECTIONS }, connection))
  for (let kill = 1; kill <= KILLS; kill++) {
    while (next < (ALERTS * kill) / (KILLS + 1)) await sleep(5)
    await killServer(place, server, { withDatabase: kill % 2 === 0 })
    server = await place.serve()
  }
  await storm

  const list = await place.run(`alert list --project harbour/crane --limit ${DISTINCT + 1} --json`.split(' '))
  const alerts = JSON.parse(list.stdout) as { title: string; events: number }[]
  assert.equal(alerts.length, DISTINCT)
  for (const { title, events } of alerts) {
    const { acknowledged = 0, interrupted = 0 } = tallies[Number(title.slice(1))] ?? {}
    assert.ok(events >= acknowledged && events <= acknowledged + interrupted, `${title}: ${events} events`)
  }
  const interrupted = tallies.reduce((sum, one) => sum + one.interrupted, 0)
  const events = alerts.reduce((sum, one) => sum + one.events, 0)
  t.diagnostic(
    `${ALERTS} alerts, ${KILLS} kills: ${interrupted} interrupted, ${refused} answered 503, ${events} events`,
  )
  await server.stop()
})
