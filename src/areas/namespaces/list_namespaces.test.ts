import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { listOf, pick, shareGroup } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const list = (as: Someone, query: Record<string, string> = {}): Promise<Answered> =>
  world.call('GET', '/namespaces', { as, query })

/** The full paths of a list, in its order, and that its total says the same. */
async function paths(as: Someone, query: Record<string, string> = {}): Promise<unknown[]> {
  const answer = await list(as, query)
  const found = pick(answer, 'full_path')
  assert.equal(answer.headers['x-total'], String(found.length))
  return found
}

test('namespaces are for who is signed in, whatever the parameters', async () => {
  for (const query of ['', '?owned_only=x', '?per_page=0']) {
    const answer = await world.get(`/namespaces${query}`)
    assert.deepEqual([answer.status, answer.body], [401, { message: '401 Unauthorized' }])
  }
})

test('a user’s namespaces are the personal one and the groups they belong to, oldest first', async () => {
  const user = await world.make.user()
  const roles = [
    'guest',
    'planner',
    'reporter',
    'developer',
    'maintainer',
    'owner',
    'minimal_access',
  ] as const
  const groups: Namespace[] = []
  for (const role of roles) {
    const group = await world.make.group()
    await world.make.member(user, role, { group })
    groups.push(group)
  }
  await world.make.group({ visibility: 'public' })
  await world.make.project({ group: groups[0] as Namespace })
  assert.deepEqual(await paths(user), [user.username, ...groups.map(({ full_path }) => full_path)])
})

test('every field of a namespace is there for its owner', async () => {
  const user = await world.make.user({ name: 'Ada Byron' })
  const parent = await world.make.group({ path: 'analytical', name: 'Analytical' })
  const group = await world.make.group({ parent, path: 'engine', name: 'Engine' })
  await world.make.member(user, 'owner', { group })
  const answer = await list(user)
  assert.equal(answer.headers['content-type'], 'application/json')
  const [personal, ...rest] = listOf(answer)
  assert.deepEqual(personal, {
    id: personal?.['id'],
    name: 'Ada Byron',
    path: user.username,
    kind: 'user',
    full_path: user.username,
    parent_id: null,
    avatar_url: null,
    web_url: `https://guild.example/${user.username}`,
    billable_members_count: 1,
    plan: 'default',
    end_date: null,
    trial_ends_on: null,
    trial: false,
  })
  assert.deepEqual(rest, [
    {
      id: group.id,
      name: 'Engine',
      path: 'engine',
      kind: 'group',
      full_path: 'analytical/engine',
      parent_id: parent.id,
      avatar_url: null,
      web_url: 'https://guild.example/groups/analytical/engine',
      billable_members_count: 1,
      plan: 'default',
      end_date: null,
      trial_ends_on: null,
      trial: false,
      members_count_with_descendants: 1,
      root_repository_size: 0,
      projects_count: 0,
    },
  ])
})

test('below an owner the plan and the counts are left out', async () => {
  const group = await world.make.group()
  for (const role of ['maintainer', 'guest', 'minimal_access'] as const) {
    const user = await world.make.memberOf(role, { group })
    const [item = {}] = listOf(await list(user, { search: group.path }))
    assert.deepEqual(Object.keys(item), [
      'id',
      'name',
      'path',
      'kind',
      'full_path',
      'parent_id',
      'avatar_url',
      'web_url',
      'billable_members_count',
    ])
  }
})

test('an administrator lists all namespaces, personal ones of others included, with their plans', async () => {
  const admin = await world.make.admin()
  const user = await world.make.user({ username: 'zoe-realm' })
  const group = await world.make.group({ path: 'realm-of-zoe' })
  await world.make.project({ group, path: 'zoe-project' })
  assert.deepEqual(await paths(admin, { search: 'zoe' }), [user.username, group.full_path])
  const found = await list(admin, { search: 'zoe' })
  assert.deepEqual(pick(found, 'plan'), ['default', 'default'])
  assert.deepEqual(pick(found, 'projects_count'), [undefined, 1])
})

test('owned_only keeps the personal namespace and the groups held as owner', async () => {
  const user = await world.make.user()
  const kept = await world.make.group()
  const owned = await world.make.group()
  const below = await world.make.group({ parent: owned })
  await world.make.member(user, 'maintainer', { group: kept })
  await world.make.member(user, 'owner', { group: owned })
  const expected = [user.username, owned.full_path, below.full_path]
  assert.deepEqual(await paths(user, { owned_only: 'true' }), expected)
  assert.equal((await paths(user, { owned_only: 'false' })).length, 4)
})

test('owned_only keeps what an administrator owns, and not everything', async () => {
  const admin = await world.make.admin()
  const owned = await world.make.group()
  await world.make.member(admin, 'owner', { group: owned })
  assert.deepEqual(await paths(admin, { owned_only: 'true' }), [admin.username, owned.full_path])
})

test('top_level_only leaves subgroups out', async () => {
  const user = await world.make.user()
  const top = await world.make.group()
  await world.make.group({ parent: top })
  await world.make.member(user, 'guest', { group: top })
  assert.equal((await paths(user)).length, 3)
  assert.deepEqual(await paths(user, { top_level_only: 'true' }), [user.username, top.full_path])
  assert.equal((await paths(user, { top_level_only: 'false' })).length, 3)
  const both = { top_level_only: 'true', owned_only: 'true' }
  assert.deepEqual(await paths(user, both), [user.username])
})

