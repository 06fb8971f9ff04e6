import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

let project: Project
let owner: Someone
let planner: Someone
let guest: Someone
const world = sharedWorld(async ({ make }) => {
  const group = await make.group({ path: 'harbour', visibility: 'public' })
  project = await make.project({ group, path: 'app', visibility: 'public' })
  owner = await make.memberOf('owner', { project })
  planner = await make.memberOf('planner', { project })
  guest = await make.memberOf('guest', { project })
})

type Body = Record<string, unknown> & {
  id: number
  iid: number
  labels: string[]
  assignees: { id: number }[]
}
const at = (rest = ''): string => `/projects/${project.id}/issues${rest}`
const create = async (as: Someone, body: object): Promise<Body> => {
  const answer = await world().call('POST', at(), { as, body: { title: 'an issue', ...body } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body
}
const change = (as: Someone, { iid }: { iid: number }, body: object): Promise<Answered> =>
  world().call('PUT', at(`/${iid}`), { as, body })
const changed = async (as: Someone, issue: { iid: number }, body: object): Promise<Body> => {
  const answer = await change(as, issue, body)
  assert.equal(answer.status, 200, answer.text)
  return answer.body as Body
}
const said = async (id: number): Promise<string[]> =>
  (
    await rowsOf<{ line: string }>(
      world(),
      `select system_action || ': ' || body as line from notes where noteable_id = $1 order by id`,
      [id],
    )
  ).map(({ line }) => line)

test('an issue is answered whole', async () => {
  const milestone = await rowOf<{ id: number }>(
    world(),
    `insert into milestones (iid, project_id, title, due_date) values (1, $1, 'v1', '2020-01-01') returning id`,
    [project.id],
  )
  const issue = await create(owner, {
    title: ' Docks leak ',
    description: 'Do:\n- [x] look\n- [ ] mend',
    labels: 'wet, bug',
    assignee_ids: [planner.id],
    milestone_id: milestone.id,
    weight: 3,
    due_date: '2027-02-28',
    confidential: true,
  })
  const person = ({ id, username }: Someone): object => ({
    id,
    username,
    name: username,
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `https://guild.example/${username}`,
  })
  const self = `https://guild.example/api/v4/projects/${project.id}/issues/${issue.iid}`
  const { created_at, updated_at, milestone: shown, ...rest } = issue
  assert.match(String(created_at), /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(typeof updated_at, 'string')
  assert.deepEqual(
    [(shown as Body).id, (shown as Body)['title'], (shown as Body)['expired']],
    [milestone.id, 'v1', true],
  )
  assert.deepEqual(rest, {
    id: issue.id,
    iid: issue.iid,
    project_id: project.id,
    title: 'Docks leak',
    description: 'Do:\n- [x] look\n- [ ] mend',
    state: 'opened',
    closed_at: null,
    closed_by: null,
    labels: ['bug', 'wet'],
    assignees: [person(planner)],
    author: person(owner),
    type: 'ISSUE',
    assignee: person(planner),
    user_notes_count: 0,
    merge_requests_count: 0,
    upvotes: 0,
    downvotes: 0,
    due_date: '2027-02-28',
    confidential: true,
    discussion_locked: false,
    issue_type: 'issue',
    web_url: `https://guild.example/harbour/app/-/issues/${issue.iid}`,
    time_stats: {
      time_estimate: 0,
      total_time_spent: 0,
      human_time_estimate: null,
      human_total_time_spent: null,
    },
    task_completion_status: { count: 2, completed_count: 1 },
    weight: 3,
    blocking_issues_count: 0,
    has_tasks: true,
    task_status: '1 of 2 checklist items completed',
    _links: {
      self,
      notes: `${self}/notes`,
      award_emoji: `${self}/award_emoji`,
      project: `https://guild.example/api/v4/projects/${project.id}`,
      closed_as_duplicate_of: null,
    },
    references: { short: `#${issue.iid}`, relative: `#${issue.iid}`, full: `harbour/app#${issue.iid}` },
    severity: 'UNKNOWN',
    subscribed: true,
    moved_to_id: null,
    imported: false,
    imported_from: 'none',
    service_desk_reply_to: null,
    epic_iid: null,
    epic: null,
    iteration: null,
    health_status: null,
  })
  assert.deepEqual((await world().get(at(`/${issue.iid}`), owner)).body, issue)
  assert.deepEqual(await said(issue.id), [])
})

test('a record that would not be valid is refused word for word, and nothing is stored', async () => {
  const issue = await create(owner, { title: 'stays', labels: 'kept' })
  const before = await contents(world())
  const long = 'x'.repeat(256)
  const rows: [object, unknown][] = [
    [{}, { error: 'title is missing' }],
    [{ title: '  ' }, { message: { title: ["can't be blank"] } }],
    [{ title: long }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [
      { title: 't', description: 'x'.repeat(1_000_001) },
      { message: { description: ['is too long (maximum is 1000000 characters)'] } },
    ],
    [{ title: 't', weight: -1 }, { message: { weight: ['must be greater than or equal to 0'] } }],
    [{ title: 't', due_date: '2026-02-30' }, { error: 'due_date is invalid' }],
    [{ title: 't', issue_type: 'wish' }, { error: 'issue_type does not have a valid value' }],
  ]
  for (const [body, refusal] of rows) {
    const answer = await world().call('POST', at(), { as: owner, body })
    assert.deepEqual([answer.status, answer.body], [400, refusal])
  }
  const taken = await world().call('POST', at(), { as: owner, body: { title: 't', iid: issue.iid } })
  assert.deepEqual([taken.status, taken.body], [409, { message: 'Duplicated issue' }])
  const empty = await change(owner, issue, {})
  assert.deepEqual(empty.body, {
    error:
      'assignee_id, assignee_ids, confidential, created_at, description, discussion_locked, due_date, labels, add_labels, ' +
      'remove_labels, milestone_id, state_event, title, issue_type, weight, epic_id, epic_iid are missing, ' +
      'at least one parameter must be provided',
  })
  const blank = await change(owner, issue, { title: '', labels: '' })
  assert.deepEqual([blank.status, blank.body], [400, { message: { title: ["can't be blank"] } }])
  assert.equal(await contents(world()), before)
})

test('each change is told in its own words, recorded, and shown', async () => {
  const issue = await create(owner, { title: 'Docks leak' })
  const group = await rowOf<{ id: number }>(
    world(),
    `insert into milestones (iid, project_id, title) values (2, $1, 'v2') returning id`,
    [project.id],
  )
  await changed(planner, issue, { title: 'Docks leaked', description: 'How?' })
  await changed(planner, issue, { assignee_ids: [owner.id, guest.id] })
  await changed(planner, issue, { assignee_ids: [guest.id, planner.id] })
  await changed(planner, issue, { due_date: '2026-12-24', weight: 5, milestone_id: group.id })
  await changed(planner, issue, { due_date: '', weight: '', milestone_id: '' })
  await changed(planner, issue, { confidential: true, discussion_locked: true })
  const closed = await changed(planner, issue, { state_event: 'close' })
  assert.equal(closed['state'], 'closed')
  assert.equal((closed['closed_by'] as { id: number }).id, planner.id)
  const again = await changed(planner, issue, { state_event: 'close' })
  assert.equal(again['updated_at'], closed['updated_at'])
  const reopened = await changed(planner, issue, {
    state_event: 'reopen',
    confidential: false,
    discussion_locked: false,
  })
  assert.deepEqual([reopened['closed_at'], reopened['closed_by']], [null, null])
  const names = [owner, planner, guest].map(({ username }) => `@${username}`)
  assert.deepEqual(await said(issue.id), [
    'title: changed title from **Docks leak** to **Docks leak{+ed+}**',
    'description: changed the description',
    `assignee: assigned to ${names[0]} and ${names[2]}`,
    `assignee: assigned to ${names[1]} and unassigned ${names[0]}`,
    'due_date: changed due date to December 24, 2026',
    'weight: changed weight to **5**',
    'milestone: changed milestone to %"v2"',
    'due_date: removed due date December 24, 2026',
    'weight: removed the weight',
    'milestone: removed milestone %"v2"',
    'confidential: made the issue confidential',
    'locked: locked the discussion in this issue',
    'closed: closed',
    'visible: made the issue visible to everyone',
    'unlocked: unlocked the discussion in this issue',
    'reopened: reopened',
  ])
})

test('labels are set, added and taken away by title; what is missing is made where the caller may', async () => {
  const issue = await create(planner, { labels: ['new one', 'wet,dry'] })
  assert.deepEqual(issue.labels, ['dry', 'new one', 'wet'])
  assert.deepEqual(
    (await changed(planner, issue, { add_labels: 'extra', remove_labels: 'wet,never' })).labels,
    ['dry', 'extra', 'new one'],
  )
  assert.deepEqual((await changed(planner, issue, { labels: 'dry' })).labels, ['dry'])
  assert.deepEqual((await changed(planner, issue, { labels: '' })).labels, [])
  const own = await create(guest, { labels: 'dry,unheard of' })
  assert.deepEqual(own.labels, ['dry'], 'a guest makes no labels')
  const colours = await rowsOf(world(), `select color from labels where title in ('new one', 'unheard of')`)
  assert.deepEqual(colours, [{ color: '#6699cc' }])
})

test('guests say what their issue is about as they create it, and later only change its words and state', async () => {
  const issue = await create(guest, {
    labels: 'dry',
    weight: 2,
    assignee_ids: [planner.id],
    confidential: true,
  })
  assert.deepEqual(
    [issue.labels, issue['weight'], issue.assignees.length, issue['confidential']],
    [['dry'], 2, 1, true],
  )
  const later = await changed(guest, issue, {
    title: 'mine',
    labels: '',
    weight: 9,
    assignee_ids: [],
    confidential: false,
    state_event: 'close',
  })
  assert.deepEqual(
    [
      later['title'],
      later.labels,
      later['weight'],
      later.assignees.length,
      later['confidential'],
      later['state'],
    ],
    ['mine', ['dry'], 2, 1, true, 'closed'],
  )
  const stranger = await world().make.user()
  const theirs = await create(stranger, {
    labels: 'dry',
    weight: 2,
    milestone_id: 1,
    iid: 4711,
    created_at: '2001-01-01',
  })
  assert.deepEqual([theirs.labels, theirs['weight'], theirs['milestone']], [[], null, null])
  assert.notEqual(theirs.iid, 4711)
  assert.equal(
    (await change(stranger, issue, { title: 'x' })).status,
    404,
    'confidential: as if it were not there',
  )
  const assignee = await create(owner, { assignee_ids: [stranger.id] })
  assert.equal((await change(stranger, assignee, { title: 'by its assignee' })).status, 200)
})

test('owners choose number and time; counting goes on behind', async () => {
  const issue = await create(owner, { iid: 500, created_at: '2001-02-03T04:05:06Z' })
  assert.deepEqual([issue.iid, issue['created_at']], [500, '2001-02-03T04:05:06.000Z'])
  assert.equal((await create(guest, {})).iid, 501)
  const later = await changed(owner, issue, { title: 'b', updated_at: '2002-02-03T04:05:06Z' })
  assert.equal(later['updated_at'], '2002-02-03T04:05:06.000Z')
})

test('imported issues keep their history: events, notes and closing are dated', async () => {
  const milestone = await rowOf<{ id: number }>(
    world(),
    `insert into milestones (iid, project_id, title, start_date) values (66, $1, 'Old', '2001-01-01') returning id`,
    [project.id],
  )
  const created_at = '2001-02-03T04:05:06.000Z'
  const issue = await create(owner, {
    created_at,
    milestone_id: milestone.id,
    labels: 'old',
    weight: 3,
    due_date: '2001-03-31T23:00:00-05:00',
  })
  const updated_at = '2002-02-03T04:05:06.000Z'
  const closed = await changed(owner, issue, { state_event: 'close', title: 'Old', updated_at })
  assert.deepEqual([closed['closed_at'], closed['updated_at']], [updated_at, updated_at])
  assert.equal(closed['due_date'], '2001-04-01')
  const dates = async (table: string, column: string): Promise<string[]> =>
    (
      await rowsOf<{ created_at: Date }>(
        world(),
        `select created_at from ${table} where ${column} = $1 order by id`,
        [issue.id],
      )
    ).map((row) => row.created_at.toISOString())
  assert.deepEqual(await dates('resource_milestone_events', 'noteable_id'), [created_at])
  assert.deepEqual(await dates('resource_label_events', 'noteable_id'), [created_at])
  assert.deepEqual(await dates('resource_weight_events', 'issue_id'), [created_at])
  assert.deepEqual(await dates('resource_state_events', 'noteable_id'), [updated_at])
  assert.deepEqual(await dates('notes', 'noteable_id'), [updated_at, updated_at])
  const path = `/projects/${project.id}/milestones/${milestone.id}/burndown_events`
  const steps = (await world().get(path, owner)).body as { created_at: string; action: string }[]
  assert.deepEqual(
    steps.map((step) => [step.action, step.created_at]),
    [
      ['created', created_at],
      ['closed', updated_at],
    ],
  )
  const before = Date.now() - 60_000
  const theirs = await create(planner, { created_at, labels: 'old' })
  await changed(planner, theirs, { state_event: 'close', updated_at })
  const now = await rowsOf<{ created_at: Date }>(
    world(),
    'select created_at from resource_state_events where noteable_id = $1',
    [theirs.id],
  )
  assert.ok(
    now.every((row) => row.created_at.getTime() > before),
    'others date nothing',
  )
})

test('only who can see the issue is given it, and is reminded once', async () => {
  const outsider = await world().make.user()
  const { make } = world()
  const hidden = await make.project({ visibility: 'private' })
  const boss = await make.memberOf('owner', { project: hidden })
  const member = await make.memberOf('guest', { project: hidden })
  const answer = await world().call('POST', `/projects/${hidden.id}/issues`, {
    as: boss,
    body: { title: 't', assignee_ids: [outsider.id, member.id, 999_999] },
  })
  assert.deepEqual(
    (answer.body as Body).assignees.map(({ id }) => id),
    [member.id],
  )
  const secret = await world().call('POST', `/projects/${hidden.id}/issues`, {
    as: boss,
    body: { title: 't', assignee_ids: [outsider.id, member.id], confidential: true },
  })
  const { iid, assignees } = secret.body as Body
  assert.deepEqual(
    assignees.map(({ id }) => id),
    [member.id],
  )
  assert.equal((await world().get(`/projects/${hidden.id}/issues/${iid}`, member)).status, 200)
  assert.deepEqual(
    await rowsOf(world(), 'select user_id, author_id, action_name, state from todos where noteable_id = $1', [
      (answer.body as Body).id,
    ]),
    [{ user_id: member.id, author_id: boss.id, action_name: 'assigned', state: 'pending' }],
  )
})

test('50 that create at once get 50 numbers in a row, and 50 that label at once lose nothing', async () => {
  const fresh = await world().make.project({ visibility: 'public' })
  const boss = await world().make.memberOf('owner', { project: fresh })
  const issues = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      world().call('POST', `/projects/${fresh.id}/issues`, {
        as: boss,
        body: { title: `t${i}`, labels: 'same' },
      }),
    ),
  )
  const iids = issues.map(({ body }) => (body as Body).iid).sort((a, b) => a - b)
  assert.deepEqual(
    iids,
    Array.from({ length: 50 }, (_, i) => i + 1),
  )
  await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      world().call('PUT', `/projects/${fresh.id}/issues/1`, { as: boss, body: { add_labels: `l${i},same` } }),
    ),
  )
  const { body } = await world().get(`/projects/${fresh.id}/issues/1`, boss)
  assert.equal((body as Body).labels.length, 51)
  const events = await rowsOf(
    world(),
    `select count(*)::int from resource_label_events where noteable_id = $1`,
    [(body as Body).id],
  )
  assert.deepEqual(events, [{ count: 51 }])
  const counts = await rowOf(
    world(),
    'select open_issues_count, open_public_issues_count from projects where id = $1',
    [fresh.id],
  )
  assert.deepEqual(counts, { open_issues_count: 50, open_public_issues_count: 50 })
})

