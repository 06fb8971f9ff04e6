import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let admin: Someone
const world = sharedWorld(async (here) => {
  admin = await here.make.admin()
})

interface Place {
  readonly group: Namespace
  readonly project: Project
  readonly guest: Someone
  readonly planner: Someone
}
async function place(parent?: Namespace): Promise<Place> {
  const { make } = world()
  const group = await make.group(parent ? { parent } : {})
  const project = await make.project({ group })
  const [guest, planner] = [
    await make.memberOf('guest', { group }),
    await make.memberOf('planner', { group }),
  ]
  return { group, project, guest, planner }
}
type Parent = { readonly project: { id: number } } | { readonly group: { id: number } }
const insert = async (table: string, values: Record<string, unknown>): Promise<number> => {
  const names = Object.keys(values)
  const slots = names.map((_name, i) => `$${i + 1}`)
  const { id } = await rowOf<{ id: number }>(
    world(),
    `insert into ${table} (${names.join()}) values (${slots.join()}) returning id`,
    Object.values(values),
  )
  return id
}
let counted = 0
async function milestoneOf(parent: Parent): Promise<{ id: number; path: string }> {
  const [column, { id: home }] = 'project' in parent ? ['project', parent.project] : ['group', parent.group]
  const id = await insert('milestones', { [`${column}_id`]: home, iid: ++counted, title: `m${counted}` })
  return { id, path: `/${column}s/${home}/milestones/${id}` }
}
const issueOf = (project: Project, milestone: number | null, more = {}): Promise<number> =>
  insert('issues', {
    project_id: project.id,
    milestone_id: milestone,
    iid: ++counted,
    title: 'an issue',
    ...more,
  })
const requestOf = (project: Project, milestone: number): Promise<number> =>
  insert('merge_requests', {
    project_id: project.id,
    milestone_id: milestone,
    iid: ++counted,
    title: 'a change',
  })

/** Puts a label with a priority, if any, on a record. */
async function labelled(project: Project, noteable: number, priority?: number): Promise<void> {
  const values = { project_id: project.id, title: `l${++counted}`, color: '#000000' }
  const label = await insert('labels', values)
  await rowsOf(world(), 'insert into label_links (label_id, noteable_id) values ($1, $2)', [label, noteable])
  if (priority !== undefined)
    await rowsOf(world(), 'insert into label_priorities values ($1, $2, $3)', [project.id, label, priority])
}
const ids = (answer: Answered): unknown[] => {
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as { id: number }[]).map(({ id }) => id)
}

test('issues and merge requests of a milestone come by the priority of their labels, the newest first', async () => {
  const { project, planner, guest } = await place()
  const { id, path } = await milestoneOf({ project })
  for (const [list, make, as] of [
    ['issues', issueOf, guest],
    ['merge_requests', requestOf, planner],
  ] as const) {
    const [plain, low, high, unranked] = [
      await make(project, id),
      await make(project, id),
      await make(project, id),
      await make(project, id),
    ]
    await labelled(project, low, 9)
    await labelled(project, high, 7)
    await labelled(project, high, 2)
    await labelled(project, unranked)
    const reader = list === 'issues' ? as : await world().make.memberOf('reporter', { project })
    const answer = await world().get(`${path}/${list}`, reader)
    assert.deepEqual(ids(answer), [high, low, unranked, plain])
    const [first] = answer.body as { milestone: { id: number; title: string } }[]
    assert.equal(first?.milestone.id, id)
    const elsewhere = await world().get(
      `/projects/${project.id}/${list}?milestone=${first?.milestone.title}`,
      reader,
    )
    assert.deepEqual(
      new Set(answer.body as object[]),
      new Set(elsewhere.body as object[]),
      'as in every list',
    )
    const page = await world().get(`${path}/${list}?per_page=3&page=2`, reader)
    assert.deepEqual([ids(page), page.headers['x-total']], [[plain], '4'])
  }
})

