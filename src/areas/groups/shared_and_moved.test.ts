import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { listOf, pick } from '../../../test/support/shares.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

const send = (
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  as: Someone,
  body?: object,
): Promise<Answered> => world().call(method, path, { as, ...(body && { body }) })
const status = async (path: string, as?: Someone): Promise<number> => (await world().get(path, as)).status

async function owned(options: Parameters<ReturnType<typeof world>['make']['group']>[0] = {}): Promise<{
  group: Namespace
  owner: Someone
}> {
  const group = await world().make.group(options)
  return { group, owner: await world().make.memberOf('owner', { group }) }
}

test('a share lets its members in with the next request, as far as it says, and out again', async () => {
  const { make } = world()
  const { group, owner } = await owned()
  const inner = await make.group({ parent: group })
  const invited = await make.group({ visibility: 'public' })
  const guest = await make.memberOf('owner', { group: invited })
  assert.equal(await status(`/groups/${inner.id}`, guest), 404)
  const body = { group_id: invited.id, group_access: 30, expires_at: '2099-01-01' }
  const shared = await send('POST', `/groups/${group.id}/share`, owner, body)
  assert.equal(shared.status, 201)
  assert.deepEqual((shared.body as Record<string, unknown>)['shared_with_groups'], [
    {
      group_id: invited.id,
      group_name: invited.name,
      group_full_path: invited.full_path,
      group_access_level: 30,
      expires_at: '2099-01-01',
    },
  ])
  assert.equal(await status(`/groups/${inner.id}`, guest), 200)
  assert.equal((await send('PUT', `/groups/${inner.id}`, guest, { description: 'x' })).status, 403)
  const twice = await send('POST', `/groups/${group.id}/share`, owner, body)
  assert.deepEqual(
    [twice.status, twice.body],
    [409, { message: 'Shared group The group has already been shared with this group' }],
  )
  await make.sql(`update group_group_links set expires_at = today() where shared_group_id = ${group.id}`)
  assert.equal(await status(`/groups/${inner.id}`, guest), 404)
  assert.equal((await send('POST', `/groups/${group.id}/share`, owner, body)).status, 201)
  assert.equal(await status(`/groups/${inner.id}`, guest), 200)
  assert.equal((await send('DELETE', `/groups/${group.id}/share/${invited.id}`, owner)).status, 204)
  assert.equal(await status(`/groups/${inner.id}`, guest), 404)
  const gone = await send('DELETE', `/groups/${group.id}/share/${invited.id}`, owner)
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Group Link Not Found' }])
})

test('a group is shared with no group that its owner cannot see, nor outside where that is forbidden', async () => {
  const { make } = world()
  const { group, owner } = await owned()
  const [hidden, open] = [await make.group(), await make.group({ visibility: 'public' })]
  const near = await make.group({ parent: group })
  const share = (group_id: number, group_access = 30): Promise<Answered> =>
    send('POST', `/groups/${group.id}/share`, owner, { group_id, group_access })
  const before = await contents(world())
  assert.deepEqual((await share(hidden.id)).body, { message: '404 Group Not Found' })
  assert.deepEqual((await share(999_999)).body, { message: '404 Group Not Found' })
  assert.deepEqual((await share(open.id, 33)).body, { error: 'group_access does not have a valid value' })
  assert.equal((await share(group.id)).status, 404)
  assert.equal(await contents(world()), before)
  const fence = { prevent_sharing_groups_outside_hierarchy: true }
  assert.equal((await send('PUT', `/groups/${group.id}`, owner, fence)).status, 200)
  assert.equal((await share(open.id)).status, 404)
  assert.equal((await share(near.id)).status, 201)
})

test('a group moves with all that is in it: rights, addresses and sight are new with the next request', async () => {
  const { make } = world()
  const { group: from, owner } = await owned({ visibility: 'public' })
  const to = await make.group({ visibility: 'internal' })
  await make.member(owner, 'maintainer', { group: to })
  const group = await make.group({ parent: from, visibility: 'public' })
  const inner = await make.group({ parent: group, visibility: 'public' })
  const project = await make.project({ group: inner, visibility: 'public' })
  const above = await make.memberOf('developer', { group: from })
  const beyond = await make.memberOf('developer', { group: to })
  await make.member(owner, 'owner', { group })
  const moved = await send('POST', `/groups/${group.id}/transfer`, owner, { group_id: to.id })
  assert.equal(moved.status, 201, moved.text)
  const full = `${to.path}/${group.path}`
  assert.deepEqual(
    await rowsOf(
      world(),
      `select full_path, visibility, traversal_ids from namespaces where id = any($1) order by id`,
      [[group.id, inner.id]],
    ),
    [
      { full_path: full, visibility: 'internal', traversal_ids: [to.id, group.id] },
      {
        full_path: `${full}/${inner.path}`,
        visibility: 'internal',
        traversal_ids: [to.id, group.id, inner.id],
      },
    ],
  )
  assert.deepEqual(
    await rowsOf(world(), 'select full_path, visibility from projects where id = $1', [project.id]),
    [{ full_path: `${full}/${inner.path}/${project.path}`, visibility: 'internal' }],
  )
  await make.sql(`update namespaces set visibility = 'private' where id in (${group.id}, ${inner.id})`)
  assert.deepEqual(
    [await status(`/groups/${inner.id}`, above), await status(`/groups/${inner.id}`, beyond)],
    [404, 200],
  )
  const top = await send('POST', `/groups/${group.id}/transfer`, owner, {})
  assert.equal((top.body as Record<string, unknown>)['full_path'], group.path)
  assert.equal(await status(`/groups/${inner.id}`, beyond), 404)
})

