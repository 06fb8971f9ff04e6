import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
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
const said = async (id: number): Promise<string[]> =>
  (
    await rowsOf<{ line: string }>(
      world(),
      `select system_action || ': ' || body as line from notes where noteable_id = $1 order by id`,
      [id],
    )
  ).map(({ line }) => line)

test('in an archived project issues are read and no more', async () => {
  const { make, call, get } = world()
  const old = await make.project({ visibility: 'public' })
  const boss = await make.memberOf('owner', { project: old })
  const path = `/projects/${old.id}/issues`
  await call('POST', path, { as: boss, body: { title: 't' } })
  await make.sql(`update projects set archived = true where id = ${old.id}`)
  assert.equal((await get(`${path}/1`, boss)).status, 200)
  const turns = [
    call('POST', path, { as: boss, body: { title: 't' } }),
    call('PUT', `${path}/1`, { as: boss, body: { title: 'u' } }),
    call('POST', `${path}/1/time_estimate`, { as: boss, body: { duration: '1h' } }),
    call('DELETE', `${path}/1`, { as: boss }),
  ]
  for (const { status, body } of await Promise.all(turns))
    assert.deepEqual([status, body], [403, { message: '403 Forbidden' }])
})

test('a confidential issue is kept by a guest who has it already, and given to no other', async () => {
  const issue = await create(planner, { title: 'secret', assignee_ids: [guest.id] })
  const path = at(`/${issue.iid}`)
  const change = async (body: object): Promise<number[]> => {
    const answer = await world().call('PUT', path, { as: planner, body })
    return (answer.body as Body).assignees.map(({ id }) => id).toSorted((a, b) => a - b)
  }
  assert.deepEqual(await change({ confidential: true }), [guest.id])
  assert.deepEqual(await change({ assignee_ids: [guest.id, owner.id] }), [owner.id, guest.id])
  assert.equal((await world().get(path, guest)).status, 200)
  assert.deepEqual(await change({ assignee_ids: [owner.id] }), [owner.id])
  assert.deepEqual(await change({ assignee_ids: [guest.id, owner.id] }), [owner.id])
})

test('an issue moves with what was said of it, and the old one says where it went', async () => {
  const { make, call, get } = world()
  const target = await make.project({ visibility: 'public', path: 'quay' })
  await make.member(planner, 'planner', { project: target })
  const issue = await create(planner, {
    title: 'moves',
    labels: 'dry',
    assignee_ids: [planner.id],
    weight: 4,
  })
  await make.sql(`
    with d as (insert into discussions (key, noteable_id, individual_note) values ('${'a'.repeat(40)}', ${issue.id}, true) returning id)
    insert into notes (discussion_id, noteable_id, author_id, body) select id, ${issue.id}, ${guest.id}, 'Soon?' from d`)
  const move = (as: Someone, to_project_id: number): Promise<Answered> =>
    call('POST', at(`/${issue.iid}/move`), { as, body: { to_project_id } })
  const rows: [Answered, number, object][] = [
    [await move(guest, target.id), 400, { message: 'Cannot move issue due to insufficient permissions!' }],
    [await move(planner, project.id), 400, { message: 'Cannot move issue to project it originates from!' }],
    [await move(planner, 999_999), 404, { message: '404 Project Not Found' }],
  ]
  for (const [answer, status, body] of rows) assert.deepEqual([answer.status, answer.body], [status, body])
  const moved = await move(planner, target.id)
  assert.equal(moved.status, 201, moved.text)
  const made = moved.body as Body
  assert.deepEqual([made['title'], made.labels, made['weight'], made.iid], ['moves', ['dry'], 4, 1])
  const old = (await get(at(`/${issue.iid}`), planner)).body as Body
  assert.deepEqual([old['state'], old['moved_to_id']], ['closed', made.id])
  // Once is all: of two copies neither would be the issue.
  const again = await move(planner, target.id)
  const copies = (await get(`/projects/${target.id}/issues`, planner)).body as Body[]
  assert.deepEqual(
    [again.status, again.body],
    [400, { message: 'Cannot move issue due to insufficient permissions!' }],
  )
  assert.deepEqual(
    copies.map(({ id }) => id),
    [made.id],
  )
  const notes = await rowsOf<{ body: string }>(
    world(),
    'select body from notes where noteable_id = $1 order by id',
    [made.id],
  )
  const full = (path: string, { iid }: Body): string => `${path}#${iid}`
  assert.deepEqual(
    notes.map(({ body }) => body),
    ['Soon?', `moved from ${full('harbour/app', issue)}`],
  )
  const people = await get(`/projects/${target.id}/issues/1/participants`, planner)
  assert.deepEqual(
    (people.body as { id: number }[]).map(({ id }) => id),
    [planner.id, guest.id].sort((a, b) => a - b),
  )
})