test('search finds a part of the name or path, in any letter case, signs taken as they are', async () => {
  const user = await world.make.user()
  for (const options of [
    { path: 'wool', name: 'Fine Cloth' },
    { path: 'cloth-hall' },
    { path: 'iron', name: '100%' },
  ])
    await world.make.member(user, 'guest', { group: await world.make.group(options) })
  assert.deepEqual(await paths(user, { search: 'CLOTH' }), ['wool', 'cloth-hall'])
  assert.deepEqual(await paths(user, { search: '00%' }), ['iron'])
  assert.deepEqual(await paths(user, { search: 'wo' }), [], 'less than three letters: all of a name or path')
  assert.deepEqual(await paths(user, { search: 'nothing-like-it' }), [])
  assert.deepEqual(await paths(user, { search: user.username.toUpperCase() }), [user.username])
  assert.equal((await paths(user, { search: '' })).length, 4)
})

test('a role above counts below, a role below does not count above, a role on a project counts on no group', async () => {
  const top = await world.make.group()
  const group = await world.make.group({ parent: top })
  const project = await world.make.project({ group })
  const above = await world.make.memberOf('guest', { group: top })
  assert.deepEqual(await paths(above), [top.full_path, group.full_path, above.username])
  const below = await world.make.memberOf('owner', { group })
  assert.deepEqual(await paths(below), [group.full_path, below.username])
  const inside = await world.make.memberOf('owner', { project })
  assert.deepEqual(await paths(inside), [inside.username])
})

test('members of an invited group have the shared group among their namespaces', async () => {
  const group = await world.make.group()
  const invited = await world.make.group()
  await shareGroup(world, group, { invited, role: 'owner' })
  const member = await world.make.memberOf('developer', { group: invited })
  const owner = await world.make.memberOf('owner', { group: invited })
  const all = [group.full_path, invited.full_path]
  assert.deepEqual((await paths(member)).slice(0, 2), all)
  assert.deepEqual((await paths(owner, { owned_only: 'true' })).slice(0, 2), all)
  assert.deepEqual(await paths(member, { owned_only: 'true' }), [member.username])
})

test('expired roles, no access and minimal access above give no namespace', async () => {
  const user = await world.make.user()
  const [former, denied, minimal] = [
    await world.make.group(),
    await world.make.group(),
    await world.make.group(),
  ]
  await world.make.member(user, 'owner', { group: former }, '2001-01-01')
  await world.make.member(user, 'no_access', { group: denied })
  await world.make.member(user, 'owner', { group: await world.make.group({ parent: denied }) })
  await world.make.member(user, 'minimal_access', { group: minimal })
  await world.make.group({ parent: minimal })
  assert.deepEqual(await paths(user), [user.username, minimal.full_path])
  assert.deepEqual(await paths(user, { owned_only: 'true' }), [user.username])
})

test('parameters that cannot be read are refused together', async () => {
  const user = await world.make.user()
  const refusals: [Record<string, string>, string][] = [
    [{ owned_only: 'x' }, 'owned_only is invalid'],
    [{ top_level_only: 'x' }, 'top_level_only is invalid'],
    [{ search: '\0' }, 'search is invalid'],
    [{ per_page: '0' }, 'per_page has a value not allowed'],
    [{ page: 'x' }, 'page is invalid'],
    [{ top_level_only: 'x', owned_only: 'x' }, 'owned_only is invalid, top_level_only is invalid'],
  ]
  for (const [query, error] of refusals) {
    const answer = await list(user, query)
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
})

test('namespaces come in pages, with totals and links', async () => {
  const user = await world.make.user()
  const groups: Namespace[] = []
  for (let i = 0; i < 4; i++) {
    const group = await world.make.group()
    await world.make.member(user, 'guest', { group })
    groups.push(group)
  }
  const answer = await list(user, { page: '2', per_page: '2', top_level_only: 'true' })
  assert.deepEqual(pick(answer, 'id'), [groups[1]?.id, groups[2]?.id])
  const at = (page: number): string =>
    `https://guild.example/api/v4/namespaces?page=${page}&per_page=2&top_level_only=true`
  const links = `<${at(1)}>; rel="prev", <${at(3)}>; rel="next", <${at(1)}>; rel="first", <${at(3)}>; rel="last"`
  const {
    link,
    'x-total': total,
    'x-total-pages': pages,
    'x-page': page,
    'x-per-page': size,
  } = answer.headers
  assert.deepEqual(
    { link, total, pages, page, size },
    { link: links, total: '5', pages: '3', page: '2', size: '2' },
  )
  assert.deepEqual([answer.headers['x-next-page'], answer.headers['x-prev-page']], ['3', '1'])
  assert.deepEqual((await list(user, { page: '9' })).body, [])
})

test('namespaces have no keyset pages and take no other method', async () => {
  const user = await world.make.user()
  const keyset = await list(user, { pagination: 'keyset' })
  const error = 'Keyset pagination is not yet available for this type of request'
  assert.deepEqual([keyset.status, keyset.body], [405, { error }])
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await world.call(method, '/namespaces', { as: user })
    assert.deepEqual([answer.status, answer.body], [405, { error: '405 Not Allowed' }])
    assert.equal(answer.headers.allow, 'GET, HEAD')
  }
})
