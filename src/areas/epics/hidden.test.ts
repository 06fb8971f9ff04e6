import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace } from '../../db/schema.ts'

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
  assert.equal(await create(ofGroup, { epic_id: hidden.id }), hidden.id)
  assert.equal(await create(await make.admin(), { epic_id: hidden.id }), hidden.id)

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
