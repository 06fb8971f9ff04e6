import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace } from '../../db/schema/tables.ts'

const world = sharedWorld(async () => {})

type Body = Record<string, unknown>

const epicIn = (group: Namespace, confidential: boolean): Promise<{ id: number; iid: number }> =>
  rowOf(
    world(),
    `insert into epics (iid, group_id, title, confidential) values (coalesce((select max(iid) from epics where group_id = $1), 0) + 1, $1, 'an epic', $2) returning id, iid`,
    [group.id, confidential],
  )

test('an issue is put into no epic that its group hides from whoever does it', async () => {
  const { make, call } = world()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const [open, hidden] = [await epicIn(group, false), await epicIn(group, true)]
  const ofProject = await make.memberOf('owner', { project })
  const ofGroup = await make.memberOf('planner', { group })
  const create = async (as: typeof ofGroup, given: object): Promise<unknown> => {
    const made = await call('POST', `/projects/${project.id}/issues`, { as, body: { title: 'x', ...given } })
    assert.equal(made.status, 201, made.text)
    const { iid } = made.body as { iid: number }
    const row = await rowOf<{ epic_id: number | null }>(
      world(),
      'select epic_id from issues where project_id = $1 and iid = $2',
      [project.id, iid],
    )
    return row.epic_id
  }
  assert.equal(await create(ofProject, { epic_id: hidden.id }), null)
  assert.equal(await create(ofProject, { epic_iid: hidden.iid }), null)
  assert.equal(await create(ofProject, { epic_id: 987_654_321 }), null)
  assert.equal(await create(ofProject, { epic_id: open.id }), open.id)
  const secretly = { epic_id: hidden.id, confidential: true }
  assert.equal(await create(ofGroup, secretly), hidden.id)
  assert.equal(await create(await make.admin(), secretly), hidden.id)

  const secret = await make.group()
  const inside = await make.project({ group: secret })
  const epic = await epicIn(secret, false)
  const planner = await make.memberOf('planner', { project: inside })
  const answer = await call('POST', `/projects/${inside.id}/issues`, {
    as: planner,
    body: { title: 'x', epic_id: epic.id },
  })
  assert.deepEqual([answer.status, (answer.body as Body)['epic']], [201, null])
})

const IN_THE_OPEN =
  'Cannot assign a confidential epic to a non-confidential issue. Make the issue confidential and try again'
const WITH_OPEN = 'Cannot make the epic confidential if it contains non-confidential issues'

test('a confidential epic holds confidential issues alone, whichever of the two changes', async () => {
  const { make, call } = world()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const planner = await make.memberOf('planner', { group })
  const hidden = await epicIn(group, true)
  const issues = `/projects/${project.id}/issues`
  const send = (method: 'POST' | 'PUT', path: string, body: object): ReturnType<typeof call> =>
    call(method, path, { as: planner, body })
  const issue = (await send('POST', issues, { title: 'x' })).body as { id: number; iid: number }
  const refused = async (text: string, ...request: Parameters<typeof send>): Promise<void> => {
    const before = await contents(world())
    const { status, body } = await send(...request)
    assert.deepEqual([status, body], [400, { message: { confidential: [text] } }])
    assert.equal(await contents(world()), before)
  }
  const place = `/groups/${group.id}/epics/${hidden.iid}`
  const one = `${issues}/${issue.iid}`
  await refused(IN_THE_OPEN, 'POST', `${place}/issues/${issue.id}`, {})
  await refused(IN_THE_OPEN, 'PUT', one, { epic_id: hidden.id })
  await refused(IN_THE_OPEN, 'POST', issues, { title: 'y', epic_iid: hidden.iid })
  const told = async (path: string, body: string): Promise<unknown> =>
    (await send('POST', `${path}/notes`, { body })).body
  const fails = (why: string): Body => ({
    message: `400 Bad request - Failed to apply commands. Could not apply ${why}.`,
  })
  assert.deepEqual(
    await told(one, `/epic ${group.full_path}&${hidden.iid}`),
    fails(`epic command. ${IN_THE_OPEN}`),
  )
  const obeyed = (await told(one, `/confidential\n/epic ${group.full_path}&${hidden.iid}`)) as Body
  assert.deepEqual(obeyed['commands_changes'], { confidential: true, epic_id: hidden.id })
  await refused(IN_THE_OPEN, 'PUT', one, { confidential: false })
  assert.equal((await send('PUT', one, { confidential: false, epic_id: 0 })).status, 200)

  const open = await epicIn(group, false)
  assert.equal((await send('PUT', one, { epic_id: open.id })).status, 200)
  await refused(WITH_OPEN, 'PUT', `/groups/${group.id}/epics/${open.iid}`, { confidential: true })
  assert.deepEqual(
    await told(`/groups/${group.id}/epics/${open.id}`, '/confidential'),
    fails(`confidential command. ${WITH_OPEN}`),
  )
  await send('PUT', one, { confidential: true })
  const hide = await send('PUT', `/groups/${group.id}/epics/${open.iid}`, { confidential: true })
  assert.deepEqual([hide.status, (hide.body as Body)['confidential']], [200, true])
})

