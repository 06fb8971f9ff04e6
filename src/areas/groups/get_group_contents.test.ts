import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { shareProject } from '../../../test/support/shares.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

type Body = Record<string, unknown> & {
  projects?: Record<string, unknown>[]
  shared_projects?: Record<string, unknown>[]
  shared_with_groups: Record<string, unknown>[]
}
async function read(group: { id: number }, as?: Someone, query: Record<string, string> = {}): Promise<Body> {
  const answer = await world.call('GET', `/groups/${group.id}`, { as, query })
  assert.equal(answer.status, 200, answer.text)
  return answer.body as Body
}

const idsOf = (list: Record<string, unknown>[] | undefined): unknown[] => (list ?? []).map(({ id }) => id)

test('the projects of a group are those the caller can see, newest first, archived ones too', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const made: Project[] = []
  for (const visibility of ['private', 'internal', 'public'] as const)
    made.push(await world.make.project({ group, visibility }))
  const [hidden, internal, open] = made.map(({ id }) => id)
  await world.make.sql(`update projects set archived = true where id = ${open}`)
  const below = await world.make.group({ parent: group, visibility: 'public' })
  await world.make.project({ group: below, visibility: 'public' })
  assert.deepEqual(idsOf((await read(group)).projects), [open])
  assert.deepEqual(idsOf((await read(group, await world.make.user())).projects), [open, internal])
  const guest = await world.make.memberOf('guest', { group })
  for (const as of [guest, await world.make.admin()])
    assert.deepEqual(idsOf((await read(group, as)).projects), [open, internal, hidden])
  const outside = await world.make.user()
  await world.make.sql(`update users set external = true where id = ${outside.id}`)
  assert.deepEqual(idsOf((await read(group, outside)).projects), [open])
  await world.make.member(outside, 'guest', { project: { id: hidden ?? 0 } })
  assert.deepEqual(idsOf((await read(group, outside)).projects), [open, hidden])
})

test('projects shared with a group stand apart from its own, while the share lasts', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const own = await world.make.project({ group, visibility: 'public' })
  const lent = await world.make.project({ visibility: 'public' })
  const hidden = await world.make.project({ visibility: 'private' })
  const former = await world.make.project({ visibility: 'public' })
  await shareProject(world, lent, { invited: group, role: 'reporter', expires: '2999-12-31' })
  await shareProject(world, hidden, { invited: group, role: 'reporter' })
  await shareProject(world, former, { invited: group, role: 'reporter', expires: '2001-01-01' })
  const open = await read(group)
  assert.deepEqual([idsOf(open.projects), idsOf(open.shared_projects)], [[own.id], [lent.id]])
  const member = await read(group, await world.make.memberOf('guest', { group }))
  assert.deepEqual([idsOf(member.projects), idsOf(member.shared_projects)], [[own.id], [hidden.id, lent.id]])
  assert.deepEqual(open.shared_projects?.[0]?.['shared_with_groups'], [
    {
      group_id: group.id,
      group_name: group.name,
      group_full_path: group.full_path,
      group_access_level: 20,
      expires_at: '2999-12-31',
    },
  ])
})

test('a group shows at most a hundred projects and a hundred shared ones', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const lender = await world.make.group({ visibility: 'public' })
  for (const [home, word] of [
    [group, 'mine'],
    [lender, 'lent'],
  ] as const)
    await world.make.sql(`
      insert into projects (namespace_id, name, path, full_path, visibility)
      select ${home.id}, '${word}-' || i, '${word}-' || i, '${home.full_path}/${word}-' || i, 'public'
        from generate_series(1, 101) i`)
  await world.make.sql(`insert into project_group_links (project_id, group_id, group_access)
    select id, ${group.id}, 30 from projects where namespace_id = ${lender.id}`)
  const body = await read(group)
  assert.equal(body.projects?.length, 100)
  assert.equal(body.shared_projects?.length, 100)
  assert.ok(body.projects?.every(({ name }) => String(name).startsWith('mine-')))
  assert.ok(body.shared_projects?.every(({ name }) => String(name).startsWith('lent-')))
})
