import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { removeTree } from '../../core/places/group_tree.ts'
import { removeRepository } from '../../core/places/project_removal.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

type Body = Record<string, unknown> & { readonly id: number }
const send = (
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  as: Someone,
  body?: object,
): Promise<Answered> => world().call(method, path, { as, ...(body && { body }) })
async function made(as: Someone, body: object): Promise<Body> {
  const answer = await send('POST', '/groups', as, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body
}
const fresh = (): string => `g-${Math.random().toString(36).slice(2, 10)}`

test('the creator of a group owns it and reads it at once', async () => {
  const user = await world().make.user()
  const path = fresh()
  const body = await made(user, { name: 'Harbour & Söhne'.replace(' & ', ' - '), path, description: 'Ships' })
  assert.equal(body['full_path'], path)
  assert.equal(body['full_name'], 'Harbour - Söhne')
  assert.equal(body['visibility'], 'private')
  assert.equal(body['web_url'], `https://guild.example/groups/${path}`)
  assert.match(String(body['runners_token']), /^GR1348941/)
  assert.deepEqual([body['projects'], body['shared_projects'], body['shared_with_groups']], [[], [], []])
  assert.deepEqual((await world().get(`/groups/${path}`, user)).body, body)
  assert.deepEqual(
    await rowsOf(world(), 'select user_id, access_level from members where namespace_id = $1', [body.id]),
    [{ user_id: user.id, access_level: 50 }],
  )
})

test('a group without a visibility has the one that the instance gives, but no more than its parent', async () => {
  const owner = await world().make.user()
  await world().make.sql(`insert into settings (name, value) values ('default_group_visibility', '"public"')`)
  await world().opened.instance.settings.reload()
  const top = await made(owner, { name: 'top', path: fresh() })
  const inner = await made(owner, { name: 'x', path: fresh(), visibility: 'internal' })
  const below = await made(owner, { name: 'y', path: fresh(), parent_id: inner.id })
  assert.deepEqual([top['visibility'], below['visibility']], ['public', 'internal'])
  await world().make.sql(`delete from settings where name = 'default_group_visibility'`)
  await world().opened.instance.settings.reload()
})

const SETTINGS: Record<string, unknown> = {
  description: 'All of it',
  visibility: 'public',
  share_with_group_lock: true,
  require_two_factor_authentication: true,
  two_factor_grace_period: 24,
  project_creation_level: 'maintainer',
  subgroup_creation_level: 'owner',
  auto_devops_enabled: true,
  emails_enabled: false,
  mentions_disabled: true,
  lfs_enabled: false,
  request_access_enabled: false,
  default_branch: 'trunk',
  default_branch_protection: 3,
  shared_runners_setting: 'disabled_and_overridable',
  enabled_git_access_protocol: 'http',
  prevent_sharing_groups_outside_hierarchy: true,
  math_rendering_limits_enabled: false,
  lock_math_rendering_limits_enabled: true,
  membership_lock: true,
  file_template_project_id: 9,
  assistant_features_enabled: false,
  lock_assistant_features_enabled: true,
  assistant_availability: 'never_on',
  experiment_features_enabled: true,
}

test('every setting is kept, shown by the answer and by the next reading, and taken one by one', async () => {
  const owner = await world().make.user()
  const group = await made(owner, { name: 'set', path: fresh() })
  for (const [name, value] of Object.entries(SETTINGS)) {
    const answer = await send('PUT', `/groups/${group.id}`, owner, { [name]: value })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual((answer.body as Body)[name], value, name)
    assert.deepEqual((await world().get(`/groups/${group.id}`, owner)).body, answer.body)
  }
  const body = (await world().get(`/groups/${group.id}`, owner)).body as Body
  for (const [name, value] of Object.entries(SETTINGS)) assert.deepEqual(body[name], value, name)
  assert.equal(body['emails_disabled'], true)
  assert.deepEqual(body['default_branch_protection_defaults'], {
    allowed_to_push: [{ access_level: 40 }],
    allowed_to_merge: [{ access_level: 30 }],
    allow_force_push: false,
  })
  const { prevent_sharing_groups_outside_hierarchy: _later, ...first } = SETTINGS
  const twin = await made(owner, { name: 'twin', path: fresh(), ...first })
  for (const [name, value] of Object.entries(first)) assert.deepEqual(twin[name], value, name)
})

test('features without operations are shown as switched off, whatever is set', async () => {
  const owner = await world().make.user()
  const { id } = await made(owner, { name: 'announced', path: fresh() })
  const { body } = await send('PUT', `/groups/${id}`, owner, {
    lfs_enabled: true,
    wiki_access_level: 'enabled',
  })
  const { lfs_enabled, wiki_access_level } = body as Body
  assert.deepEqual([lfs_enabled, wiki_access_level], [false, 'disabled'])
})

test('limits of minutes are for administrators, and what would not hold is not taken', async () => {
  const [owner, admin] = [await world().make.user(), await world().make.admin()]
  const { id } = await made(owner, { name: 'm', path: fresh() })
  const before = await contents(world())
  assert.equal((await send('PUT', `/groups/${id}`, owner, { shared_runners_minutes_limit: 5 })).status, 403)
  const answers = [
    [{ ip_restriction_ranges: '10.0.0.0/8' }, { error: 'ip_restriction_ranges is not supported' }],
    [{ avatar: 'picture' }, { error: 'avatar is invalid' }],
    [
      { emails_enabled: true, emails_disabled: true },
      { error: 'emails_disabled, emails_enabled are mutually exclusive' },
    ],
    [{ visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
    [
      { description: 'x'.repeat(501) },
      { message: { description: ['is too long (maximum is 500 characters)'] } },
    ],
  ] as const
  for (const [body, said] of answers) {
    const answer = await send('PUT', `/groups/${id}`, owner, body)
    assert.deepEqual([answer.status, answer.body], [400, said])
  }
  assert.equal(await contents(world()), before)
  const set = await send('PUT', `/groups/${id}`, admin, { shared_runners_minutes_limit: 5, avatar: '' })
  assert.equal((set.body as Body)['shared_runners_minutes_limit'], 5)
})

const PATH_FORM =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or '.', end in '.', '.git' or '.atom'."

test('a group that cannot be is refused in the published words, and nothing is kept of it', async () => {
  const owner = await world().make.user()
  const known = await made(owner, { name: 'known', path: fresh() })
  const path = String(known['path'])
  const taken = 'Failed to save group {:path=>["has already been taken"]}'
  const form = `can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'.`
  const before = await contents(world())
  const cases: readonly (readonly [object, string])[] = [
    [{ name: 'x', path }, taken],
    [{ name: 'x', path: path.toUpperCase() }, taken],
    [{ name: 'x', path: owner.username }, taken],
    [{ name: '<b>x</b>', path: fresh() }, `Failed to save group {:name=>["${form}"]}`],
    [{ name: ' ', path: fresh() }, `Failed to save group {:name=>["can't be blank"]}`],
    ...['api', 'Dashboard', 'v2', 's', 'robots.txt', 'health_check'].map(
      (path) =>
        [{ name: 'x', path }, `Failed to save group {:path=>["${path} is a reserved name"]}`] as const,
    ),
    ...['é', '日本', 'straße', 'a٣'].map(
      (path) => [{ name: path, path }, `Failed to save group {:path=>["${PATH_FORM}"]}`] as const,
    ),
    [
      { name: 'x'.repeat(256), path: fresh() },
      'Failed to save group {:name=>["is too long (maximum is 255 characters)"]}',
    ],
    [
      { name: 'x', path: fresh(), parent_id: known.id, visibility: 'public' },
      'Failed to save group {:visibility_level=>["public is not allowed since the parent group has a private visibility."]}',
    ],
  ]
  for (const [body, message] of cases) {
    const answer = await send('POST', '/groups', owner, body)
    assert.deepEqual([answer.status, answer.body], [400, { message }])
  }
  assert.equal(await contents(world()), before)
})

test('of many who take one path at once one gets it', async () => {
  const owner = await world().make.user()
  const path = fresh()
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => send('POST', '/groups', owner, { name: 'x', path })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 201))
    assert.deepEqual(
      [answer.status, answer.body],
      [400, { message: 'Failed to save group {:path=>["has already been taken"]}' }],
    )
})

test('subgroup creation follows the setting of the group; external users create no top-level group', async () => {
  const { make } = world()
  const owner = await make.user()
  const top = await made(owner, { name: 'top', path: fresh() })
  const member = async (role: 'developer' | 'maintainer'): Promise<Someone> =>
    make.memberOf(role, { group: top })
  const [developer, maintainer] = [await member('developer'), await member('maintainer')]
  const create = (as: Someone): Promise<Answered> =>
    send('POST', '/groups', as, { name: 'in', path: fresh(), parent_id: top.id })
  assert.equal((await create(developer)).status, 403)
  const inner = await create(maintainer)
  assert.equal(inner.status, 201)
  assert.match(String((inner.body as Body)['full_path']), new RegExp(`^${String(top['path'])}/`))
  await send('PUT', `/groups/${top.id}`, owner, { subgroup_creation_level: 'owner' })
  assert.equal((await create(maintainer)).status, 403)
  assert.equal((await create(owner)).status, 201)
  const stranger = await make.user()
  for (const parent_id of [top.id, 999_999]) {
    const answer = await send('POST', '/groups', stranger, { name: 'in', path: fresh(), parent_id })
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Group Not Found' }])
  }
  await make.sql(`update users set external = true where id = ${stranger.id}`)
  assert.equal((await send('POST', '/groups', stranger, { name: 'in', path: fresh() })).status, 403)
  await make.sql(`update users set can_create_group = false where id = ${owner.id}`)
  assert.equal((await send('POST', '/groups', owner, { name: 'in', path: fresh() })).status, 403)
  assert.equal((await create(owner)).status, 201)
})

test('a new path is the path of everything below, in every record and address, by one statement for any number', async () => {
  const { make } = world()
  const owner = await make.user()
  const top = await made(owner, { name: 'Old', path: fresh() })
  const inner = await made(owner, { name: 'Inner', path: 'inner', parent_id: top.id })
  const [old, now] = [String(top['path']), fresh()]
  const group = { id: inner.id, full_path: `${old}/inner` } as never
  const project = await make.project({ group, path: 'boat', repository: 'empty' })
  const rename = (path: string): Promise<string[]> =>
    world().statements(() => send('PUT', `/groups/${top.id}`, owner, { path, name: 'New' }))
  await world().get('/user', owner)
  const few = await rename(fresh())
  for (let i = 0; i < 5; i++) await make.project({ group })
  assert.equal((await rename(now)).length, few.length)
  const seen = (await world().get(`/groups/${now}%2Finner`, owner)).body as Body
  assert.deepEqual([seen['full_path'], seen['full_name']], [`${now}/inner`, 'New / Inner'])
  const listed = await world().get(`/groups/${inner.id}/projects?search=boat`, owner)
  const [boat] = listed.body as Record<string, unknown>[]
  assert.equal(boat?.['path_with_namespace'], `${now}/inner/boat`)
  assert.equal(boat['http_url_to_repo'], `https://guild.example/${now}/inner/boat.git`)
  assert.equal((await world().get(`/groups/${old}`, owner)).status, 404)
  const refs = (path: string): Promise<number> =>
    world()
      .app.inject({
        url: `/${path}.git/info/refs?service=git-upload-pack`,
        headers: { authorization: `Basic ${Buffer.from(`x:${owner.token}`).toString('base64')}` },
      })
      .then((response) => response.statusCode)
  assert.deepEqual([await refs(`${now}/inner/boat`), await refs(`${old}/inner/boat`)], [200, 200])
  const routes = await rowsOf(world(), 'select path from routes where project_id = $1', [project.id])
  assert.deepEqual(routes, [{ path: `${now}/inner/boat` }])
  const other = await made(owner, { name: 'x', path: fresh() })
  const taken = await send('PUT', `/groups/${other.id}`, owner, { path: now })
  assert.deepEqual([taken.status, taken.body], [400, { message: { path: ['has already been taken'] } }])
})

test('a group is not hidden behind what it holds, nor wider than what holds it', async () => {
  const { make } = world()
  const owner = await make.user()
  const top = await made(owner, { name: 'x', path: fresh(), visibility: 'internal' })
  const inner = await made(owner, { name: 'y', path: fresh(), parent_id: top.id })
  await send('PUT', `/groups/${inner.id}`, owner, { visibility: 'internal' })
  await make.project({
    group: { id: top.id, full_path: String(top['full_path']) } as never,
    visibility: 'internal',
  })
  const narrow = await send('PUT', `/groups/${top.id}`, owner, { visibility: 'private' })
  const texts = [
    'private is not allowed since this group contains projects with higher visibility.',
    'private is not allowed since there are sub-groups with higher visibility.',
  ]
  assert.deepEqual([narrow.status, narrow.body], [400, { message: { visibility_level: texts } }])
  const wide = await send('PUT', `/groups/${inner.id}`, owner, { visibility: 'public' })
  assert.deepEqual(wide.body, {
    message: {
      visibility_level: ['public is not allowed since the parent group has a internal visibility.'],
    },
  })
})

test('a deleted group is gone for the next request with all that was in it, and its repositories with it', async () => {
  const { make, opened } = { ...world(), opened: world().opened }
  const { instance } = opened
  const owner = await make.user()
  const top = await made(owner, { name: 'x', path: fresh() })
  const inner = await made(owner, { name: 'y', path: fresh(), parent_id: top.id })
  const group = { id: inner.id, full_path: String(inner['full_path']) } as never
  const project = await make.project({ group, repository: 'empty' })
  const folder = instance.git.directory(repositoryPath(project.id))
  await assert.rejects(
    instance.db.transaction(async (tx) => {
      await removeTree(tx, top.id, null)
      throw new Error('changed my mind')
    }),
  )
  assert.equal((await world().get(`/groups/${inner.id}`, owner)).status, 200)
  const jobs = (): Promise<unknown[]> =>
    rowsOf(world(), `select key from graphile_worker.jobs where task_identifier = 'remove_repository'`)
  assert.deepEqual(await jobs(), [])
  const answer = await send('DELETE', `/groups/${top.id}`, owner)
  assert.deepEqual([answer.status, answer.body], [202, { message: '202 Accepted' }])
  for (const path of [`/groups/${top.id}`, `/groups/${inner.id}`, `/groups/${inner.id}/projects`])
    assert.deepEqual((await world().get(path, owner)).body, { message: '404 Group Not Found' })
  assert.deepEqual(await jobs(), [{ key: `remove_repository ${project.id}` }])
  assert.equal(existsSync(folder), true)
  await removeRepository.run(instance, { project_id: project.id })
  assert.equal(existsSync(folder), false)
  await made(owner, { name: 'again', path: String(top['path']) })
})

test('a deletion costs as many statements for fifty projects as for one', async () => {
  const { make } = world()
  const owner = await make.user()
  const costs: number[] = []
  for (const count of [1, 50]) {
    const top = await made(owner, { name: 'x', path: fresh() })
    const group = { id: top.id, full_path: String(top['full_path']) } as never
    for (let i = 0; i < count; i++) await make.project({ group })
    await make.sql('update personal_access_tokens set last_used_at = now()')
    const sent = await world().statements(() => send('DELETE', `/groups/${top.id}`, owner))
    costs.push(sent.length)
    assert.deepEqual(await rowsOf(world(), 'select id from projects where namespace_id = $1', [top.id]), [])
  }
  assert.equal(costs[0], costs[1])
})

test('a deletion can be confirmed by the full path, and not by another', async () => {
  const owner = await world().make.user()
  const top = await made(owner, { name: 'x', path: fresh() })
  const inner = await made(owner, { name: 'y', path: fresh(), parent_id: top.id })
  const remove = (id: number, full_path: string): Promise<Answered> =>
    send('DELETE', `/groups/${id}`, owner, { permanently_remove: true, full_path })
  assert.deepEqual((await remove(top.id, String(top['full_path']))).body, {
    message: '`permanently_remove` option is only available for subgroups.',
  })
  assert.deepEqual((await remove(inner.id, String(inner['path']))).body, {
    message: '`full_path` is incorrect. You must enter the complete path for the subgroup.',
  })
  assert.equal((await remove(inner.id, String(inner['full_path']))).status, 202)
})

test('deleting a group deletes or detaches all dependent records', async () => {
  const holding = await rowsOf<{ name: string }>(
    world(),
    `with recursive doomed (rel) as (
       values ('namespaces'::regclass), ('projects'::regclass)
       union
       select c.conrelid::regclass from pg_constraint c join doomed d on c.confrelid = d.rel
        where c.contype = 'f' and c.confdeltype = 'c')
     select distinct c.conrelid::regclass::text || '.' || a.attname as name
       from pg_constraint c join doomed d on c.confrelid = d.rel
       join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
      where c.contype = 'f' and c.confdeltype in ('a', 'r')
      order by 1`,
  )
  // These two are deleted by one statement each, with what they name.
  const own = ['namespaces.parent_id', 'projects.namespace_id']
  assert.deepEqual(
    holding.map(({ name }) => name),
    own,
  )
})

test('administrators note on a group what they like under names of their own', async () => {
  const { make } = world()
  const admin = await make.admin()
  const group = await make.group()
  const path = `/groups/${group.id}/custom_attributes`
  assert.deepEqual((await world().get(path, admin)).body, [])
  const key = 'cost centre'
  const at = `${path}/${encodeURIComponent(key)}`
  const set = await send('PUT', at, admin, { value: '4711' })
  assert.deepEqual([set.status, set.body], [200, { key, value: '4711' }])
  await send('PUT', at, admin, { value: '4712' })
  assert.deepEqual((await world().get(at, admin)).body, { key, value: '4712' })
  assert.deepEqual((await world().get(path, admin)).body, [{ key, value: '4712' }])
  const shown = await world().get(`/groups/${group.id}?with_custom_attributes=true`, admin)
  assert.deepEqual((shown.body as Body)['custom_attributes'], [{ key, value: '4712' }])
  assert.equal((await send('DELETE', at, admin)).status, 204)
  for (const answer of [await world().get(at, admin), await send('DELETE', at, admin)])
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Not found' }])
})
