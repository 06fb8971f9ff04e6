import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { alertsOf, makeReceiver, send, type Receiver } from '../../test/support/alerts.ts'
import type { Someone } from '../../test/support/makers.ts'
import { until } from '../../test/support/program.ts'
import { rowOf, rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import { setSetting } from '../core/settings/settings.ts'
import type { Project } from '../db/schema/tables.ts'
import type { IntegrationType } from '../db/schema/alerts.ts'
import { startJobs } from '../open.ts'
import { syncIncident } from './incidents.ts'
import * as alertSettings from './settings.ts'

const world = sharedWorld()

interface Place {
  readonly project: Project
  readonly receiver: Receiver
  readonly owner: Someone
}
async function place(
  settings: Partial<alertSettings.AlertSettings> = {},
  type: IntegrationType = 'http',
): Promise<Place> {
  const project = await world().make.project()
  const { db } = world().opened.instance
  const given = { ...(await alertSettings.find(db, project.id)), create_incidents: true, ...settings }
  await alertSettings.save(db, project.id, given)
  const receiver = await makeReceiver(world(), project, type)
  return { project, receiver, owner: await world().make.memberOf('owner', { project }) }
}

/** The jobs about the project's alerts, which are then taken off the queue. */
async function takeJobs({ project }: Place): Promise<number[]> {
  const rows = await rowsOf<{ alert_id: number }>(
    world(),
    `delete from graphile_worker._private_jobs j using alerts a
      where a.project_id = $1 and j.key = 'incident:' || a.id returning a.id as alert_id`,
    [project.id],
  )
  return rows.map(({ alert_id }) => alert_id)
}
/** Does what the worker does with the jobs that wait. */
async function work(at: Place): Promise<number> {
  const ids = await takeJobs(at)
  for (const alert_id of ids) await syncIncident.run(world().opened.instance, { alert_id })
  return ids.length
}

interface Issue {
  readonly [field: string]: unknown
  readonly iid: number
}
const issuesOf = async ({ project, owner }: Place): Promise<Issue[]> =>
  (await world().get(`/projects/${project.id}/issues?sort=asc`, owner)).body as Issue[]
const notesOf = async ({ project, owner }: Place, iid: number): Promise<unknown[]> =>
  ((await world().get(`/projects/${project.id}/issues/${iid}/notes`, owner)).body as { body: string }[]).map(
    ({ body }) => body,
  )
const item = (more: object = {}): object => ({
  status: 'firing',
  labels: { alertname: 'X', severity: 's2' },
  annotations: {},
  startsAt: '2026-05-03T21:05:00+12:00',
  ...more,
})
const notification = (...alerts: object[]): object => ({
  receiver: 'r',
  status: 'firing',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://am',
  version: '4',
  groupKey: '{}',
  alerts,
})

test('a new alert gets an incident by the alert bot, with everything that the alert says', async () => {
  const at = await place({ incident_template: '## Steps\n\n- [ ] look' })
  await send(world(), at.receiver, {
    title: ' Disk\nfull ',
    description: 'sda1',
    start_time: '2026-05-03T09:05:00Z',
    service: 'store',
    monitoring_tool: 'Nagios',
    hosts: ['a', 'b'],
    severity: 'low',
  })
  assert.deepEqual(await issuesOf(at), [])
  assert.equal(await work(at), 1)
  const [issue] = await issuesOf(at)
  assert.ok(issue)
  const { title, issue_type, type, severity, state, confidential, labels } = issue
  assert.deepEqual(
    { title, issue_type, type, severity, state, confidential, labels },
    {
      title: 'Disk full',
      issue_type: 'incident',
      type: 'INCIDENT',
      severity: 'LOW',
      state: 'opened',
      confidential: false,
      labels: [],
    },
  )
  const author = issue['author'] as { id: number; username: string; name: string }
  assert.deepEqual([author.username, author.name], ['alert-bot', 'Alert Bot'])
  assert.equal(
    issue['description'],
    [
      '**Start time:** 03 May 2026, 9:05AM (UTC)',
      '**Severity:** low',
      '**Service:** store',
      '**Monitoring tool:** Nagios',
      '**Hosts:** a b',
      '**Description:** sda1',
      `**Alert:** https://guild.example/${at.project.full_path}/-/alert_management/1/details`,
    ].join('  \n') + '\n\n---\n\n## Steps\n\n- [ ] look',
  )
  const [alert] = await alertsOf(world(), at.project)
  assert.equal(alert?.['issue_id'], issue['id'])
})

test('an alert without a title gives an incident with its number', async () => {
  const at = await place()
  await send(world(), at.receiver, {})
  await work(at)
  assert.deepEqual(
    (await issuesOf(at)).map(({ title }) => title),
    ['New: Incident 1'],
  )
})

test('the query and the incident Markdown of the metrics format stand in the description', async () => {
  const at = await place({}, 'prometheus')
  const query = 'http://p/graph?g0.expr=up+%3D%3D+%60a%60'
  await send(
    world(),
    at.receiver,
    notification(item({ generatorURL: query, annotations: { svc_incident_markdown: '# Read\n\nme' } })),
  )
  await work(at)
  const [issue] = await issuesOf(at)
  assert.equal(
    issue?.['description'],
    [
      '**Start time:** 03 May 2026, 9:05AM (UTC)',
      '**Severity:** high',
      '**full_query:** `` up == `a` ``',
      '**Monitoring tool:** Prometheus',
      `**Alert:** https://guild.example/${at.project.full_path}/-/alert_management/1/details`,
    ].join('  \n') + '\n\n---\n\n# Read\n\nme',
  )
})

test('the older name of the incident Markdown is read where the new one is absent', async () => {
  const at = await place({}, 'prometheus')
  const annotations = { gitlab_incident_markdown: 'older', title: 'x' }
  await send(world(), at.receiver, notification(item({ annotations })))
  await work(at)
  assert.match(String((await issuesOf(at))[0]?.['description']), /\n---\n\nolder$/)
})

test('text of senders runs no quick action and sends no to-do item, that of the template sends them', async () => {
  const [named, oncall] = [await world().make.user(), await world().make.user()]
  const at = await place({ incident_template: `cc @${oncall.username}` })
  for (const user of [named, oncall]) await world().make.member(user, 'developer', { project: at.project })
  const description = `/close\n/confidential\n/label ~x\n@${named.username} @${oncall.username}`
  await send(world(), at.receiver, { title: '/close', description })
  await work(at)
  const [issue] = await issuesOf(at)
  assert.deepEqual([issue?.['state'], issue?.['confidential'], issue?.['labels']], ['opened', false, []])
  const pending = async (user: Someone): Promise<number> =>
    ((await world().get('/todos', user)).body as unknown[]).length
  assert.deepEqual([await pending(named), await pending(oncall)], [0, 1])
})

test('a longest payload gives a description of a million characters', async () => {
  const at = await place({ incident_template: 'T'.repeat(100_000) }, 'prometheus')
  const annotations = { title: 'x', svc_incident_markdown: 'M'.repeat(1_000_000) }
  assert.equal((await send(world(), at.receiver, notification(item({ annotations })))).status, 200)
  await work(at)
  assert.equal(String((await issuesOf(at))[0]?.['description']).length, 1_000_000)
})

test('an alert has one incident, however many events and jobs there are at once', async () => {
  const at = await place()
  const events = Array.from({ length: 20 }, () => send(world(), at.receiver, { title: 'x' }))
  for (const { status } of await Promise.all(events)) assert.equal(status, 200)
  const [alert_id, ...others] = await takeJobs(at)
  assert.ok(alert_id)
  assert.deepEqual(others, [])
  const { instance } = world().opened
  await Promise.all(Array.from({ length: 10 }, () => syncIncident.run(instance, { alert_id })))
  assert.equal((await issuesOf(at)).length, 1)
  await send(world(), at.receiver, { title: 'x' })
  assert.equal(await work(at), 0)
})

test('the worker of a server opens and closes incidents', async () => {
  const at = await place()
  const worker = startJobs(world().opened, pino({ level: 'silent' }))
  try {
    await send(world(), at.receiver, { title: 'x' })
    await until('the incident is open', async () => (await issuesOf(at))[0]?.['state'] === 'opened')
    await send(world(), at.receiver, { title: 'x', end_time: '2026-06-01T10:00:00Z' })
    await until('the incident is closed', async () => (await issuesOf(at))[0]?.['state'] === 'closed')
  } finally {
    await worker.stop()
  }
})

test('no incident is opened while the setting is off, and the next event opens it when it is on', async () => {
  const at = await place({ create_incidents: false })
  const { db } = world().opened.instance
  await send(world(), at.receiver, { title: 'x' })
  assert.equal(await work(at), 0)
  await alertSettings.save(db, at.project.id, {
    create_incidents: true,
    auto_close_incidents: true,
    incident_template: null,
  })
  await send(world(), at.receiver, { title: 'x' })
  assert.equal(await work(at), 1)
  assert.equal((await issuesOf(at)).length, 1)
})

test('a setting that was switched off since the alert came opens nothing', async () => {
  const at = await place()
  await send(world(), at.receiver, { title: 'x' })
  await rowsOf(world(), 'update alert_settings set create_incidents = false where project_id = $1', [
    at.project.id,
  ])
  await work(at)
  assert.deepEqual(await issuesOf(at), [])
})

test('incidents are opened with a licence of ultimate alone', async () => {
  const at = await place()
  const { db, settings } = world().opened.instance
  await setSetting(db, 'tier', 'premium')
  await settings.reload()
  try {
    await send(world(), at.receiver, { title: 'x' })
    assert.equal(await work(at), 0)
  } finally {
    await setSetting(db, 'tier', 'ultimate')
    await settings.reload()
  }
})

test('an alert that ended before its job ran gets no incident', async () => {
  const at = await place()
  await send(world(), at.receiver, { title: 'x' })
  await send(world(), at.receiver, { title: 'x', end_time: '2026-06-01T10:00:00Z' })
  await work(at)
  assert.deepEqual(await issuesOf(at), [])
})

test('no incident is opened where issues are switched off or the project was archived', async () => {
  const [off, archived] = [await place(), await place()]
  for (const at of [off, archived]) await send(world(), at.receiver, { title: 'x' })
  await rowsOf(
    world(),
    `update projects set settings = '{"issues_access_level": "disabled"}' where id = $1`,
    [off.project.id],
  )
  await rowsOf(world(), 'update projects set archived = true where id = $1', [archived.project.id])
  for (const at of [off, archived]) {
    await work(at)
    const sql = 'select count(*)::int as count from issues where project_id = $1'
    assert.equal((await rowOf<{ count: number }>(world(), sql, [at.project.id])).count, 0)
  }
})

test('a recovery closes the incident as the alert bot, in the published words', async () => {
  const at = await place()
  await send(world(), at.receiver, { title: 'x' })
  await work(at)
  await send(world(), at.receiver, { title: 'x', end_time: '2026-06-01T10:00:00Z' })
  assert.equal(await work(at), 1)
  const [issue] = await issuesOf(at)
  assert.deepEqual([issue?.['state'], issue?.['closed_by']], ['closed', issue?.['author']])
  assert.deepEqual(await notesOf(at, 1), ['automatically closed this incident because the alert resolved.'])
  const [alert] = await alertsOf(world(), at.project)
  await syncIncident.run(world().opened.instance, { alert_id: alert?.id ?? 0 })
  assert.equal((await notesOf(at, 1)).length, 1)
})

test('a recovery leaves the incident open where auto-close is off', async () => {
  const at = await place({ auto_close_incidents: false })
  await send(world(), at.receiver, { title: 'x' })
  await work(at)
  await send(world(), at.receiver, { title: 'x', end_time: '2026-06-01T10:00:00Z' })
  assert.equal(await work(at), 0)
  assert.equal((await issuesOf(at))[0]?.['state'], 'opened')
})

test('closing the incident resolves its alert, and the next event is a new alert with a new incident', async () => {
  const at = await place()
  await send(world(), at.receiver, { title: 'x' })
  await work(at)
  const closed = await world().call('PUT', `/projects/${at.project.id}/issues/1`, {
    as: at.owner,
    body: { state_event: 'close' },
  })
  assert.equal(closed.status, 200)
  const [alert] = await alertsOf(world(), at.project)
  assert.equal(alert?.status, 'resolved')
  assert.notEqual(alert['ended_at'], null)
  await send(world(), at.receiver, { title: 'x' })
  await work(at)
  assert.deepEqual(
    (await issuesOf(at)).map(({ iid, state }) => [iid, state]),
    [
      [1, 'closed'],
      [2, 'opened'],
    ],
  )
})

test('a moved incident leaves its alert as it is', async () => {
  const at = await place()
  await send(world(), at.receiver, { title: 'x' })
  await work(at)
  const other = await world().make.project()
  await world().make.member(at.owner, 'owner', { project: other })
  const moved = await world().call('POST', `/projects/${at.project.id}/issues/1/move`, {
    as: at.owner,
    body: { to_project_id: other.id },
  })
  assert.equal(moved.status, 201, moved.text)
  assert.equal((await alertsOf(world(), at.project))[0]?.status, 'triggered')
})

test('an alert whose incident was deleted gets another one with its next event', async () => {
  const at = await place()
  await send(world(), at.receiver, { title: 'x' })
  await work(at)
  await world().call('DELETE', `/projects/${at.project.id}/issues/1`, { as: at.owner })
  await send(world(), at.receiver, { title: 'x' })
  await work(at)
  assert.deepEqual(
    (await issuesOf(at)).map(({ iid }) => iid),
    [2],
  )
})

test('items of one notification with one fingerprint ask for one job', async () => {
  const at = await place({}, 'prometheus')
  const other = item({ annotations: { title: 'other' } })
  assert.equal((await send(world(), at.receiver, notification(item(), item(), other))).status, 200)
  assert.equal(await work(at), 2)
  assert.equal((await issuesOf(at)).length, 2)
})

test('the alert bot is a bot that is neither blocked nor deleted, and is no active user', async () => {
  const at = await place()
  await send(world(), at.receiver, {})
  await work(at)
  const admin = await world().make.admin()
  const bot = (await issuesOf(at))[0]?.['author'] as { id: number }
  const shown = (await world().get(`/users/${bot.id}`, admin)).body as { bot: boolean }
  assert.equal(shown.bot, true)
  assert.equal((await world().call('POST', `/users/${bot.id}/block`, { as: admin })).status, 403)
  assert.equal((await world().call('DELETE', `/users/${bot.id}`, { as: admin })).status, 403)
  const listed = async (query: string): Promise<number> =>
    ((await world().get(`/users?username=alert-bot&${query}`, admin)).body as unknown[]).length
  assert.deepEqual(
    [await listed(''), await listed('active=true'), await listed('exclude_internal=true')],
    [1, 0, 0],
  )
})

test('the alert bot takes the next free name where a person has it', async () => {
  await rowsOf(
    world(),
    `delete from issues where author_id in (select id from users where user_type = 'alert_bot')`,
  )
  await rowsOf(world(), `delete from users where user_type = 'alert_bot'`)
  await world().make.user({ username: 'Alert-Bot' })
  const at = await place()
  await send(world(), at.receiver, {})
  await work(at)
  const author = (await issuesOf(at))[0]?.['author'] as { username: string }
  assert.equal(author.username, 'alert-bot1')
})
