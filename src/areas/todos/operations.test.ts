import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { freshenTokens, rowOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

let project: Project
let owner: Someone
let planner: Someone
const world = sharedWorld(async ({ make }) => {
  const group = await make.group({ path: 'harbour', name: 'Harbour' })
  project = await make.project({ group, path: 'app', name: 'App' })
  owner = await make.memberOf('owner', { project })
  planner = await make.memberOf('planner', { project })
})

interface Shown {
  readonly id: number
  readonly iid: number
}
const issuesAt = (): string => `/projects/${project.id}/issues`
const create = async (body: object): Promise<Shown> =>
  (await world().call('POST', issuesAt(), { as: owner, body: { title: 'Docks leak', ...body } }))
    .body as Shown
const post = (path: string, as: Someone): Promise<Answered> => world().call('POST', path, { as })
const list = async (as: Someone, query = ''): Promise<Record<string, unknown>[]> => {
  const answer = await world().get(`/todos?${query}`, as)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['x-total'], String((answer.body as unknown[]).length))
  return answer.body as Record<string, unknown>[]
}

test('an assignment creates a to-do item until the issue is closed or the item done', async () => {
  const issue = await create({ assignee_ids: [planner.id, owner.id] })
  const [todo, ...more] = await list(planner)
  assert.deepEqual([more, await list(owner)], [[], []], 'nobody is reminded of their own deeds')
  const { id, author, target, created_at: _c, updated_at: _u, ...rest } = todo ?? {}
  assert.deepEqual((author as Shown).id, owner.id)
  const { subscribed: _s, ...shown } = (await world().get(`${issuesAt()}/${issue.iid}`, planner))
    .body as Shown & {
    subscribed: boolean
  }
  assert.deepEqual(target, shown)
  assert.deepEqual(rest, {
    project: {
      id: project.id,
      name: 'App',
      name_with_namespace: 'Harbour / App',
      path: 'app',
      path_with_namespace: 'harbour/app',
    },
    action_name: 'assigned',
    target_type: 'Issue',
    target_url: `https://guild.example/harbour/app/-/issues/${issue.iid}`,
    body: 'Docks leak',
    state: 'pending',
  })
  const done = await post(`/todos/${String(id)}/mark_as_done`, planner)
  assert.deepEqual([done.status, (done.body as { state: string }).state], [201, 'done'])
  assert.deepEqual(await list(planner), [])
  assert.equal((await list(planner, 'state=done')).length, 1)
  assert.equal((await post(`/todos/${String(id)}/mark_as_done`, owner)).status, 404, 'nobody else’s')
})

test('one asks to be reminded once; the list has its filters', async () => {
  const issue = await create({ title: 'marked' })
  const path = `${issuesAt()}/${issue.iid}/todo`
  const made = await post(path, planner)
  assert.deepEqual([made.status, (made.body as { action_name: string }).action_name], [201, 'marked'])
  assert.deepEqual([(await post(path, planner)).status, (await post(path, planner)).text], [304, ''])
  const request = await rowOf<Shown>(
    world(),
    `insert into merge_requests (iid, project_id, title) values (1, $1, 'change') returning id, iid`,
    [project.id],
  )
  assert.equal((await post(`/projects/${project.id}/merge_requests/1/todo`, owner)).status, 201)
  const [ofRequest] = await list(owner, 'type=MergeRequest')
  assert.deepEqual(
    [ofRequest?.['target_type'], (ofRequest?.['target'] as Shown | undefined)?.id],
    ['MergeRequest', request.id],
  )
  const rows: [string, number][] = [
    ['', 1],
    ['action=marked', 1],
    ['action=assigned', 0],
    ['type=Issue', 1],
    ['type=MergeRequest', 0],
    ['type=Commit', 0],
    [`author_id=${planner.id}`, 1],
    [`author_id=${owner.id}`, 0],
    [`project_id=${project.id}`, 1],
    ['project_id=999999', 0],
    [`group_id=${project.namespace_id}`, 1],
    ['group_id=999999', 0],
  ]
  for (const [query, count] of rows) assert.equal((await list(planner, query)).length, count, query)
  const wrong = await world().get('/todos?state=open', planner)
  assert.deepEqual([wrong.status, wrong.body], [400, { error: 'state does not have a valid value' }])
  assert.equal((await post('/todos/mark_as_done', planner)).status, 204)
  assert.deepEqual(await list(planner), [])
})

test('closing an issue sees to it; what one sees no more is on no list', async () => {
  const issue = await create({ assignee_ids: [planner.id] })
  await world().call('PUT', `${issuesAt()}/${issue.iid}`, { as: planner, body: { state_event: 'close' } })
  assert.deepEqual(await list(planner), [])
  const member = await world().make.memberOf('guest', { project })
  const open = await create({ assignee_ids: [member.id] })
  const secret = await create({ title: 'soon secret' })
  assert.equal((await post(`${issuesAt()}/${secret.iid}/todo`, member)).status, 201)
  assert.equal((await list(member)).length, 2)
  await world().call('PUT', `${issuesAt()}/${secret.iid}`, { as: owner, body: { confidential: true } })
  const [only, ...more] = await list(member)
  assert.deepEqual([(only?.['target'] as Shown | undefined)?.id, more], [open.id, []])
  await world().make.sql(`delete from members where user_id = ${member.id}`)
  assert.deepEqual(await list(member), [])
  assert.equal((await post(`/todos/${String(only?.['id'])}/mark_as_done`, member)).status, 404)
})

test('to-do items of internal notes and disabled issues are hidden from removed members', async () => {
  const { make, call } = world()
  const open = await make.project({ visibility: 'public' })
  const boss = await make.memberOf('owner', { project: open })
  const member = await make.memberOf('reporter', { project: open })
  const path = `/projects/${open.id}/issues`
  await call('POST', path, { as: boss, body: { title: 'Docks leak' } })
  const note = { body: `@${member.username} the insurer must not hear`, internal: true }
  assert.equal((await call('POST', `${path}/1/notes`, { as: boss, body: note })).status, 201)
  assert.deepEqual((await list(member)).length, 1)
  await make.sql(`update members set access_level = 10 where user_id = ${member.id}`)
  assert.deepEqual(await list(member), [])
  await call('POST', path, { as: boss, body: { title: 'Crane', assignee_ids: [member.id] } })
  assert.deepEqual((await list(member)).length, 1)
  await make.sql(`delete from members where user_id = ${member.id}`)
  assert.deepEqual((await list(member)).length, 1)
  const shut = { issues_access_level: 'private' }
  assert.equal((await call('PUT', `/projects/${open.id}`, { as: boss, body: shut })).status, 200)
  assert.deepEqual(await list(member), [])
})

test('a list of reminders costs the same statements for one and for many', async () => {
  for (let i = 0; i < 3; i++) await create({ assignee_ids: [planner.id] })
  await freshenTokens(world(), planner)
  const count = async (size: number): Promise<number> =>
    (await world().statements(() => world().get(`/todos?per_page=${size}`, planner))).length
  assert.equal(await count(1), await count(100))
})
