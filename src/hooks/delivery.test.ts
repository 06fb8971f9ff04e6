import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Project } from '../db/schema/tables.ts'
import { recordEvents } from '../outbox/record.ts'
import type { Someone } from '../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import { allowLocal, openReceiver, type Receiver } from '../../test/support/webhook_receiver.ts'
import type { Answered } from '../../test/support/world.ts'
import { deliverWebhooks } from './delivery_job.ts'
import { relayBatch } from './relay.ts'

// Without a circuit, so that a failing receiver is asked as often as it is due.
const world = sharedWorld(undefined, { outbound: { failures: 1_000, timeout_ms: 2_000 } })

let receiver: Receiver
let project: Project
let maintainer: Someone
before(async () => {
  receiver = await openReceiver()
  await allowLocal(world())
  project = await world().make.project({ visibility: 'private', repository: 'empty' })
  maintainer = await world().make.memberOf('maintainer', { project })
})
after(() => receiver.close())

interface Hook {
  readonly id: number
  readonly alert_status: string
  readonly disabled_until: string | null
}
const send = async (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answered> => {
  const answer = await world().call(method, `/projects/${project.id}${path}`, {
    as: maintainer,
    ...(body && { body }),
  })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return answer
}
const makeHook = async (body: object): Promise<Hook> =>
  (await send('POST', '/hooks', { url: receiver.url, push_events: false, ...body })).body as Hook
const showHook = async (id: number): Promise<Hook> =>
  (await world().get(`/projects/${project.id}/hooks/${id}`, maintainer)).body as Hook
const dropHooks = (): Promise<void> => world().make.sql('delete from web_hooks')

/** Relays everything that was committed. */
const relay = async (): Promise<void> => {
  while ((await relayBatch(world().opened.instance.db)) > 0);
}
const deliver = (id: number): Promise<void> => deliverWebhooks.run(world().opened.instance, { hook_id: id })
/** Ends the rests of a webhook, as time would. */
const wake = (id: number): Promise<void> =>
  world().make.sql(`update web_hooks set retry_at = null, disabled_until = null where id = ${id}`)
const openIssue = async (title: string): Promise<number> =>
  ((await send('POST', '/issues', { title })).body as { iid: number }).iid
const titles = (): unknown[] =>
  receiver.received.map(({ body }) => (body['object_attributes'] as { title: string }).title)
const waiting = async (id: number): Promise<number> =>
  (await rowsOf(world(), 'select from web_hook_deliveries where hook_id = $1 and pending', [id])).length

test('each kind of event has the published keys, headers and names', async () => {
  const flags = [
    'push',
    'tag_push',
    'issues',
    'confidential_issues',
    'note',
    'merge_requests',
    'milestone',
    'emoji',
  ]
  const all = Object.fromEntries(flags.map((flag) => [`${flag}_events`, true]))
  const { id } = await makeHook({ ...all, deployment_events: true, token: 'secret' })
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }]
  const commit = { branch: 'main', commit_message: 'first', actions }
  await send('POST', '/repository/commits', commit)
  await send('POST', '/repository/commits', {
    ...commit,
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'second',
    actions: [
      { action: 'update', file_path: 'a', content: 'b' },
      { action: 'create', file_path: 'b', content: 'b' },
    ],
  })
  await send('POST', '/repository/tags?tag_name=v1&ref=main')
  const iid = await openIssue('slow')
  await send('PUT', `/issues/${iid}`, { labels: 'bug', title: 'slower' })
  await send('POST', `/issues/${iid}/add_spent_time`, { duration: '1h' })
  await send('POST', `/issues/${iid}/notes`, { body: 'me too' })
  await send('POST', `/issues/${iid}/award_emoji`, { name: 'thumbsup' })
  const merge = { source_branch: 'topic', target_branch: 'main', title: 'faster' }
  await send('POST', '/merge_requests', merge)
  await send('POST', '/milestones', { title: '1.0' })
  await send('POST', '/issues', { title: 'hush', confidential: true })
  const deployment = { environment: 'here', sha: await tip(), ref: 'main', tag: false, status: 'success' }
  await world().call('POST', `/projects/${project.id}/deployments`, { as: maintainer, body: deployment })
  await relay()
  await deliver(id)
  assert.deepEqual(
    receiver.received.map(({ headers, body }) => [headers['x-gitlab-event'], body['object_kind']]),
    [
      ['Push Hook', 'push'],
      ['Push Hook', 'push'],
      ['Tag Push Hook', 'tag_push'],
      ['Issue Hook', 'issue'],
      ['Issue Hook', 'issue'],
      ['Issue Hook', 'issue'],
      ['Note Hook', 'note'],
      ['Emoji Hook', 'emoji'],
      ['Merge Request Hook', 'merge_request'],
      ['Milestone Hook', 'milestone'],
      ['Confidential Issue Hook', 'issue'],
      ['Deployment Hook', 'deployment'],
    ],
  )
  const [, push, , , update, timed, note, , request] = receiver.received
  assert.deepEqual(timed?.body['changes'], { total_time_spent: { previous: 0, current: 3600 } })
  assert.equal(push?.headers['x-gitlab-token'], 'secret')
  assert.equal(push?.headers['x-gitlab-instance'], world().config.url)
  assert.match(String(push?.headers['idempotency-key']), /^[0-9a-f-]{36}$/)
  const [pushed] = (push?.body['commits'] ?? []) as { title: string; added: string[]; modified: string[] }[]
  assert.deepEqual([pushed?.title, pushed?.added, pushed?.modified], ['second', ['b'], ['a']])
  assert.equal(push?.body['total_commits_count'], 1)
  const changes = (update?.body['changes'] ?? {}) as Record<string, { previous: unknown; current: unknown }>
  assert.deepEqual(changes['title'], { previous: 'slow', current: 'slower' })
  const named = (list: unknown): string[] => (list as { title: string }[]).map(({ title }) => title)
  assert.deepEqual([named(changes['labels']?.previous), named(changes['labels']?.current)], [[], ['bug']])
  assert.equal((note?.body['issue'] as { iid: number } | undefined)?.iid, iid)
  const asked = (request?.body['object_attributes'] ?? {}) as Record<string, unknown>
  assert.equal(asked['action'], 'open')
  assert.equal((asked['last_commit'] as { title: string }).title, 'second')
  await dropHooks()
})

