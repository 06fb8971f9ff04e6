import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { listOf } from '../../../test/support/shares.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

// How often the database is asked. Figures are statements, not time.

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

/** How many statements one request costs when the use of the caller's token is noted already. */
async function cost(path: string, as?: Someone): Promise<number> {
  await world.make.sql('update personal_access_tokens set last_used_at = now()')
  const sent = await world.statements(async () => assert.equal((await world.get(path, as)).status, 200))
  return sent.length
}

/** Adds a hundred subgroups, projects and shares to a group: all public. */
const crowd = (group: Namespace): Promise<void> =>
  world.make.sql(`
    insert into namespaces (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility)
    overriding system value
    select ${group.id}0000 + i, 'group', ${group.id}, 'crowd-' || i, 'crowd-' || i, 'crowd-' || i,
           '${group.full_path}/crowd-' || i, array[${group.id}, ${group.id}0000 + i], 'public'
      from generate_series(1, 100) i;
    insert into projects (namespace_id, name, path, full_path, visibility)
    select ${group.id}, 'p-' || i, 'p-' || i, '${group.full_path}/p-' || i, 'public' from generate_series(1, 100) i;
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access)
    select ${group.id}, id, 30 from namespaces where parent_id = ${group.id};
    insert into project_group_links (project_id, group_id, group_access)
    select p.id, n.id, 30 from projects p join namespaces n on n.parent_id = p.namespace_id
     where p.namespace_id = ${group.id} and p.id % 10 = n.id % 10`)

test('a list costs as many statements for one row as for a hundred', async () => {
  const group = await world.make.group({ visibility: 'public' })
  await world.make.project({ group, visibility: 'public' })
  const member = await world.make.memberOf('guest', { group })
  const admin = await world.make.admin()
  const requests: [string, Someone | undefined][] = [
    [`/groups?per_page=100&search=${group.path}`, undefined],
    [`/groups?per_page=100&search=${group.path}`, member],
    [`/groups?per_page=100&search=${group.path}&statistics=true&with_custom_attributes=true`, admin],
    [`/groups/${group.id}/projects?per_page=100`, undefined],
    [`/groups/${group.id}/projects?per_page=100&include_subgroups=true`, member],
    [`/groups/${group.id}/projects?per_page=100&with_custom_attributes=true`, admin],
  ]
  const few: number[] = []
  for (const [path, as] of requests) {
    assert.equal(listOf(await world.get(path, as)).length, 1)
    few.push(await cost(path, as))
  }
  await crowd(group)
  const many: number[] = []
  for (const [path, as] of requests) {
    assert.equal(listOf(await world.get(path, as)).length, 100)
    many.push(await cost(path, as))
  }
  // One to sign in, and one for the page.
  assert.deepEqual(few, [1, 2, 2, 2, 2, 2], 'without a token and a record there is nothing to sign in with')
  assert.deepEqual(many, few)
})

test('a keyset page costs one statement, for one row and for a hundred', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const path = `/groups?pagination=keyset&per_page=100&search=${group.path}`
  assert.deepEqual([listOf(await world.get(path)).length, await cost(path)], [1, 1])
  await crowd(group)
  assert.deepEqual([listOf(await world.get(path)).length, await cost(path)], [100, 1])
})

test('a group costs one statement with its caller, and three for what hangs on it, however much that is', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const owner = await world.make.memberOf('owner', { group })
  const alone = [await cost(`/groups/${group.id}`), await cost(`/groups/${group.id}`, owner)]
  const bare = await cost(`/groups/${group.id}?with_projects=false`, owner)
  await crowd(group)
  assert.deepEqual(alone, [4, 4])
  assert.equal(bare, 2)
  assert.deepEqual([await cost(`/groups/${group.id}`), await cost(`/groups/${group.id}`, owner)], alone)
  assert.equal(await cost(`/groups/${group.id}?with_projects=false`, owner), bare)
})

test('a group that is not there costs one statement', async () => {
  const user = await world.make.user()
  await cost('/groups', user)
  for (const path of ['/groups/987654321', '/groups/no-such-group/projects']) {
    const sent = await world.statements(async () => assert.equal((await world.get(path, user)).status, 404))
    assert.equal(sent.length, 1)
  }
})

test('filters and orders go together in every combination', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const callers = [undefined, await world.make.memberOf('owner', { group }), await world.make.admin()]
  const all = `search=${group.path}&visibility=public&skip_groups=1,2&top_level_only=true&statistics=true`
  const paid = 'repository_storage=default&marked_for_deletion_on=2031-01-01'
  const scopes = ['', 'all_available=true', 'all_available=false', 'owned=true', 'min_access_level=5']
  const orders = ['name', 'path', 'id', 'similarity']
  for (const as of callers)
    for (const scope of scopes)
      for (const order of orders) {
        const query = `order_by=${order}&sort=desc&${scope}`
        for (const rest of ['', `&${all}`, `&${all}&${paid}`])
          assert.equal((await world.get(`/groups?${query}${rest}`, as)).status, 200, query + rest)
      }
})

test('filters and orders of projects go together in every combination', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const callers = [undefined, await world.make.memberOf('owner', { group }), await world.make.admin()]
  const all = 'search=a&visibility=public&archived=false&starred=true&with_issues_enabled=true&simple=true'
  const reaches = [
    '',
    'include_subgroups=true',
    'include_ancestor_groups=true',
    'with_shared=false',
    'owned=true',
  ]
  const both = 'include_subgroups=true&include_ancestor_groups=true&with_merge_requests_enabled=true'
  const orders = [
    'id',
    'name',
    'path',
    'created_at',
    'updated_at',
    'similarity',
    'star_count',
    'last_activity_at',
  ]
  for (const as of callers)
    for (const reach of [...reaches, both, `${both}&with_shared=false&min_access_level=50`])
      for (const order of orders)
        for (const rest of ['', `&${all}`]) {
          const path = `/groups/${group.id}/projects?order_by=${order}&${reach}${rest}`
          assert.equal((await world.get(path, as)).status, 200, path)
        }
})
