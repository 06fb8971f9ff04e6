/* The unmodified client @gitbeaker/rest makes a world of groups and badges from an empty server, changes it and removes it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Gitlab } from '@gitbeaker/rest'
import { errorOf } from '../support/harbour.ts'
import { openReadyPlace, type Place } from '../support/program.ts'

let place: Place
let client: InstanceType<typeof Gitlab>
before(async () => {
  place = await openReadyPlace()
  const server = await place.serve()
  client = new Gitlab({ host: server.url, token: String(server.told['root_token']) })
})
after(() => place.clear())

const idsOf = (records: readonly object[]): unknown[] =>
  records.map((record) => (record as { id: number }).id)

test('it makes groups in groups, reads them back, changes them and lists them from every side', async () => {
  const { Groups } = client
  const top = await Groups.create('Harbour', 'harbour', { visibility: 'public', description: 'Ships' })
  assert.deepEqual(await Groups.show('harbour'), top)
  const inner = await Groups.create('Dry dock', 'dry.dock', { parentId: top.id, visibility: 'public' })
  const deep = await Groups.create('Crane', 'crane', { parentId: inner.id })
  assert.equal(inner.full_path, 'harbour/dry.dock')
  assert.deepEqual(idsOf(await Groups.allSubgroups('harbour')), [inner.id])
  assert.deepEqual(idsOf(await Groups.allDescendantGroups(top.id, {})), [deep.id, inner.id])
  assert.deepEqual(idsOf(await Groups.search('crane', {})), [deep.id])
  const changed = await Groups.edit(top.id, { path: 'port', name: 'Port', requestAccessEnabled: false })
  assert.deepEqual([changed.full_path, changed.request_access_enabled], ['port', false])
  assert.deepEqual(await Groups.edit(top.id, {}), await Groups.show('port'))
  assert.equal((await Groups.show('port/dry.dock/crane')).id, deep.id)
  await Groups.removeAvatar(top.id)
  assert.equal((await Groups.show(top.id)).avatar_url, null)
  const again = await errorOf(Groups.create('Port', 'port'))
  assert.deepEqual(again, {
    status: 400,
    message: 'Failed to save group {:path=>["has already been taken"]}',
  })
  assert.equal((await errorOf(Groups.show('harbour'))).message, '404 Group Not Found')
  const picture = new Blob(['x'])
  const upload = await errorOf(Groups.uploadAvatar(top.id, picture, { filename: 'a.png' }))
  assert.equal(upload.message, '404 Not Found')
})

test('it shares a group, hears of it on both sides, and takes it back', async () => {
  const { Groups } = client
  const guild = await Groups.create('Guild', 'guild', { visibility: 'public' })
  const { id } = await Groups.show('port')
  const shared = (await Groups.share(id, guild.id, 30, { expiresAt: '2099-01-01' })) as unknown as {
    shared_with_groups: unknown
  }
  assert.deepEqual(shared.shared_with_groups, [
    {
      group_id: guild.id,
      group_name: 'Guild',
      group_full_path: 'guild',
      group_access_level: 30,
      expires_at: '2099-01-01',
    },
  ])
  const twice = await errorOf(Groups.share(id, guild.id, 30, {}))
  assert.deepEqual(twice, {
    status: 409,
    message: 'Shared group The group has already been shared with this group',
  })
  assert.deepEqual(await Groups.allSharedProjects(guild.id), [])
  await Groups.unshare(id, guild.id, {})
  assert.equal((await errorOf(Groups.unshare(id, guild.id, {}))).message, '404 Group Link Not Found')
})

test('it moves groups to where they may go', async () => {
  const { Groups } = client
  const [crane, guild] = [await Groups.show('port/dry.dock/crane'), await Groups.show('guild')]
  const places = await Groups.allTransferLocations(crane.id)
  assert.deepEqual(
    (places as unknown as { full_path: string }[]).map(({ full_path }) => full_path),
    ['guild', 'port'],
  )
  await Groups.transfer(crane.id, { groupId: guild.id })
  assert.equal((await Groups.show(crane.id)).full_path, 'guild/crane')
  await Groups.transfer(crane.id)
  assert.equal((await Groups.show(crane.id)).full_path, 'crane')
  assert.equal(
    (await errorOf(Groups.transfer(crane.id))).message,
    'Transfer failed: Group is already a root group.',
  )
})

test('it keeps badges of groups and projects, and previews them', async () => {
  const { GroupBadges, Groups, ProjectBadges, Projects } = client
  const { id: groupId } = await Groups.show('port')
  const project = await Projects.create({ name: 'Boat', path: 'boat', visibility: 'public' })
  await Groups.transferProject(groupId, project.id)
  const [link, image] = ['https://x.example/%{project_path}', 'https://x.example/i.svg']
  const shared = await GroupBadges.add(groupId, link, image, { name: 'Shared' })
  const own = await ProjectBadges.add(project.id, link, image)
  const essence = (badge: object): unknown[] => {
    const { id, kind, rendered_link_url } = badge as Record<string, unknown>
    return [id, kind, rendered_link_url]
  }
  assert.deepEqual((await ProjectBadges.all('port/boat')).map(essence), [
    [shared.id, 'group', 'https://x.example/port/boat'],
    [own.id, 'project', 'https://x.example/port/boat'],
  ])
  assert.deepEqual(await GroupBadges.show(groupId, shared.id), shared)
  assert.deepEqual(await ProjectBadges.show(project.id, own.id), own)
  assert.deepEqual(idsOf(await GroupBadges.all(groupId)), [shared.id])
  for (const preview of [
    await ProjectBadges.preview(project.id, link, image),
    await GroupBadges.preview(groupId, link, image),
  ])
    assert.equal(
      (preview as unknown as Record<string, unknown>)['rendered_link_url'],
      'https://x.example/port/boat',
    )
  const edited = await ProjectBadges.edit(project.id, own.id, { name: 'Own' })
  assert.equal((edited as unknown as Record<string, unknown>)['name'], 'Own')
  await GroupBadges.edit(groupId, shared.id, { linkUrl: 'https://y.example' })
  assert.equal((await GroupBadges.show(groupId, shared.id)).link_url, 'https://y.example')
  const bad = await errorOf(ProjectBadges.add(project.id, 'javascript:alert(1)', image))
  assert.deepEqual(
    [bad.status, bad.message],
    [400, '{"link_url":["is blocked: Only allowed schemes are http, https"]}'],
  )
  await ProjectBadges.remove(project.id, own.id)
  await GroupBadges.remove(groupId, shared.id)
  assert.deepEqual(await ProjectBadges.all(project.id), [])
})

test('it removes what it made, and the next reading finds nothing', async () => {
  const { Groups } = client
  for (const path of ['port', 'guild', 'crane']) {
    await Groups.remove(path)
    assert.equal((await errorOf(Groups.show(path))).status, 404)
  }
  assert.deepEqual(await Groups.all(), [])
})