test('an issue comes into an epic, or that is hidden, but not both at once', async () => {
  const { make, call } = world()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const planner = await make.memberOf('planner', { group })
  for (let i = 1; i <= 8; i += 1) {
    const epic = await epicIn(group, false)
    const turn = (path: string, body: object): ReturnType<typeof call> =>
      call('PUT', path, { as: planner, body })
    await call('POST', `/projects/${project.id}/issues`, { as: planner, body: { title: 'x' } })
    const answers = await Promise.all([
      turn(`/projects/${project.id}/issues/${i}`, { epic_id: epic.id }),
      turn(`/groups/${group.id}/epics/${epic.iid}`, { confidential: true }),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 400],
    )
  }
})

test('a confidential epic is shown with its issues to those who see it, and finds them', async () => {
  const { make, get } = world()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const hidden = await epicIn(group, true)
  const [ofGroup, ofProject] = [
    await make.memberOf('planner', { group }),
    await make.memberOf('owner', { project }),
  ]
  const author = await make.memberOf('guest', { group })
  await make.sql(`update epics set author_id = ${author.id} where id = ${hidden.id};
    insert into issues (iid, project_id, author_id, title, confidential, epic_id)
    values (1, ${project.id}, ${author.id}, 'in the dark', true, ${hidden.id})`)
  const path = `/projects/${project.id}/issues`
  for (const [as, sees] of [
    [await make.admin(), true],
    [ofGroup, true],
    [author, true],
    [ofProject, false],
  ] as const) {
    const one = (await get(`${path}/1`, as)).body as { epic_iid: number | null; epic: { id: number } | null }
    assert.deepEqual([one.epic_iid, one.epic?.id], sees ? [hidden.iid, hidden.id] : [null, undefined])
    for (const [query, found] of [
      [`epic_id=${hidden.id}`, sees],
      ['epic_id=Any', sees],
      ['epic_id=None', !sees],
      [`not[epic_id]=${hidden.id}`, !sees],
    ] as const)
      assert.equal(((await get(`${path}?${query}`, as)).body as unknown[]).length, found ? 1 : 0, query)
  }
})

test('an epic that is not shown with an issue finds none', async () => {
  const { make, get } = world()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const [open, hidden] = [await epicIn(group, false), await epicIn(group, true)]
  await make.sql(`insert into issues (iid, project_id, title, epic_id)
    values (1, ${project.id}, 'in the open', ${open.id}), (2, ${project.id}, 'in the dark', ${hidden.id})`)
  const user = await make.user()
  for (const [query, found] of [
    [`epic_id=${open.id}`, [1]],
    [`epic_id=${hidden.id}`, []],
    ['epic_id=Any', [1]],
    ['epic_id=None', [2]],
    [`not[epic_id]=${hidden.id}`, [2, 1]],
    [`not[epic_id]=${open.id}`, [2]],
  ] as const) {
    const { body, headers } = await get(`/projects/${project.id}/issues?${query}`, user)
    assert.deepEqual(
      (body as { iid: number }[]).map(({ iid }) => iid),
      found,
      query,
    )
    assert.equal(headers['x-total'], String(found.length), query)
  }
})

test('Minimal Access takes nothing that belonging to something inside gives', async () => {
  const { make, get } = world()
  const group = await make.group()
  const project = await make.project({ group })
  const both = await make.memberOf('minimal_access', { group })
  const path = `/groups/${group.id}/milestones`
  assert.equal((await get(path, both)).status, 403)
  await make.member(both, 'guest', { project })
  assert.equal((await get(path, both)).status, 200)
})