test('confidential issues are listed and counted for those who may see them', async () => {
  const { project, planner, guest } = await place()
  const { id, path } = await milestoneOf({ project })
  const open = await issueOf(project, id)
  const hidden = await issueOf(project, id, { confidential: true })
  const own = await issueOf(project, id, { confidential: true, author_id: guest.id })
  for (const [as, seen] of [
    [guest, [own, open]],
    [planner, [own, hidden, open]],
    [admin, [own, hidden, open]],
  ] as const) {
    const answer = await world().get(`${path}/issues`, as)
    assert.deepEqual([ids(answer), answer.headers['x-total']], [seen, String(seen.length)])
    const events = await world().get(`${path}/burndown_events`, as)
    assert.equal((events.body as unknown[]).length, seen.length)
  }
})

test('callers without membership see the issues of a milestone of a public project', async () => {
  const project = await world().make.project({ visibility: 'public' })
  const { id, path } = await milestoneOf({ project })
  const open = await issueOf(project, id)
  await issueOf(project, id, { confidential: true })
  const stranger = await world().make.user()
  const answer = await world().get(`${path}/issues`, stranger)
  assert.deepEqual([ids(answer), answer.headers['x-total']], [[open], '1'])
  const steps = await world().get(`${path}/burndown_events`, stranger)
  assert.equal((steps.body as unknown[]).length, 1)
})

test('at a milestone of a group stands what the caller sees in each project inside', async () => {
  const top = await place()
  const low = await place(top.group)
  const { id, path } = await milestoneOf({ group: top.group })
  const [one, two] = [await issueOf(top.project, id), await issueOf(low.project, id)]
  const request = await requestOf(low.project, id)
  const answer = await world().get(`${path}/issues`, top.guest)
  assert.deepEqual(ids(answer), [two, one])
  const inside = await world().make.memberOf('reporter', { project: low.project })
  assert.deepEqual(ids(await world().get(`${path}/issues`, inside)), [two])
  assert.deepEqual(ids(await world().get(`${path}/merge_requests`, inside)), [request])
  assert.deepEqual(ids(await world().get(`${path}/merge_requests`, top.guest)), [])
  assert.deepEqual(ids(await world().get(`${path}/merge_requests`, admin)), [request])
  await rowsOf(world(), `update projects set settings = $2 where id = $1`, [
    low.project.id,
    { issues_access_level: 'disabled' },
  ])
  for (const as of [top.guest, admin]) {
    const left = await world().get(`${path}/issues`, as)
    assert.deepEqual([ids(left), left.headers['x-total']], [[one], '1'])
  }
})

const at = (minute: number): string => `2030-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`
const events = async (path: string, as: Someone): Promise<unknown[]> => {
  const answer = await world().get(`${path}/burndown_events`, as)
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as { action: string; weight: number; created_at: string }[]).map((event) => {
    assert.deepEqual(Object.keys(event).sort(), ['action', 'created_at', 'weight'])
    return [event.action, event.weight, new Date(event.created_at).getUTCMinutes()]
  })
}
const noted = async (kind: string, values: Record<string, unknown>): Promise<number> =>
  insert(`resource_${kind}_events`, values)

test('burndown events tell how issues came, changed their weight, were closed, reopened and left', async () => {
  const { project, planner } = await place()
  const { id, path } = await milestoneOf({ project })
  const other = await milestoneOf({ project })
  const one = await issueOf(project, id, { created_at: at(1), weight: 5 })
  await noted('weight', { issue_id: one, weight: 2, created_at: at(1) })
  await noted('milestone', {
    noteable_id: one,
    milestone_id: id,
    action: 'add',
    state: 'opened',
    created_at: at(1),
  })
  await noted('weight', { issue_id: one, weight: 5, created_at: at(4) })
  await noted('state', { noteable_id: one, state: 'closed', created_at: at(6) })
  await noted('state', { noteable_id: one, state: 'reopened', created_at: at(7) })
  const late = await issueOf(project, other.id, { created_at: at(0) })
  const came = { noteable_id: late, milestone_id: id, action: 'add', state: 'opened', created_at: at(3) }
  await noted('milestone', came)
  await noted('milestone', { ...came, milestone_id: other.id, created_at: at(9) })
  assert.deepEqual(await events(path, planner), [
    ['created', 2, 1],
    ['created', 0, 3],
    ['weight', 3, 4],
    ['closed', 5, 6],
    ['reopened', 5, 7],
    ['removed', 0, 9],
  ])
  assert.deepEqual(await events(other.path, planner), [['created', 0, 9]])
})

