/* Deploy freezes by the real program's commands, beside a running server. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openReadyPlace, type Place } from '../support/program.ts'

const words = (line: string): string[] => line.split(' ')

suite('freezes by commands', () => {
  let place: Place
  before(async () => {
    place = await openReadyPlace()
    const server = await place.serve()
    await place.json(words('group create --path harbour'))
    await place.json(words('project create --path harbour/app'))
    const { token } = await place.json(words('token create --user root --scopes api'))
    const body = JSON.stringify({ freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1' })
    const headers = { 'private-token': String(token), 'content-type': 'application/json' }
    const url = `${server.url}/api/v4/projects/harbour%2Fapp/freeze_periods`
    assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 201)
  })
  after(() => place.clear())

  test('the state of a project is told for any time', async () => {
    const status = (at: string): Promise<Record<string, unknown>> =>
      place.json(words(`freeze status --project harbour/app --at ${at}`))
    assert.equal((await status('2026-01-02T22:59:59Z'))['frozen'], false)
    const during = await status('2026-01-03T12:00:00Z')
    assert.equal(during['frozen'], true)
    assert.deepEqual(during['periods'], [
      {
        id: 1,
        frozen: true,
        since: '2026-01-02T23:00:00.000Z',
        until: '2026-01-05T07:00:00.000Z',
        next: '2026-01-09T23:00:00.000Z',
      },
    ])
    const told = await place.run(words('freeze status --project harbour/app --at 2026-01-03T12:00:00Z'))
    assert.equal(
      told.stdout,
      'harbour/app is frozen at 2026-01-03T12:00:00.000Z.\n  period 1: frozen until 2026-01-05T07:00:00.000Z\n',
    )
    assert.equal(
      (await place.run(words('ci check'))).stdout,
      'Pipelines, jobs and resource groups are consistent.\n',
    )
    const missing = await place.run(words('freeze status --project harbour/none'))
    assert.deepEqual([missing.code, missing.stderr], [1, 'guildhall: there is no project "harbour/none"\n'])
  })

  test('the calendar holds the running freeze and the next hundred', async () => {
    const { stdout } = await place.run(
      words('freeze calendar --project harbour/app --at 2026-01-03T12:00:00Z'),
    )
    assert.ok(stdout.startsWith('BEGIN:VCALENDAR\r\n'))
    assert.equal(stdout.match(/^DTSTART:/gm)?.length, 101)
    assert.match(stdout, /^DTSTART:20260102T230000Z\r$/m)
  })
})