const tip = async (): Promise<string> =>
  (
    (await world().get(`/projects/${project.id}/repository/branches/main`, maintainer)).body as {
      commit: { id: string }
    }
  ).commit.id

test('a receiver that fails and recovers gets everything, in order and under the same keys', async () => {
  receiver.received.length = 0
  const { id } = await makeHook({ issues_events: true })
  receiver.behave((response) => void response.writeHead(503).end())
  for (const title of ['one', 'two', 'three']) await openIssue(title)
  await relay()
  await deliver(id)
  assert.deepEqual(titles(), ['one'], 'later deliveries wait for the first')
  await wake(id)
  await deliver(id)
  assert.deepEqual(titles(), ['one', 'one'])
  receiver.behave()
  await openIssue('four')
  await relay()
  await wake(id)
  await deliver(id)
  assert.deepEqual(titles(), ['one', 'one', 'one', 'two', 'three', 'four'])
  const keys = receiver.received.map(({ headers }) => headers['idempotency-key'])
  assert.equal(new Set(keys.slice(0, 3)).size, 1)
  assert.equal(new Set(keys).size, 4)
  assert.equal((await showHook(id)).alert_status, 'executable')
  await dropHooks()
})

test('an answer of the 400s is kept as failed and not sent again', async () => {
  receiver.received.length = 0
  const { id } = await makeHook({ issues_events: true })
  receiver.behave((response, { body }) => {
    const isFirst = JSON.stringify(body).includes('odd')
    response.writeHead(isFirst ? 422 : 200).end('read')
  })
  for (const title of ['odd', 'even']) await openIssue(title)
  await relay()
  await deliver(id)
  assert.deepEqual(titles(), ['odd', 'even'])
  const list = async (query: string): Promise<Record<string, unknown>[]> =>
    (await world().get(`/projects/${project.id}/hooks/${id}/events${query}`, maintainer)).body as never
  const events = await list('?per_page=100')
  assert.deepEqual(
    events.map((event) => [event['trigger'], event['response_status'], event['response_body']]),
    [
      ['issue_hooks', '200', 'read'],
      ['issue_hooks', '422', 'read'],
    ],
  )
  assert.equal((await list('?status=client_failure')).length, 1)
  assert.equal((await list('?status=200,server_failure')).length, 1)
  receiver.behave()
  const failed = events[1]?.['id']
  const again = await send('POST', `/hooks/${id}/events/${String(failed)}/resend`)
  assert.deepEqual([again.status, again.body], [201, { response_status: 200 }])
  const [first, , last] = receiver.received
  assert.equal(last?.text, first?.text)
  assert.equal(last?.headers['idempotency-key'], first?.headers['idempotency-key'])
  await dropHooks()
})