test('a group that reaches the top without an owner is owned by who moved it', async () => {
  const { group: parent, owner } = await owned()
  const group = await world().make.group({ parent })
  assert.equal((await send('POST', `/groups/${group.id}/transfer`, owner)).status, 201)
  assert.equal((await send('PUT', `/groups/${group.id}`, owner, { description: 'mine' })).status, 200)
})

test('a group that cannot move is told why, in the published words, and stays', async () => {
  const { make } = world()
  const { group, owner } = await owned()
  const inner = await make.group({ parent: group })
  const deeper = await make.group({ parent: inner })
  const other = await make.group({ visibility: 'public' })
  const { group: target } = await owned()
  await make.member(owner, 'maintainer', { group: target })
  await make.group({ parent: target, path: group.path })
  const word = await make.group({ parent: group, path: 'explore' })
  const hidden = await make.group()
  const before = await contents(world())
  const cases: readonly (readonly [number, object, number, string])[] = [
    [group.id, {}, 400, 'Transfer failed: Group is already a root group.'],
    [group.id, { group_id: '' }, 400, 'Transfer failed: Group is already a root group.'],
    [
      inner.id,
      { group_id: group.id },
      400,
      'Transfer failed: Group is already associated to the parent group.',
    ],
    [
      group.id,
      { group_id: deeper.id },
      400,
      'Transfer failed: Cannot transfer group to one of its subgroup.',
    ],
    [group.id, { group_id: group.id }, 400, 'Transfer failed: Cannot transfer group to one of its subgroup.'],
    [group.id, { group_id: other.id }, 400, "Transfer failed: You don't have enough permissions."],
    [group.id, { group_id: hidden.id }, 404, '404 Group Not Found'],
    [word.id, {}, 400, 'Transfer failed: Validation failed: Path explore is a reserved name'],
    [
      group.id,
      { group_id: target.id },
      400,
      'Transfer failed: The parent group already has a subgroup or a project with the same path.',
    ],
  ]
  for (const [id, body, code, message] of cases) {
    const answer = await send('POST', `/groups/${id}/transfer`, owner, body)
    assert.deepEqual([answer.status, answer.body], [code, { message }])
  }
  assert.equal(await contents(world()), before)
})

test('two groups that move into each other at once never both do, whatever is made in them meanwhile', async () => {
  const { make } = world()
  const owner = await make.user()
  for (let round = 0; round < 8; round++) {
    const [a, b] = [await make.group(), await make.group()]
    for (const group of [a, b]) await make.member(owner, 'owner', { group })
    const [aIn, bIn] = [await make.group({ parent: a }), await make.group({ parent: b })]
    const answers = await Promise.all([
      send('POST', `/groups/${a.id}/transfer`, owner, { group_id: bIn.id }),
      send('POST', `/groups/${b.id}/transfer`, owner, { group_id: aIn.id }),
      send('POST', '/groups', owner, { name: 'new', path: 'new', parent_id: aIn.id }),
      send('PUT', `/groups/${bIn.id}`, owner, { path: 'renamed' }),
    ])
    assert.deepEqual(
      answers
        .slice(0, 2)
        .map(({ status: code }) => code)
        .sort((one, other) => one - other),
      [201, 400],
    )
    assert.deepEqual(
      answers.slice(2).map(({ status: code }) => code),
      [201, 200],
    )
    const wrong = await rowsOf(
      world(),
      `select n.id from namespaces n left join namespaces p on p.id = n.parent_id
        where n.full_path <> concat_ws('/', p.full_path, n.path)
           or n.traversal_ids <> coalesce(p.traversal_ids, '{}') || n.id
           or not exists (select from routes r where r.namespace_id = n.id and r.path = lower(n.full_path))`,
    )
    assert.deepEqual(wrong, [])
  }
})

