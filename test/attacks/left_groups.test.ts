import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedWorld } from '../support/stand.ts'

// A project that left its groups shows nothing of them.

const at = sharedWorld()

for (const [what, goes] of [
  ['a project', 'project'],
  ['a group', 'group'],
] as const)
  test(`${what} that leaves a private group takes nothing along that goes on telling of it`, async () => {
    const { make, call, get } = at()
    const secret = await make.group({ visibility: 'private' })
    const inner = await make.group({ parent: secret })
    const elsewhere = await make.group({ visibility: 'private' })
    const project = await make.project({ group: inner })
    const owner = await make.memberOf('owner', { group: secret })
    await make.member(owner, 'owner', { group: elsewhere })
    const outsider = await make.memberOf('planner', { group: elsewhere })
    const epic = await call('POST', `/groups/${secret.id}/epics`, { as: owner, body: { title: 'old epic' } })
    assert.equal(epic.status, 201, epic.text)
    await call('POST', `/groups/${secret.id}/labels`, {
      as: owner,
      body: { name: 'old label', color: '#111111' },
    })
    const milestone = await call('POST', `/groups/${secret.id}/milestones`, {
      as: owner,
      body: { title: 'old milestone' },
    })
    const issue = await call('POST', `/projects/${project.id}/issues`, {
      as: owner,
      body: {
        title: 'one',
        labels: 'old label',
        milestone_id: (milestone.body as { id: number }).id,
        epic_id: (epic.body as { id: number }).id,
      },
    })
    assert.equal(issue.status, 201, issue.text)
    const moved =
      goes === 'project'
        ? await call('PUT', `/projects/${project.id}/transfer`, {
            as: owner,
            body: { namespace: elsewhere.id },
          })
        : await call('POST', `/groups/${inner.id}/transfer`, { as: owner, body: { group_id: elsewhere.id } })
    assert.ok(moved.status < 300, moved.text)
    // From here on the old group's own business.
    await make.sql(`
      update labels set title = 'whispered' where group_id = ${secret.id};
      update milestones set title = 'whispered' where group_id = ${secret.id};
      update epics set title = 'whispered' where group_id = ${secret.id}`)
    const shown = await get(`/projects/${project.id}/issues/1`, outsider)
    assert.equal(shown.status, 200, shown.text)
    const { epic: left, labels } = shown.body as { epic: unknown; labels: string[] }
    assert.deepEqual([left, labels], [null, ['old label']])
    for (const rest of [
      '',
      '/resource_label_events',
      '/resource_milestone_events',
      '/resource_iteration_events',
    ]) {
      const { status, text } = await get(`/projects/${project.id}/issues/1${rest}`, outsider)
      assert.equal(status, 200, text)
      assert.ok(!text.includes('whispered') && !text.includes(secret.path), `${rest}: ${text}`)
    }
  })

test('epics of a group that leaves keep their labels as its own, and no parent that stays behind', async () => {
  const { make, call, get } = at()
  const secret = await make.group()
  const inner = await make.group({ parent: secret })
  const deep = await make.group({ parent: inner })
  const elsewhere = await make.group()
  const owner = await make.memberOf('owner', { group: secret })
  await make.member(owner, 'owner', { group: elsewhere })
  const outsider = await make.memberOf('planner', { group: elsewhere })
  const post = async (path: string, body: object): Promise<{ id: number; iid: number }> => {
    const answer = await call('POST', path, { as: owner, body })
    assert.equal(answer.status, 201, answer.text)
    return answer.body as { id: number; iid: number }
  }
  for (const name of ['old label', 'everywhere'])
    await post(`/groups/${secret.id}/labels`, { name, color: '#111111' })
  const known = await post(`/groups/${elsewhere.id}/labels`, { name: 'everywhere', color: '#222222' })
  const parent = await post(`/groups/${secret.id}/epics`, { title: 'stays' })
  const epic = await post(`/groups/${deep.id}/epics`, { title: 'goes', labels: 'old label,everywhere' })
  const child = await post(`/groups/${deep.id}/epics`, { title: 'goes too' })
  await make.sql(`update epics set parent_id = ${parent.id} where id = ${epic.id};
    update epics set parent_id = ${epic.id} where id = ${child.id}`)
  const moved = await call('POST', `/groups/${inner.id}/transfer`, {
    as: owner,
    body: { group_id: elsewhere.id },
  })
  assert.equal(moved.status, 201, moved.text)
  await make.sql(`update labels set title = 'whispered ' || id where group_id = ${secret.id}`)
  const shown = await get(`/groups/${deep.id}/epics?with_labels_details=true&sort=asc`, outsider)
  const [first, second] = shown.body as { parent_id: number | null; labels: { id: number; name: string }[] }[]
  assert.deepEqual([first?.parent_id, second?.parent_id], [null, epic.id])
  assert.deepEqual(first?.labels.map(({ name }) => name).toSorted(), ['everywhere', 'old label'])
  assert.equal(first?.labels.find(({ name }) => name === 'everywhere')?.id, known.id)
  const events = await get(`/groups/${deep.id}/epics/${epic.id}/resource_label_events`, outsider)
  assert.ok(!events.text.includes('whispered'), events.text)
})