test('a project knows how many of its issues are open', async () => {
  const { make, call } = world()
  const fresh = await make.project({ visibility: 'public' })
  const boss = await make.memberOf('owner', { project: fresh })
  const count = (): Promise<unknown> =>
    rowOf(world(), 'select open_issues_count, open_public_issues_count from projects where id = $1', [
      fresh.id,
    ])
  const path = `/projects/${fresh.id}/issues`
  for (const confidential of [false, true, false])
    await call('POST', path, { as: boss, body: { title: 't', confidential } })
  assert.deepEqual(await count(), { open_issues_count: 3, open_public_issues_count: 2 })
  const stranger = await make.user()
  for (const [as, expected] of [
    [boss, 3],
    [stranger, 2],
  ] as const) {
    const { body } = await world().get(`/projects/${fresh.id}`, as)
    assert.equal((body as { open_issues_count: number }).open_issues_count, expected)
  }
  await call('PUT', `${path}/1`, { as: boss, body: { state_event: 'close' } })
  await call('PUT', `${path}/2`, { as: boss, body: { confidential: false } })
  assert.deepEqual(await count(), { open_issues_count: 2, open_public_issues_count: 2 })
  await call('DELETE', `${path}/3`, { as: boss })
  assert.deepEqual(await count(), { open_issues_count: 1, open_public_issues_count: 1 })
  assert.equal((await world().get(`${path}/3`, boss)).status, 404)
})
