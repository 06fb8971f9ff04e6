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

const identityOf = (project: Project, group: Namespace): Record<string, unknown> => ({
  id: project.id,
  description: null,
  name: project.name,
  name_with_namespace: `${group.full_name} / ${project.name}`,
  path: project.path,
  path_with_namespace: `${group.full_path}/${project.path}`,
  created_at: project.created_at.toISOString(),
  default_branch: null,
  tag_list: [],
  topics: [],
  ssh_url_to_repo: null,
  http_url_to_repo: `https://guild.example/${group.full_path}/${project.path}.git`,
  web_url: `https://guild.example/${group.full_path}/${project.path}`,
  avatar_url: null,
  star_count: 0,
  forks_count: 0,
  last_activity_at: project.last_activity_at.toISOString(),
  namespace: {
    id: group.id,
    name: group.name,
    path: group.path,
    kind: 'group',
    full_path: group.full_path,
    parent_id: group.parent_id,
    avatar_url: null,
    web_url: `https://guild.example/groups/${group.full_path}`,
  },
})
const itemOf = (project: Project, group: Namespace): Record<string, unknown> => ({
  ...identityOf(project, group),
  archived: false,
  visibility: 'public',
  issues_enabled: true,
  merge_requests_enabled: true,
  wiki_enabled: false,
  jobs_enabled: true,
  snippets_enabled: true,
  container_registry_enabled: false,
  shared_runners_enabled: true,
  creator_id: null,
  open_issues_count: 0,
  public_jobs: true,
  shared_with_groups: [],
  request_access_enabled: true,
})

test('the projects of a group carry every field of an item', async () => {
  const parent = await world.make.group({ name: 'Upper House', visibility: 'public' })
  const group = await world.make.group({ parent, name: 'Lower House', visibility: 'public' })
  const project = await world.make.project({ group, name: 'The Bill', visibility: 'public' })
  for (const as of [undefined, await world.make.admin()]) {
    const answer = await list(group, {}, as)
    assert.deepEqual(listOf(answer), [itemOf(project, group)])
    assert.equal(answer.headers['content-type'], 'application/json')
  }
})

test('a project shows what was set on it', async () => {
  const { group, projects } = await groupOf({})
  const creator = await world.make.user()
  await set(
    projects[0],
    `description = 'Bills', topics = '{law,draft}', default_branch = 'trunk', star_count = 3,
     open_public_issues_count = 4, creator_id = ${creator.id}, archived = true, avatar_url = 'https://a.example/p.png',
     settings = '{"issues_enabled": false, "public_jobs": false}'`,
  )
  assert.deepEqual(listOf(await list(group)), [
    {
      ...itemOf(projects[0] as Project, group),
      description: 'Bills',
      topics: ['law', 'draft'],
      tag_list: ['law', 'draft'],
      default_branch: 'trunk',
      star_count: 3,
      open_issues_count: 4,
      creator_id: creator.id,
      archived: true,
      avatar_url: 'https://a.example/p.png',
      issues_enabled: false,
      public_jobs: false,
    },
  ])
})

test('simple=true keeps what tells projects apart and leaves the rest out', async () => {
  const { group, projects } = await groupOf({})
  const expected = [identityOf(projects[0] as Project, group)]
  assert.deepEqual(listOf(await list(group, { simple: 'true' })), expected)
  const asked = { simple: 'true', with_custom_attributes: 'true' }
  assert.deepEqual(listOf(await list(group, asked, await world.make.admin())), expected)
  assert.deepEqual(Object.hasOwn(listOf(await list(group, { simple: 'false' }))[0] ?? {}, 'visibility'), true)
})

test('projects are ordered newest first unless asked otherwise', async () => {
  const { group, projects } = await groupOf({}, {}, {})
  const ids = projects.map(({ id }) => id)
  await set(projects[0], `created_at = '2021-01-01'`)
  await set(projects[1], `created_at = '2023-01-01'`)
  await set(projects[2], `created_at = '2022-01-01'`)
  const newest = [ids[1], ids[2], ids[0]]
  for (const query of [{}, { sort: 'desc' }, { order_by: 'created_at' }])
    assert.deepEqual(pick(await list(group, query as Record<string, string>), 'id'), newest)
  assert.deepEqual(pick(await list(group, { sort: 'asc' }), 'id'), newest.toReversed())
})