test('failures in a row rest a webhook, disable it at the 40th, and a good test enables it', async () => {
  receiver.received.length = 0
  const { id } = await makeHook({ issues_events: true })
  receiver.behave((response) => void response.writeHead(500).end('broken'))
  await openIssue('never')
  await openIssue('waits')
  await relay()
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    assert.equal((await showHook(id)).alert_status, 'executable')
    await wake(id)
    await deliver(id)
  }
  const resting = await showHook(id)
  assert.equal(resting.alert_status, 'temporarily_disabled')
  const rest = Date.parse(String(resting.disabled_until)) - Date.now()
  assert.ok(rest > 30_000 && rest <= 60_000, String(rest))
  const sent = receiver.received.length
  await deliver(id)
  assert.equal(receiver.received.length, sent, 'nothing is sent while it rests')
  await world().make.sql(`update web_hooks set failures = 39 where id = ${id}`)
  await wake(id)
  await deliver(id)
  assert.equal((await showHook(id)).alert_status, 'disabled')
  assert.equal(await waiting(id), 0)
  await openIssue('lost')
  await relay()
  assert.equal(await waiting(id), 0, 'a disabled webhook collects nothing')
  const failed = await world().call('POST', `/projects/${project.id}/hooks/${id}/test/issues_events`, {
    as: maintainer,
  })
  assert.deepEqual([failed.status, failed.body], [422, { message: 'broken' }])
  receiver.behave()
  const good = await send('POST', `/hooks/${id}/test/issues_events`)
  assert.deepEqual([good.status, good.body], [201, { message: '201 Created' }])
  assert.equal((await showHook(id)).alert_status, 'executable')
  await dropHooks()
})

test('a dead receiver with many pending deliveries slows no other webhook', async () => {
  receiver.received.length = 0
  const dead = await makeHook({ url: 'http://127.0.0.1:1/', issues_events: true })
  const alive = await makeHook({ issues_events: true })
  const iid = await openIssue('many')
  const pile = (count: number): Promise<void> =>
    world().make.sql(`
      insert into web_hook_deliveries (hook_id, event_id, trigger, pending)
      select ${dead.id}, (select max(id) from events where kind = 'issue'), 'issues_events', true
        from generate_series(1, ${count})`)
  const round = async (): Promise<number> => {
    await send('PUT', `/issues/${iid}`, { description: String(receiver.received.length) })
    await deliver(dead.id)
    const { length } = await world().statements(async () => {
      await relay()
      await deliver(alive.id)
    })
    return length
  }
  await relay()
  await deliver(alive.id)
  const few = await round()
  await pile(20_000)
  const before = receiver.received.length
  assert.equal(await round(), few)
  assert.equal(receiver.received.length, before + 1)
  assert.ok((await waiting(dead.id)) > 20_000)
  const tried = await rowsOf(world(), 'select from web_hook_deliveries where hook_id = $1 and attempts > 0', [
    dead.id,
  ])
  assert.equal(tried.length, 1, 'its first delivery alone was tried')
  await dropHooks()
})

test('two workers never send deliveries of one webhook at once', async () => {
  receiver.received.length = 0
  const { id } = await makeHook({ issues_events: true })
  let open = 0
  let most = 0
  receiver.behave((response) => {
    open += 1
    most = Math.max(most, open)
    setTimeout(() => {
      open -= 1
      response.end()
    }, 20)
  })
  for (const title of ['a', 'b', 'c', 'd']) await openIssue(title)
  await relay()
  await Promise.all([deliver(id), deliver(id), deliver(id)])
  assert.deepEqual([titles(), most], [['a', 'b', 'c', 'd'], 1])
  receiver.behave()
  await dropHooks()
})