test('transfer targets are listed to those who may transfer the group', async () => {
  const { make } = world()
  const { group: parent, owner } = await owned()
  const group = await make.group({ parent })
  await make.group({ parent: group })
  const good = await make.group({ name: 'Good' })
  await make.member(owner, 'maintainer', { group: good })
  const strict = await make.group()
  await make.member(owner, 'maintainer', { group: strict })
  await make.sql(
    `update namespaces set settings = '{"subgroup_creation_level": "owner"}' where id = ${strict.id}`,
  )
  await make.member(owner, 'developer', { group: await make.group() })
  const answer = await world().get(`/groups/${group.id}/transfer_locations`, owner)
  assert.deepEqual(answer.body, [
    {
      id: good.id,
      web_url: `https://guild.example/groups/${good.full_path}`,
      name: 'Good',
      avatar_url: null,
      full_name: 'Good',
      full_path: good.full_path,
    },
  ])
  assert.deepEqual(
    pick(await world().get(`/groups/${group.id}/transfer_locations?search=nothing`, owner), 'id'),
    [],
  )
})

test('descendant groups are listed as far as the caller sees them', async () => {
  const { make } = world()
  const top = await make.group({ visibility: 'public', path: 'listed-top' })
  const open = await make.group({ parent: top, visibility: 'public', name: 'b-open' })
  const closed = await make.group({ parent: top, name: 'a-closed' })
  const deep = await make.group({ parent: closed, name: 'c-deep' })
  const [user, guest, admin] = [
    await make.user(),
    await make.memberOf('guest', { group: top }),
    await make.admin(),
  ]
  const ids = async (list: string, as?: Someone, query = ''): Promise<unknown[]> =>
    pick(await world().get(`/groups/${top.id}/${list}?${query}`, as), 'id')
  assert.deepEqual(await ids('subgroups'), [open.id])
  assert.deepEqual(await ids('subgroups', user), [])
  assert.deepEqual(await ids('subgroups', user, 'all_available=true'), [open.id])
  assert.deepEqual(await ids('subgroups', guest), [closed.id, open.id])
  assert.deepEqual(await ids('subgroups', admin), [closed.id, open.id])
  assert.deepEqual(await ids('descendant_groups', guest), [closed.id, open.id, deep.id])
  assert.deepEqual(await ids('descendant_groups', guest, 'order_by=id&sort=desc'), [
    deep.id,
    closed.id,
    open.id,
  ])
  assert.deepEqual(await ids('descendant_groups', guest, 'search=listed-top'), [])
  assert.deepEqual(await ids('descendant_groups', guest, 'search=DEEP'), [deep.id])
  assert.deepEqual(await ids('descendant_groups', guest, `skip_groups=${closed.id}&visibility=private`), [
    deep.id,
  ])
  const sizes = listOf(await world().get(`/groups/${top.id}/subgroups?statistics=true`, admin))
  assert.ok(sizes.every((one) => 'statistics' in one && !('root_storage_statistics' in one)))
  assert.equal((await world().get(`/groups/${top.id}/subgroups`, guest)).headers['x-total'], '2')
})

test('shared projects and invited groups are listed as far as the caller sees them', async () => {
  const { make } = world()
  const { group, owner } = await owned({ visibility: 'public' })
  const inner = await make.group({ parent: group, visibility: 'public' })
  const [open, closed] = [
    await make.group({ visibility: 'public', name: 'b' }),
    await make.group({ name: 'a' }),
  ]
  const [project, secret] = [await make.project({ visibility: 'public' }), await make.project()]
  await make.sql(`
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access, expires_at) values
      (${group.id}, ${open.id}, 30, null), (${inner.id}, ${closed.id}, 30, null),
      (${group.id}, ${closed.id}, 30, today()), (${open.id}, ${group.id}, 20, null), (${closed.id}, ${group.id}, 20, null);
    insert into project_group_links (project_id, group_id, group_access) values
      (${project.id}, ${group.id}, 30), (${secret.id}, ${group.id}, 30)`)
  const stranger = await make.user()
  const insider = await make.memberOf('guest', { group: closed })
  const ids = async (path: string, as?: Someone): Promise<unknown[]> =>
    pick(await world().get(`/groups/${path}`, as), 'id')
  assert.deepEqual(await ids(`${group.id}/groups/shared`), [open.id])
  assert.deepEqual(await ids(`${group.id}/groups/shared`, stranger), [open.id])
  assert.deepEqual(await ids(`${group.id}/groups/shared`, owner), [closed.id, open.id])
  assert.deepEqual(await ids(`${inner.id}/invited_groups`, insider), [closed.id, open.id])
  assert.deepEqual(await ids(`${inner.id}/invited_groups?relation[]=direct`, insider), [closed.id])
  assert.deepEqual(await ids(`${inner.id}/invited_groups?relation=inherited`, insider), [open.id])
  assert.deepEqual(await ids(`${inner.id}/invited_groups`, stranger), [open.id])
  const wrong = await world().get(`/groups/${group.id}/invited_groups?relation=far`)
  assert.deepEqual(wrong.body, { error: 'relation does not have a valid value' })
  assert.deepEqual(await ids(`${group.id}/projects/shared`), [project.id])
  assert.deepEqual(await ids(`${group.id}/projects/shared?sort=asc`, owner), [project.id, secret.id])
})