test('every order runs both ways, and ties go by id the same way', async () => {
  const { group, projects } = await groupOf(
    { path: 'p-b', name: 'n-c' },
    { path: 'p-c', name: 'n-b' },
    { path: 'p-a', name: 'n-a' },
    { path: 'p-d', name: 'n-d' },
  )
  const [a, b, c, d] = projects.map(({ id }) => id)
  for (const [i, project] of projects.entries()) {
    const day = `2020-01-0${[3, 1, 2, 2][i]}`
    await set(
      project,
      `updated_at = '${day}', last_activity_at = '${day}', created_at = '${day}',
      star_count = ${[9, 1, 5, 5][i]}`,
    )
  }
  const byDay = [b, c, d, a]
  const orders: Record<string, unknown[]> = {
    id: [a, b, c, d],
    name: [c, b, a, d],
    path: [c, a, b, d],
    created_at: byDay,
    updated_at: byDay,
    last_activity_at: byDay,
    star_count: byDay,
  }
  for (const [order_by, ascending] of Object.entries(orders)) {
    assert.deepEqual(pick(await list(group, { order_by, sort: 'asc' }), 'id'), ascending, order_by)
    for (const query of [{ order_by }, { order_by, sort: 'desc' }])
      assert.deepEqual(pick(await list(group, query), 'id'), ascending.toReversed(), `${order_by} down`)
  }
})

test('with similarity better matches come first, and without a search names decide', async () => {
  const { group } = await groupOf(
    { path: 'the-oar-shed' },
    { path: 'oars' },
    { path: 'oar' },
    { path: 'keel' },
  )
  const found = await list(group, { order_by: 'similarity', search: 'oar' })
  assert.deepEqual(pick(found, 'path'), ['oar', 'oars', 'the-oar-shed'])
  const all = await list(group, { order_by: 'similarity' })
  assert.deepEqual(pick(all, 'path'), ['keel', 'oar', 'oars', 'the-oar-shed'])
})

test('custom attributes of projects are shown to administrators who ask', async () => {
  const { group, projects } = await groupOf({})
  await set(projects[0], `custom_attributes = '{"k": "v"}'`)
  const asked = { with_custom_attributes: 'true' }
  const admin = await world.make.admin()
  assert.deepEqual(pick(await list(group, asked, admin), 'custom_attributes'), [[{ key: 'k', value: 'v' }]])
  const owner = await world.make.memberOf('owner', { group })
  for (const answer of [
    await list(group, {}, admin),
    await list(group, asked, owner),
    await list(group, asked),
  ])
    assert.ok(!Object.hasOwn(listOf(answer)[0] ?? {}, 'custom_attributes'))
})

test('the projects of a group have no keyset pages and take no other method', async () => {
  const { group } = await groupOf({})
  for (const as of [undefined, await world.make.user()]) {
    const answer = await list(group, { pagination: 'keyset' }, as)
    const error = 'Keyset pagination is not yet available for this type of request'
    assert.deepEqual([answer.status, answer.body], [405, { error }])
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await world.call(method, `/groups/${group.id}/projects`)
    assert.deepEqual([answer.status, answer.body], [405, { error: '405 Not Allowed' }])
    assert.equal(answer.headers.allow, 'GET, HEAD')
  }
})

test('pages of projects cut own and shared ones as one list', async () => {
  const { group } = await groupOf({ name: 'b' }, { name: 'd' }, { name: 'f' })
  const { projects } = await groupOf({ name: 'a' }, { name: 'c' }, { name: 'e' })
  for (const project of projects) await shareProject(world, project, { invited: group, role: 'guest' })
  const page = (page: string): Promise<Answered> =>
    list(group, { order_by: 'name', sort: 'asc', per_page: '2', page })
  assert.deepEqual(pick(await page('1'), 'name'), ['a', 'b'])
  assert.deepEqual(pick(await page('3'), 'name'), ['e', 'f'])
  assert.deepEqual(pick(await page('4'), 'name'), [])
  const { headers } = await page('2')
  const at = (number: number, rel: string): string =>
    `<https://guild.example/api/v4/groups/${group.id}/projects?order_by=name&page=${number}&per_page=2&sort=asc>; rel="${rel}"`
  assert.equal(headers.link, [at(1, 'prev'), at(3, 'next'), at(1, 'first'), at(3, 'last')].join(', '))
  const { 'x-total': total, 'x-total-pages': pages, 'x-next-page': next, 'x-prev-page': prev } = headers
  assert.deepEqual([total, pages, next, prev], ['6', '3', '3', '1'])
})