test('events of transactions that commit late are relayed later, and none is missed', async () => {
  const { db } = world().opened.instance
  await relay()
  const last = await rowOf<{ seq: string }>(world(), 'select coalesce(max(seq), 0)::text as seq from events')
  const event = { kind: 'issue', author_id: null, project_id: project.id } as const
  let commit = (): void => {}
  const gate = new Promise<void>((resolve) => (commit = resolve))
  let begun = (): void => {}
  const wrote = new Promise<void>((resolve) => (begun = resolve))
  const late = db.transaction(async (tx) => {
    await recordEvents(tx, [{ ...event, action: 'early id' }])
    begun()
    await gate
  })
  await wrote
  await recordEvents(db, [{ ...event, action: 'late id' }])
  await relay()
  commit()
  await late
  await relay()
  const order = await rowsOf<{ action: string }>(
    world(),
    'select action from events where seq > $1 order by seq',
    [last.seq],
  )
  assert.deepEqual(
    order.map(({ action }) => action),
    ['late id', 'early id'],
  )
})

test('payloads are signed with the signing token, and private addresses are refused when they are connected to', async () => {
  receiver.received.length = 0
  const key = Buffer.alloc(32, 7)
  const { id } = await makeHook({
    issues_events: true,
    signing_token: `whsec_${key.toString('base64')}`,
    custom_headers: [{ key: 'X-Extra', value: 'more' }],
  })
  await openIssue('signed')
  await relay()
  await deliver(id)
  const [one] = receiver.received
  const { 'webhook-id': name, 'webhook-timestamp': at, 'webhook-signature': signed } = one?.headers ?? {}
  const digest = createHmac('sha256', key)
    .update(`${String(name)}.${String(at)}.${one?.text}`)
    .digest('base64')
  assert.deepEqual([signed, one?.headers['x-extra']], [`v1,${digest}`, 'more'])

  await allowLocal(world(), false)
  await openIssue('private')
  await relay()
  await deliver(id)
  assert.equal(receiver.received.length, 1)
  const [event] = (await world().get(`/projects/${project.id}/hooks/${id}/events`, maintainer)).body as {
    response_status: string
  }[]
  assert.equal(event?.response_status, 'internal error')
  await allowLocal(world())
  await dropHooks()
})

test('webhooks of groups above and of the instance hear of projects, members and groups', async () => {
  receiver.received.length = 0
  const { make } = world()
  const group = await make.group()
  const owner = await make.memberOf('owner', { group })
  const admin = await make.admin()
  const flags = { push_events: false, member_events: true, project_events: true, subgroup_events: true }
  const body = { url: receiver.url, ...flags }
  const inGroup = await world().call('POST', `/groups/${group.id}/hooks`, { as: owner, body })
  const inAll = await world().call('POST', '/hooks', { as: admin, body: { url: receiver.url } })
  assert.deepEqual([inGroup.status, inAll.status], [201, 201])
  const sub = { name: 'inner', path: 'inner', parent_id: group.id }
  const made = (await world().call('POST', '/groups', { as: owner, body: sub })).body as { id: number }
  const place = { name: 'fresh', path: 'fresh', namespace_id: made.id }
  const answer = await world().call('POST', '/projects', { as: owner, body: place })
  assert.equal(answer.status, 201, answer.text)
  const fresh = answer.body as { id: number }
  const { id: user_id } = await make.user()
  await relay()
  await world().call('POST', `/groups/${group.id}/members`, {
    as: owner,
    body: { user_id, access_level: 30 },
  })
  await world().call('DELETE', `/projects/${fresh.id}`, { as: owner })
  await relay()
  for (const { id } of [inGroup, inAll].map((answer) => answer.body as Hook)) await deliver(id)
  const names = (kind: string): unknown[] =>
    receiver.received
      .filter(({ headers }) => (headers['x-gitlab-event'] === 'System Hook') === (kind === 'system'))
      .map(({ body: payload }) => payload['event_name'])
  assert.deepEqual(names('group'), [
    'subgroup_create',
    'user_add_to_group',
    'project_create',
    'user_add_to_group',
    'project_destroy',
  ])
  const told = names('system')
  for (const name of [
    'group_create',
    'project_create',
    'user_create',
    'user_add_to_group',
    'project_destroy',
  ])
    assert.ok(told.includes(name), name)
  await dropHooks()
})