test('issues that came closed, or of which little was recorded, are told of too', async () => {
  const { project, planner } = await place()
  const { id, path } = await milestoneOf({ project })
  await issueOf(project, id, { created_at: at(1), weight: 3, state: 'closed', closed_at: at(2) })
  const closed = await issueOf(project, id, { created_at: at(0), state: 'closed', closed_at: at(3) })
  await noted('state', { noteable_id: closed, state: 'closed', created_at: at(3) })
  await noted('milestone', {
    noteable_id: closed,
    milestone_id: id,
    action: 'add',
    state: 'closed',
    created_at: at(4),
  })
  assert.deepEqual(await events(path, planner), [
    ['created', 3, 1],
    ['closed', 3, 2],
    ['created', 0, 4],
    ['closed', 0, 4],
  ])
})

test('lists at a milestone cost two statements, for one record and for many', async () => {
  const { project, planner } = await place()
  const { id, path } = await milestoneOf({ project })
  const cost = async (list: string): Promise<number> => {
    await world().make.sql('update personal_access_tokens set last_used_at = now()')
    return (await world().statements(() => world().get(`${path}/${list}`, planner))).length
  }
  const lists = ['issues', 'merge_requests', 'burndown_events']
  const few: number[] = []
  for (const list of lists) few.push(await cost(list))
  for (let i = 0; i < 25; i++) {
    await issueOf(project, id)
    await requestOf(project, id)
  }
  const many: number[] = []
  for (const list of lists) many.push(await cost(list))
  assert.deepEqual(few, [3, 3, 3], 'the caller with the project, the milestone, the list')
  assert.deepEqual(many, few)
})

test('a page of milestones costs two statements, for one and for ten thousand, of any page', async () => {
  const { group, guest } = await place()
  const path = `/groups/${group.id}/milestones`
  const cost = async (query = ''): Promise<number> => {
    await world().make.sql('update personal_access_tokens set last_used_at = now()')
    return (await world().statements(() => world().get(path + query, guest))).length
  }
  await milestoneOf({ group })
  const few = await cost()
  await rowsOf(
    world(),
    `insert into milestones (group_id, iid, title) select $1, 100000 + i, 'many ' || i from generate_series(1, 9999) i`,
    [group.id],
  )
  assert.deepEqual([few, await cost(), await cost('?page=500'), await cost('?search=many')], [2, 2, 2, 2])
  const last = await world().get(`${path}?per_page=100&page=100`, guest)
  assert.deepEqual([(last.body as unknown[]).length, last.headers['x-total']], [100, '10000'])
  await milestoneOf({ group })
  assert.equal((await world().get(path, guest)).headers['x-total'], undefined)
})

test('a chart can be drawn from what people did through the interface', async () => {
  const { project, planner } = await place()
  const { id, path } = await milestoneOf({ project })
  const say = async (method: 'POST' | 'PUT', iid: number | '', body: object): Promise<{ iid: number }> => {
    const at = `/projects/${project.id}/issues${iid === '' ? '' : `/${iid}`}`
    const answer = await world().call(method, at, { as: planner, body })
    assert.ok(answer.status < 300, answer.text)
    return answer.body as { iid: number }
  }
  const one = await say('POST', '', { title: 'one', milestone_id: id, weight: 2 })
  const two = await say('POST', '', { title: 'two' })
  await say('PUT', two.iid, { milestone_id: id })
  await say('PUT', one.iid, { weight: 5 })
  await say('PUT', one.iid, { state_event: 'close' })
  await say('PUT', one.iid, { state_event: 'reopen' })
  await say('PUT', two.iid, { milestone_id: 0 })
  const steps = (await events(path, planner)).map((step) => (step as unknown[]).slice(0, 2))
  assert.deepEqual(steps, [
    ['created', 2],
    ['created', 0],
    ['weight', 3],
    ['closed', 5],
    ['reopened', 5],
    ['removed', 0],
  ])
})