test('an issue moves with its time, and with what is planned for it where that is there too', async () => {
  const { make, call, get } = world()
  const top = await make.group({ visibility: 'public' })
  const [near, far] = [
    await make.group({ parent: top, visibility: 'public' }),
    await make.group({ visibility: 'public' }),
  ]
  const [from, beside, away] = [
    await make.project({ group: near, visibility: 'public' }),
    await make.project({ group: top, visibility: 'public' }),
    await make.project({ group: far, visibility: 'public' }),
  ]
  const mover = await make.user()
  for (const one of [from, beside, away]) await make.member(mover, 'planner', { project: one })
  let iid = 0
  const row = (text: string, ...values: unknown[]): Promise<{ id: number }> => rowOf(world(), text, values)
  const milestone = (home: 'project_id' | 'group_id', id: number, title: string): Promise<{ id: number }> =>
    row(
      `insert into milestones (iid, ${home}, title) values ($1, $2, $3) returning id`,
      (iid += 1),
      id,
      title,
    )
  const common = await milestone('group_id', top.id, 'common')
  const own = await milestone('project_id', from.id, 'v1')
  const same = await milestone('project_id', beside.id, 'v1')
  await milestone('group_id', top.id, 'v1')
  const alone = await milestone('group_id', near.id, 'alone')
  await milestone('project_id', beside.id, 'common')
  const epic = (group: { id: number }, place: number): Promise<{ id: number }> =>
    row(
      `insert into epics (iid, group_id, title, confidential) values ($1, $2, 'e', $3) returning id`,
      place,
      group.id,
      group === top,
    )
  const iteration = async (group: { id: number }): Promise<{ id: number }> => {
    const cadence = await row(
      `insert into iteration_cadences (group_id, title) values ($1, 'c') returning id`,
      group.id,
    )
    return row(
      `insert into iterations (iid, sequence, group_id, iterations_cadence_id, title, start_date, due_date)
       values (1, 1, $1, $2, 'i', '2030-01-01', '2030-01-07') returning id`,
      group.id,
      cadence.id,
    )
  }
  const [high, low] = [await epic(top, 1), await epic(near, 1)]
  const [now, below] = [await iteration(top), await iteration(near)]
  const rows = [
    [own, low, below, beside, [same.id, null, null], low.id],
    [common, high, now, beside, [common.id, high.id, now.id], null],
    [alone, high, now, beside, [null, high.id, now.id], null],
    [own, high, now, away, [null, null, null], high.id],
  ] as const
  for (const [milestone, epic, iteration, target, carried, left] of rows) {
    const issue = (await call('POST', `/projects/${from.id}/issues`, { as: mover, body: { title: 't' } }))
      .body as Body
    await make.sql(`
      update issues set milestone_id = ${milestone.id}, epic_id = ${epic.id}, iteration_id = ${iteration.id},
                        time_estimate = 7200, total_time_spent = 5400 where id = ${issue.id}`)
    const path = `/projects/${from.id}/issues/${issue.iid}`
    const moved = await call('POST', `${path}/move`, { as: mover, body: { to_project_id: target.id } })
    assert.equal(moved.status, 201, moved.text)
    const made = moved.body as Body
    const columns = 'select milestone_id, epic_id, iteration_id from issues where id = $1'
    const kept = await rowOf<object>(world(), columns, [made.id])
    assert.deepEqual(Object.values(kept), carried)
    const { time_stats: times } = made as unknown as { time_stats: Record<string, unknown> }
    assert.deepEqual([times['time_estimate'], times['total_time_spent']], [7200, 5400])
    const old = await rowOf<{ epic_id: number | null }>(world(), columns, [issue.id])
    assert.equal(old.epic_id, left, 'of an epic that it does not leave with, the old one stays a part')
    assert.equal(((await get(path, mover)).body as Body)['state'], 'closed')
  }
})

test('internal notes stay internal where an issue moves to, and go along only with who reads them', async () => {
  const { make, call, get } = world()
  const reporter = await make.memberOf('reporter', { project })
  for (const [mover, seen] of [
    [reporter, ['for us', 'for all']],
    [planner, ['for all']],
  ] as const) {
    const target = await make.project({ visibility: 'public' })
    await make.member(mover, 'owner', { project: target })
    const issue = await create(planner, {})
    for (const [body, internal] of [
      ['for us', true],
      ['for all', false],
    ] as const) {
      const said = await call('POST', at(`/${issue.iid}/notes`), { as: owner, body: { body, internal } })
      assert.equal(said.status, 201, said.text)
    }
    const moved = await call('POST', at(`/${issue.iid}/move`), {
      as: mover,
      body: { to_project_id: target.id },
    })
    assert.equal(moved.status, 201, moved.text)
    type Thread = { notes: { body: string; system: boolean }[] }
    const threads = async (as: Someone): Promise<string[]> =>
      ((await get(`/projects/${target.id}/issues/1/discussions`, as)).body as Thread[])
        .flatMap(({ notes }) => notes)
        .flatMap(({ body, system }) => (system ? [] : [body]))
    assert.deepEqual(await threads(guest), ['for all'])
    assert.deepEqual(await threads(mover), seen)
  }
})

