import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { listOf, pick, shareGroup } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

// Filters for administrators, and those of a licence.

let world: World
let free: World
before(async () => {
  world = await openWorld()
  free = await openWorld({ env: { GUILDHALL_TIER: 'free' } })
})
after(async () => {
  await world.close()
  await free.close()
})

const list = (query: Record<string, string>, as?: Someone, of = world): Promise<Answered> =>
  of.call('GET', '/groups', { as, query })

const sizes = (bytes: number): Record<string, number> => ({
  storage_size: bytes,
  repository_size: bytes,
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  pipeline_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
  uploads_size: 0,
})
const rootSizes = (bytes: number): Record<string, number | boolean> => ({
  build_artifacts_size: 0,
  container_registry_size: 0,
  container_registry_size_is_estimated: false,
  dependency_proxy_size: 0,
  lfs_objects_size: 0,
  packages_size: 0,
  pipeline_artifacts_size: 0,
  repository_size: bytes,
  snippets_size: 0,
  storage_size: bytes,
  uploads_size: 0,
  wiki_size: 0,
})

test('statistics count a group’s own projects, and at the top everything below as well', async () => {
  const top = await world.make.group({ path: 'scale', visibility: 'public' })
  const below = await world.make.group({ parent: top, path: 'pan', visibility: 'public' })
  const [a, b] = [await world.make.project({ group: top }), await world.make.project({ group: below })]
  await world.make.sql(`update projects set repository_size = case id when ${a.id} then 5000000000 else 7 end
                         where id in (${a.id}, ${b.id})`)
  const found = listOf(await list({ search: 'scale', statistics: 'true' }, await world.make.admin()))
  const shown = found.map(({ full_path, statistics, root_storage_statistics }) => ({
    full_path,
    statistics,
    root_storage_statistics,
  }))
  assert.deepEqual(shown, [
    { full_path: 'scale/pan', statistics: sizes(7), root_storage_statistics: undefined },
    {
      full_path: 'scale',
      statistics: sizes(5_000_000_000),
      root_storage_statistics: rootSizes(5_000_000_007),
    },
  ])
  assert.ok(!Object.hasOwn(found[0] ?? {}, 'root_storage_statistics'))
})

test('statistics are left out for everybody but administrators, and when nobody asks', async () => {
  const group = await world.make.group({ path: 'unweighed', visibility: 'public' })
  const owner = await world.make.memberOf('owner', { group })
  const asked = { search: 'unweighed', statistics: 'true' }
  const answers = [
    await list(asked),
    await list(asked, owner),
    await list({ search: 'unweighed' }, await world.make.admin()),
    await list({ search: 'unweighed', statistics: 'false' }, await world.make.admin()),
  ]
  for (const answer of answers) {
    const [item = {}] = listOf(answer)
    assert.equal(item['path'], 'unweighed')
    assert.ok(!Object.hasOwn(item, 'statistics') && !Object.hasOwn(item, 'root_storage_statistics'))
  }
})

test('custom attributes are shown to administrators who ask', async () => {
  const group = await world.make.group({ path: 'marked', visibility: 'public' })
  const owner = await world.make.memberOf('owner', { group })
  await world.make.sql(
    `update namespaces set custom_attributes = '{"region": "north", "cost": "12"}' where id = ${group.id}`,
  )
  const admin = await world.make.admin()
  const asked = { search: 'marked', with_custom_attributes: 'true' }
  const [item = {}] = listOf(await list(asked, admin))
  const attributes = item['custom_attributes'] as { key: string; value: string }[]
  assert.deepEqual(
    attributes.toSorted((a, b) => a.key.localeCompare(b.key)),
    [
      { key: 'cost', value: '12' },
      { key: 'region', value: 'north' },
    ],
  )
  for (const answer of [await list({ search: 'marked' }, admin), await list(asked, owner), await list(asked)])
    assert.ok(!Object.hasOwn(listOf(answer)[0] ?? {}, 'custom_attributes'))
})

test('repository_storage filters for administrators and changes nothing for others', async () => {
  const group = await world.make.group({ path: 'stored-a', visibility: 'public' })
  await world.make.group({ path: 'stored-b', visibility: 'public' })
  await world.make.sql(`update namespaces set repository_storage = 'cold' where id = ${group.id}`)
  const asked = { search: 'stored-', repository_storage: 'cold' }
  const found = await list(asked, await world.make.admin())
  assert.deepEqual(pick(found, 'path'), ['stored-a'])
  assert.deepEqual(pick(found, 'repository_storage'), ['cold'])
  assert.equal(found.headers['x-total'], '1')
  const user = await world.make.user()
  const open = { ...asked, all_available: 'true' }
  assert.deepEqual(pick(await list(open, user), 'path'), ['stored-a', 'stored-b'])
  assert.deepEqual(pick(await list(asked), 'path'), ['stored-a', 'stored-b'])
})

test('without a paid licence the paid fields are missing and the paid filters change nothing', async () => {
  const group = await free.make.group({ path: 'gratis', visibility: 'public' })
  await free.make.sql(`update namespaces set marked_for_deletion_on = '2031-01-01' where id = ${group.id}`)
  const admin = await free.make.admin()
  const asked = { repository_storage: 'elsewhere', marked_for_deletion_on: '2030-01-01', search: 'gratis' }
  const [item = {}] = listOf(await list(asked, admin, free))
  assert.equal(item['path'], 'gratis')
  assert.equal(item['repository_storage'], 'default')
  assert.ok(!Object.hasOwn(item, 'marked_for_deletion_on') && !Object.hasOwn(item, 'wiki_access_level'))
})

test('without a paid licence a single group lacks exactly the paid fields', async () => {
  const read = async (of: World): Promise<string[]> => {
    const group = await of.make.group({ visibility: 'public' })
    await shareGroup(of, group, { invited: await of.make.group(), role: 'guest' })
    const answer = await of.get(`/groups/${group.id}`, await of.make.admin())
    assert.equal(answer.status, 200, answer.text)
    return Object.keys(answer.body as object)
  }
  const [all, less] = [await read(world), await read(free)]
  assert.deepEqual(all.filter((name) => !less.includes(name)).sort(), [
    'assistant_availability',
    'assistant_features_enabled',
    'duo_availability',
    'duo_features_enabled',
    'experiment_features_enabled',
    'extra_shared_runners_minutes_limit',
    'lock_assistant_features_enabled',
    'lock_duo_features_enabled',
    'marked_for_deletion_on',
    'membership_lock',
    'shared_runners_minutes_limit',
    'wiki_access_level',
  ])
  assert.deepEqual(
    less.filter((name) => !all.includes(name)),
    [],
  )
})