test('a role on a group shows no private group that was invited to it, or it to', async () => {
  const { make } = world()
  const host = await make.group()
  const [hidden, open] = [await make.group(), await make.group({ visibility: 'public' })]
  await make.sql(`
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access) values
      (${host.id}, ${hidden.id}, 30), (${host.id}, ${open.id}, 30)`)
  for (const role of ['guest', 'owner'] as const) {
    const member = await make.memberOf(role, { group: host })
    const seen = await world().get(`/groups/${host.id}/invited_groups`, member)
    assert.deepEqual([pick(seen, 'id'), seen.headers['x-total']], [[open.id], '1'], role)
  }
  const below = await make.memberOf('guest', { group: hidden })
  assert.deepEqual(pick(await world().get(`/groups/${hidden.id}/groups/shared`, below), 'id'), [host.id])
})

test('lists beside a group cost as many statements for one row as for a hundred', async () => {
  const { make } = world()
  const { group, owner } = await owned({ visibility: 'public' })
  const add = (from: number, to: number): Promise<void> =>
    make.sql(`
      insert into namespaces (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility)
      overriding system value
      select ${group.id}0000 + i, 'group', ${group.id}, 'n' || i, 'n' || i, 'n' || i,
             '${group.full_path}/n' || i, array[${group.id}, ${group.id}0000 + i], 'public'
        from generate_series(${from}, ${to}) i;
      insert into group_group_links (shared_group_id, shared_with_group_id, group_access)
      select ${group.id}, id, 30 from namespaces where parent_id = ${group.id} on conflict do nothing;
      insert into group_group_links (shared_group_id, shared_with_group_id, group_access)
      select id, ${group.id}, 30 from namespaces where parent_id = ${group.id} on conflict do nothing`)
  // One to sign in, and one for the page.
  const lists = [
    ['subgroups', 2],
    ['descendant_groups', 2],
    ['groups/shared', 2],
    ['invited_groups', 2],
    ['transfer_locations', 2],
  ] as const
  await add(1, 1)
  for (const rows of [1, 100]) {
    for (const [list, statements] of lists) {
      await make.sql('update personal_access_tokens set last_used_at = now()')
      const path = `/groups/${group.id}/${list}?per_page=100`
      const sent = await world().statements(() => world().get(path, owner))
      assert.equal(sent.length, statements, list)
      if (list !== 'transfer_locations')
        assert.equal(listOf(await world().get(path, owner)).length, rows, list)
    }
    if (rows === 1) await add(2, 100)
  }
})

test('an administrator moves a project into a group, as far as nothing there bears its name', async () => {
  const { make } = world()
  const admin = await make.admin()
  const group = await make.group({ visibility: 'internal' })
  const [project, twin] = [await make.project({ visibility: 'public' }), await make.project()]
  const answer = await send('POST', `/groups/${group.id}/projects/${project.id}`, admin)
  assert.equal(answer.status, 201, answer.text)
  const [inside] = (answer.body as { projects: Record<string, unknown>[] }).projects
  assert.deepEqual(
    [inside?.['id'], inside?.['path_with_namespace'], inside?.['visibility']],
    [project.id, `${group.path}/${project.path}`, 'internal'],
  )
  const again = await send('POST', `/groups/${group.id}/projects/${group.path}%2F${project.path}`, admin)
  assert.deepEqual(
    [again.status, again.body],
    [
      400,
      { message: 'Failed to transfer project {:new_namespace=>["Project is already in this namespace."]}' },
    ],
  )
  await make.sql(
    `update projects set path = '${project.path}', name = 'other', full_path = 'elsewhere/x' where id = ${twin.id}`,
  )
  const taken = await send('POST', `/groups/${group.id}/projects/${twin.id}`, admin)
  assert.deepEqual(taken.body, {
    message:
      'Failed to transfer project {:new_namespace=>["Project with same name or path in target namespace already exists"]}',
  })
  const none = await send('POST', `/groups/${group.id}/projects/999999`, admin)
  assert.deepEqual([none.status, none.body], [404, { message: '404 Project Not Found' }])
})
