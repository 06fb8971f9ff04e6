import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alertsOf, makeReceiver } from '../../test/support/alerts.ts'
import { rowOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import type { Project } from '../db/schema/tables.ts'
import { takeAlerts } from './intake.ts'
import { findReceiving, UNNAMED, type Receiving } from './integrations.ts'
import { stagesOf } from './stages.ts'
import * as alerts from './store.ts'
import type { Incoming } from './values.ts'

const world = sharedWorld()

async function place(): Promise<{ project: Project; to: Receiving }> {
  const project = await world().make.project()
  await makeReceiver(world(), project)
  const to = await findReceiving(world().opened.instance.db, project.full_path, UNNAMED.http)
  assert.ok(to)
  return { project, to }
}
const item = (title: string, more: Partial<Incoming> = {}): Incoming => ({
  title,
  description: null,
  service: null,
  monitoring_tool: null,
  hosts: [],
  severity: 'low',
  environment: null,
  fingerprint: Buffer.from(title),
  started_at: new Date('2026-01-01T00:00:00Z'),
  ended_at: null,
  resolves: false,
  payload: '{}',
  ...more,
})
const ended = (title: string): Incoming =>
  item(title, { resolves: true, ended_at: new Date('2026-01-02T00:00:00Z') })
const at = (iid: number, title: string): object => ({ iid, title })
const shown = (taken: readonly (alerts.Taken | undefined)[]): (object | undefined)[] =>
  taken.map((one) => one && at(one.iid, one.title))

test('the alerts of requests that wait are counted and inserted by one statement', async () => {
  const [here, there] = [await place(), await place()]
  const { db } = world().opened.instance
  const requests: [Receiving, Incoming[]][] = [
    [here.to, [item('first')]],
    [here.to, [item('first'), item('a', { hosts: ['x', 'y'] }), item('first')]],
    [there.to, [item('a')]],
    [here.to, [item('alone', { fingerprint: null })]],
    [here.to, [item('alone', { fingerprint: null }), item('a')]],
    [there.to, [item('b'), item('a')]],
  ]
  const outcomes: (object | undefined)[][] = []
  const sent = await world().statements(async () => {
    const taken = await Promise.all(requests.map(([to, items]) => takeAlerts(db, to, items)))
    outcomes.push(...taken.map(shown))
  })
  assert.equal(sent.length, 2)
  assert.deepEqual(outcomes, [
    [at(1, 'first')],
    [at(1, 'first'), at(2, 'a'), at(1, 'first')],
    [at(1, 'a')],
    [at(3, 'alone')],
    [at(4, 'alone'), at(2, 'a')],
    [at(2, 'b'), at(1, 'a')],
  ])
  const stored = async ({ project }: { project: Project }): Promise<unknown[][]> =>
    (await alertsOf(world(), project)).map(({ title, events, hosts }) => [title, events, hosts])
  assert.deepEqual(await stored(here), [
    ['first', 3, []],
    ['a', 2, ['x', 'y']],
    ['alone', 1, []],
    ['alone', 1, []],
  ])
  assert.deepEqual(await stored(there), [
    ['a', 2, []],
    ['b', 1, []],
  ])
})

test('firings and resolutions of one fingerprint that wait together take effect in their order', async () => {
  const { project, to } = await place()
  const { db } = world().opened.instance
  const items = [
    ended('x'),
    item('x'),
    item('y'),
    ended('x'),
    ended('x'),
    item('x'),
    item('x'),
    ended('none'),
    item('z', { resolves: true, fingerprint: null }),
  ]
  assert.deepEqual(shown(await takeAlerts(db, to, items)), [
    undefined,
    at(2, 'x'),
    at(1, 'y'),
    at(2, 'x'),
    undefined,
    at(3, 'x'),
    at(3, 'x'),
    undefined,
    undefined,
  ])
  assert.deepEqual(
    (await alertsOf(world(), project)).map(({ title, status, events }) => [title, status, events]),
    [
      ['y', 'triggered', 1],
      ['x', 'resolved', 1],
      ['x', 'triggered', 2],
    ],
  )
})

test('a stage holds each fingerprint of each project once', async () => {
  const [{ to }, { to: other }] = [await place(), await place()]
  const events = [item('x'), ended('y'), item('x'), item('y'), ended('x')]
  const stages = stagesOf([...events.map((one) => ({ to, item: one })), { to: other, item: ended('x') }])
  assert.deepEqual(
    stages.map(({ resolves, groups }) => [
      resolves,
      groups.map((group) => group.map((event) => `${event.item.title} ${event.to === to}`)),
    ]),
    [
      [false, [['x true', 'x true']]],
      [true, [['y true'], ['x true'], ['x false']]],
      [false, [['y true']]],
    ],
  )
})

test('processes that count the same alerts in different orders wait for each other, and lose no event', async () => {
  const { project, to } = await place()
  const { db } = world().opened.instance
  const titles = Array.from({ length: 50 }, (_, n) => `t${n}`)
  const firings = (order: readonly string[]): alerts.Firing[] =>
    order.map((title) => {
      const { resolves: _resolves, hosts: _hosts, ...columns } = item(title)
      return { project_id: project.id, integration_id: to.id, ...columns, hosts: '[]', events: 2 }
    })
  await alerts.fire(db, firings(titles.slice(0, 25)))
  const orders = Array.from({ length: 8 }, (_, n) => [...titles.slice(n * 6), ...titles.slice(0, n * 6)])
  await Promise.all(
    orders.map((order, n) => alerts.fire(db, firings(n % 2 === 0 ? order : order.toReversed()))),
  )
  const stored = await alertsOf(world(), project)
  assert.equal(stored.length, 50)
  for (const { title, events } of stored) assert.equal(events, Number(title.slice(1)) < 25 ? 18 : 16, title)
  const { last } = await rowOf<{ last: number }>(
    world(),
    `select last from project_counters where project_id = $1 and counts = 'alerts'`,
    [project.id],
  )
  assert.ok(last >= 50)
})