test('where an issue came from or went to is told to those alone who see that project', async () => {
  const { make, call, get } = world()
  const hidden = await make.project({ visibility: 'private' })
  await make.member(planner, 'planner', { project: hidden })
  const issue = await create(planner, {})
  const moved = await call('POST', at(`/${issue.iid}/move`), {
    as: planner,
    body: { to_project_id: hidden.id },
  })
  assert.equal(moved.status, 201, moved.text)
  for (const rest of ['notes', 'discussions']) {
    const path = at(`/${issue.iid}/${rest}`)
    assert.ok(!(await get(path, guest)).text.includes(hidden.full_path), rest)
    assert.ok((await get(path, planner)).text.includes(`moved to ${hidden.full_path}#1`), rest)
  }
  const copy = (moved.body as Body).id
  const told = async (as: Someone | undefined, path: string): Promise<unknown> => {
    const { body } = await get(path, as)
    return ([body].flat() as Body[])[0]?.['moved_to_id']
  }
  const list = at(`?iids[]=${issue.iid}`)
  for (const path of [at(`/${issue.iid}`), list]) {
    assert.equal(await told(guest, path), null, path)
    assert.equal(await told(planner, path), copy, path)
    assert.equal(await told(await make.admin(), path), copy, path)
  }
  await make.sql(`update issues set confidential = true, author_id = null where id = ${copy}`)
  await make.member(guest, 'guest', { project: hidden })
  assert.equal(await told(guest, list), null)
  await make.sql(`update issues set confidential = false where id = ${copy}`)
  assert.equal(await told(guest, list), copy)
})

test('time is estimated and spent in working hours, in their words', async () => {
  const { call, get } = world()
  const issue = await create(owner, {})
  const post = (name: string, duration?: string): Promise<Answered> =>
    call('POST', at(`/${issue.iid}/${name}`), { as: owner, ...(duration && { body: { duration } }) })
  const stats = (estimate: [number, string | null], spent: [number, string | null]): object => ({
    time_estimate: estimate[0],
    total_time_spent: spent[0],
    human_time_estimate: estimate[1],
    human_total_time_spent: spent[1],
  })
  const rows: [Answered, number, object][] = [
    [await post('time_estimate', '1w 2h30m'), 200, stats([153_000, '1w 2h 30m'], [0, null])],
    [await post('add_spent_time', '1d'), 201, stats([153_000, '1w 2h 30m'], [28_800, '1d'])],
    [await post('add_spent_time', '-30m'), 201, stats([153_000, '1w 2h 30m'], [27_000, '7h 30m'])],
    [
      await post('add_spent_time', '-1w'),
      400,
      { message: { base: ['Time to subtract exceeds the total time spent'] } },
    ],
    [await post('add_spent_time', 'soon'), 400, { error: 'duration is invalid' }],
    [await post('add_spent_time', '1'.repeat(90)), 400, { error: 'duration is invalid' }],
    [await post('time_estimate'), 400, { error: 'duration is missing' }],
    [await post('reset_time_estimate'), 200, stats([0, null], [27_000, '7h 30m'])],
    [await post('reset_spent_time'), 200, stats([0, null], [0, null])],
    [await get(at(`/${issue.iid}/time_stats`), guest), 200, stats([0, null], [0, null])],
  ]
  for (const [answer, status, body] of rows) assert.deepEqual([answer.status, answer.body], [status, body])
  assert.deepEqual(await said(issue.id), [
    'time_tracking: changed time estimate to 1w 2h 30m',
    'time_tracking: added 1d of time spent',
    'time_tracking: subtracted 30m of time spent',
    'time_tracking: removed time estimate',
    'time_tracking: removed time spent',
  ])
})

test('participants of an issue are subscribed unless they unsubscribe', async () => {
  const { call } = world()
  const issue = await create(owner, {})
  const post = async (as: Someone, name: string): Promise<unknown[]> => {
    const { status, body } = await call('POST', at(`/${issue.iid}/${name}`), { as })
    return [status, (body as { subscribed?: boolean } | undefined)?.subscribed]
  }
  assert.deepEqual(await post(owner, 'subscribe'), [304, undefined])
  assert.deepEqual(await post(owner, 'unsubscribe'), [201, false])
  assert.deepEqual(await post(owner, 'unsubscribe'), [304, undefined])
  assert.deepEqual(await post(guest, 'unsubscribe'), [304, undefined])
  assert.deepEqual(await post(guest, 'subscribe'), [201, true])
})
