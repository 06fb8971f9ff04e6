import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { sharedWorld } from '../support/stand.ts'

const world = sharedWorld()
const today = "now() at time zone 'utc'"

const labelsOf = (group: { id: number }): string => `/groups/${group.id}/labels`
const status = async (path: string, as: Someone): Promise<number> => (await world().get(path, as)).status
const create = async (group: { id: number }, as: Someone, name: string): Promise<number> =>
  (await world().call('POST', labelsOf(group), { as, body: { name, color: 'red' } })).status

suite('rights that end', () => {
  // A right is looked up for each request; nothing remembers yesterday's.
  test('AUTH-05: a member who was removed or lowered has the new right at the next request', async () => {
    const { make } = world()
    const group = await make.group()
    const member = await make.memberOf('reporter', { group })
    assert.equal(await create(group, member, 'one'), 201)
    await make.member(member, 'guest', { group })
    assert.deepEqual([await create(group, member, 'two'), await status(labelsOf(group), member)], [403, 200])
    await make.member(member, 'minimal_access', { group })
    assert.equal(await create(group, member, 'three'), 403)
    await make.sql(`delete from members where user_id = ${member.id}`)
    assert.deepEqual([await create(group, member, 'four'), await status(labelsOf(group), member)], [404, 404])
    assert.deepEqual(await rowsOf(world(), `select title from labels where group_id = ${group.id}`), [
      { title: 'one' },
    ])
  })
  test('AUTH-05: a membership is over on the day it expires', async () => {
    const { make } = world()
    const group = await make.group()
    const member = await make.memberOf('owner', { group })
    const expire = (day: string): Promise<void> =>
      make.sql(`update members set expires_at = ${day} where user_id = ${member.id}`)
    await expire(`(${today})::date + 1`)
    assert.equal(await status(labelsOf(group), member), 200)
    await expire(`(${today})::date`)
    assert.equal(await status(labelsOf(group), member), 404)
    await expire(`(${today})::date - 1`)
    assert.equal(await status(labelsOf(group), member), 404)
  })
  test('AUTH-05: a group’s share is over on the day it expires', async () => {
    const { make } = world()
    const [shared, invited] = [await make.group(), await make.group()]
    const project = await make.project({ group: shared, repository: 'empty' })
    const member = await make.memberOf('developer', { group: invited })
    const commits = `/projects/${project.id}/repository/commits`
    await make.sql(`
      insert into group_group_links (shared_group_id, shared_with_group_id, group_access) values (${shared.id}, ${invited.id}, 30);
      insert into project_group_links (project_id, group_id, group_access) values (${project.id}, ${invited.id}, 30)`)
    assert.deepEqual([await status(labelsOf(shared), member), await status(commits, member)], [200, 200])
    await make.sql(
      `update group_group_links set expires_at = (${today})::date where shared_group_id = ${shared.id}`,
    )
    assert.deepEqual([await status(labelsOf(shared), member), await status(commits, member)], [200, 200])
    await make.sql(
      `update project_group_links set expires_at = (${today})::date where project_id = ${project.id}`,
    )
    assert.deepEqual([await status(labelsOf(shared), member), await status(commits, member)], [404, 404])
  })
  test('AUTH-05: a share gives no more than it says, nor more than the member holds', async () => {
    const { make } = world()
    const [shared, invited] = [await make.group(), await make.group()]
    const [guest, owner] = [
      await make.memberOf('guest', { group: invited }),
      await make.memberOf('owner', { group: invited }),
    ]
    const share = (level: number): Promise<void> =>
      make.sql(`
        delete from group_group_links where shared_group_id = ${shared.id};
        insert into group_group_links (shared_group_id, shared_with_group_id, group_access) values (${shared.id}, ${invited.id}, ${level})`)
    await share(40)
    assert.deepEqual([await create(shared, guest, 'a'), await create(shared, owner, 'b')], [403, 201])
    await share(10)
    assert.deepEqual([await create(shared, guest, 'c'), await create(shared, owner, 'd')], [403, 403])
  })

  // The tree moved and the old line of ancestors still opened the door.
  test('AUTH-12: a right inherited from the group above ends when the subgroup moves away', async () => {
    const { make } = world()
    const [top, elsewhere] = [await make.group(), await make.group()]
    const below = await make.group({ parent: top })
    const project = await make.project({ group: below, repository: 'empty' })
    const member = await make.memberOf('maintainer', { group: top })
    const places = [labelsOf(below), `/projects/${project.id}/repository/commits`, `/namespaces/${below.id}`]
    const seen = async (): Promise<number[]> => Promise.all(places.map((place) => status(place, member)))
    assert.deepEqual(await seen(), [200, 200, 200])
    await make.sql(`
      update namespaces set parent_id = ${elsewhere.id}, traversal_ids = array[${elsewhere.id}, id],
             full_path = '${elsewhere.path}/' || path where id = ${below.id};
      update projects set full_path = '${elsewhere.path}/${below.path}/' || path where id = ${project.id}`)
    assert.deepEqual(await seen(), [404, 404, 404])
    assert.equal(await create(below, member, 'late'), 404)
    assert.equal(await create(top, member, 'still'), 201)
  })
  test('AUTH-12: a role on a subgroup or project says nothing above it or beside it', async () => {
    const { make } = world()
    const top = await make.group()
    const [below, beside] = [await make.group({ parent: top }), await make.group({ parent: top })]
    const member = await make.memberOf('owner', { group: below })
    assert.deepEqual(
      [await create(below, member, 'a'), await create(top, member, 'b'), await create(beside, member, 'c')],
      [201, 403, 404],
    )
  })
  test('AUTH-12: minimal access on a group opens nothing below it', async () => {
    const { make } = world()
    const top = await make.group()
    const below = await make.group({ parent: top })
    const project = await make.project({ group: top, repository: 'empty' })
    const member = await make.memberOf('minimal_access', { group: top })
    const places = [`/groups/${top.id}`, `/groups/${below.id}`, `/projects/${project.id}/repository/commits`]
    assert.deepEqual(await Promise.all(places.map((place) => status(place, member))), [200, 404, 404])
  })
})

