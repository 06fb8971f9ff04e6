import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { groupsOfProjects, listOf, pick, shareProject } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const list = (group: Namespace, query: Record<string, string> = {}, as?: Someone): Promise<Answered> =>
  world.call('GET', `/groups/${group.id}/projects`, { as, query })

const groupOf = groupsOfProjects(() => world)
const set = (project: Project | undefined, columns: string): Promise<void> =>
  world.make.sql(`update projects set ${columns} where id = ${project?.id}`)

test('search finds a part of the name or path in any letter case, signs taken as they are', async () => {
  const { group } = await groupOf(
    { path: 'brig', name: 'Fast Ship' },
    { path: 'ship-log', name: '100%' },
    { path: 'pier' },
    { path: 'qa', name: 'Quality' },
  )
  assert.deepEqual(pick(await list(group, { search: 'SHIP', order_by: 'id', sort: 'asc' }), 'path'), [
    'brig',
    'ship-log',
  ])
  assert.deepEqual(pick(await list(group, { search: '00%' }), 'path'), ['ship-log'])
  assert.deepEqual(
    pick(await list(group, { search: 'QA' }), 'path'),
    ['qa'],
    'less than three letters: all of it',
  )
  assert.deepEqual(pick(await list(group, { search: 'pi' }), 'path'), [])
  const none = await list(group, { search: 'nowhere' })
  assert.deepEqual([none.body, none.headers['x-total']], [[], '0'])
})

test('archived keeps one kind, and without it both are there', async () => {
  const { group, projects } = await groupOf({ name: 'kept' }, { name: 'archived' })
  await set(projects[1], 'archived = true')
  assert.deepEqual(pick(await list(group, { order_by: 'id', sort: 'asc' }), 'name'), ['kept', 'archived'])
  const archived = await list(group, { archived: 'true' })
  assert.deepEqual([pick(archived, 'name'), archived.headers['x-total']], [['archived'], '1'])
  assert.deepEqual(pick(await list(group, { archived: 'false' }), 'name'), ['kept'])
})

test('visibility keeps the projects of exactly that level', async () => {
  const { group } = await groupOf(
    { name: 'private', visibility: 'private' },
    { name: 'internal', visibility: 'internal' },
    { name: 'public', visibility: 'public' },
  )
  const owner = await world.make.memberOf('owner', { group })
  for (const visibility of ['private', 'internal', 'public'])
    assert.deepEqual(pick(await list(group, { visibility }, owner), 'name'), [visibility])
  assert.deepEqual(pick(await list(group, { visibility: 'private' }), 'name'), [])
  assert.deepEqual(pick(await list(group, { visibility: 'internal' }), 'name'), [])
})

test('projects without issues or merge requests can be left out', async () => {
  const { group, projects } = await groupOf({ name: 'all' }, { name: 'no-issues' }, { name: 'no-merges' })
  await set(projects[1], `settings = '{"issues_enabled": false}'`)
  await set(projects[2], `settings = '{"merge_requests_enabled": false}'`)
  const names = async (query: Record<string, string>): Promise<unknown[]> =>
    pick(await list(group, { order_by: 'id', sort: 'asc', ...query }), 'name')
  assert.deepEqual(await names({ with_issues_enabled: 'true' }), ['all', 'no-merges'])
  assert.deepEqual(await names({ with_merge_requests_enabled: 'true' }), ['all', 'no-issues'])
  assert.deepEqual(await names({ with_issues_enabled: 'true', with_merge_requests_enabled: 'true' }), ['all'])
  assert.deepEqual(await names({ with_issues_enabled: 'false' }), ['all', 'no-issues', 'no-merges'])
})

test('shared projects are listed with the group’s own, once, and can be left out', async () => {
  const { group } = await groupOf({ name: 'own' })
  const { projects } = await groupOf({ name: 'lent' }, { name: 'ended' })
  const [lent, ended] = projects
  await shareProject(world, lent as Project, { invited: group, role: 'guest' })
  await shareProject(world, ended as Project, { invited: group, role: 'guest', expires: '2001-01-01' })
  for (const query of [{}, { with_shared: 'true' }]) {
    const found = await list(group, { order_by: 'id', sort: 'asc', ...query })
    assert.deepEqual([pick(found, 'name'), found.headers['x-total']], [['own', 'lent'], '2'])
  }
  assert.deepEqual(pick(await list(group, { with_shared: 'false' }), 'name'), ['own'])
})

test('projects of subgroups and of the groups above are listed when asked for, each once', async () => {
  const top = await world.make.group({ visibility: 'public' })
  const group = await world.make.group({ parent: top, visibility: 'public' })
  const below = await world.make.group({ parent: group, visibility: 'public' })
  const deepest = await world.make.group({ parent: below, visibility: 'public' })
  const beside = await world.make.group({ parent: top, visibility: 'public' })
  for (const [home, name] of [
    [top, 'top'],
    [group, 'own'],
    [below, 'below'],
    [deepest, 'deepest'],
    [beside, 'beside'],
  ] as const)
    await world.make.project({ group: home, name, visibility: 'public' })
  const names = async (query: Record<string, string>): Promise<unknown[]> => {
    const found = await list(group, { order_by: 'id', sort: 'asc', ...query })
    assert.equal(found.headers['x-total'], String(listOf(found).length))
    return pick(found, 'name')
  }
  const [inside, above] = [{ include_subgroups: 'true' }, { include_ancestor_groups: 'true' }]
  assert.deepEqual(await names({}), ['own'])
  assert.deepEqual(await names(inside), ['own', 'below', 'deepest'])
  assert.deepEqual(await names(above), ['top', 'own'])
  assert.deepEqual(await names({ ...inside, ...above }), ['top', 'own', 'below', 'deepest'])
  const [project] = listOf(await list(below, { order_by: 'id' }))
  await shareProject(world, { id: Number(project?.['id']) }, { invited: group, role: 'guest' })
  assert.deepEqual(await names({}), ['own', 'below'])
  assert.deepEqual(await names(inside), ['own', 'below', 'deepest'])
})

test('parameters that cannot be read are refused together, in the order of their declaration', async () => {
  const { group } = await groupOf({ name: 'still here' })
  const flags = [
    'archived',
    'simple',
    'owned',
    'starred',
    'with_issues_enabled',
    'with_merge_requests_enabled',
  ]
  const more = ['with_shared', 'include_subgroups', 'include_ancestor_groups', 'with_custom_attributes']
  const refusals: [Record<string, string>, string][] = [
    ...[...flags, ...more].map((name): [Record<string, string>, string] => [
      { [name]: 'x' },
      `${name} is invalid`,
    ]),
    [{ visibility: 'secret' }, 'visibility does not have a valid value'],
    [{ order_by: 'size' }, 'order_by does not have a valid value'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ min_access_level: 'x' }, 'min_access_level is invalid'],
    [{ per_page: '0' }, 'per_page has a value not allowed'],
    [
      { sort: 'up', order_by: 'size' },
      'order_by does not have a valid value, sort does not have a valid value',
    ],
  ]
  for (const [query, error] of refusals) {
    const answer = await list(group, query)
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
})