suite('rights taken away', () => {
  // Taken away by one door, given back by another.
  test('AUTH-13: no access on a group wins over a share, and over the group above', async () => {
    const { make } = world()
    const [top, invited] = [await make.group(), await make.group()]
    const below = await make.group({ parent: top })
    const project = await make.project({ group: below, repository: 'empty' })
    const member = await make.memberOf('owner', { group: invited })
    await make.member(member, 'owner', { group: top })
    await make.sql(`
      insert into group_group_links (shared_group_id, shared_with_group_id, group_access) values (${below.id}, ${invited.id}, 50);
      insert into project_group_links (project_id, group_id, group_access) values (${project.id}, ${invited.id}, 50)`)
    const places = [labelsOf(top), labelsOf(below), `/projects/${project.id}/repository/commits`]
    const seen = async (): Promise<number[]> => Promise.all(places.map((place) => status(place, member)))
    assert.deepEqual(await seen(), [200, 200, 200])
    await make.member(member, 'no_access', { group: below })
    assert.deepEqual(await seen(), [200, 404, 404])
    assert.equal(await create(below, member, 'x'), 404)
    const listed = await world().get(`/groups?all_available=true&search=${below.path}`, member)
    assert.deepEqual(listed.body, [])
  })
  test('AUTH-13: no access on a project wins over its group', async () => {
    const { make } = world()
    const group = await make.group()
    const project = await make.project({ group, repository: 'empty' })
    const member = await make.memberOf('owner', { group })
    await make.member(member, 'no_access', { project })
    assert.equal(await status(`/projects/${project.id}/repository/commits`, member), 404)
    assert.deepEqual((await world().get(`/groups/${group.id}/projects`, member)).body, [])
    assert.equal(await status(labelsOf(group), member), 200)
  })

  // Public records stay open to denied users, who could sign out to see them.
  test('AUTH-13: who has no access sees a public group as a stranger does', async () => {
    const { make } = world()
    const group = await make.group({ visibility: 'public' })
    const member = await make.memberOf('no_access', { group })
    assert.deepEqual([await status(labelsOf(group), member), await create(group, member, 'x')], [200, 403])
  })
})
