import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { contents, makeLabel, rows, sharedWorld, visible } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

const world = sharedWorld()
const today = "now() at time zone 'utc'"

const labelsOf = (group: { id: number }, rest = ''): string => `/groups/${group.id}/labels${rest}`
const status = async (path: string, as: Someone): Promise<number> => (await world().get(path, as)).status
const create = async (group: { id: number }, as: Someone, name: string): Promise<number> =>
  (await world().call('POST', labelsOf(group), { as, body: { name, color: 'red' } })).status

suite('records of another parent', () => {
  /** Every way to reach a label through a group, as one who may write in both. */
  const reach = async (group: { id: number }, ref: string | number, as: Someone): Promise<Answered[]> => {
    const path = labelsOf(group, `/${ref}`)
    return [
      await world().get(path, as),
      await world().call('PUT', path, { as, body: { new_name: 'taken over' } }),
      await world().call('POST', `${path}/subscribe`, { as }),
      await world().call('POST', `${path}/unsubscribe`, { as }),
      await world().call('DELETE', path, { as }),
    ]
  }
  const NO_LABEL = { message: '404 Label Not Found' }

  // The role is asked of the group in the path, the record is found by its id alone.
  test('AUTH-06: a label of another group is 404, and that group stays as it was', async () => {
    const { make } = world()
    const [mine, theirs] = [await make.group(), await make.group()]
    const both = await make.memberOf('owner', { group: mine })
    await make.member(both, 'owner', { group: theirs })
    const label = await makeLabel(world(), theirs, both, 'theirs')
    const before = await contents(world())
    for (const ref of [label.id, 'theirs'])
      for (const { status, body } of await reach(mine, ref, both))
        assert.deepEqual([status, body], [404, NO_LABEL])
    const byName = { as: both, body: { label_id: label.id, new_name: 'taken over' } }
    assert.deepEqual((await world().call('PUT', labelsOf(mine), byName)).body, NO_LABEL)
    const gone = { as: both, body: { name: 'theirs' } }
    assert.deepEqual((await world().call('DELETE', labelsOf(mine), gone)).body, NO_LABEL)
    assert.equal(await contents(world()), before)
  })
  test('AUTH-06: a project’s label is no group’s, nor is a subgroup’s', async () => {
    const { make } = world()
    const group = await make.group()
    const below = await make.group({ parent: group })
    const project = await make.project({ group })
    const owner = await make.memberOf('owner', { group })
    const inner = await makeLabel(world(), below, owner, 'inner')
    await make.sql(
      `insert into labels (project_id, title, color) values (${project.id}, 'of project', '#000000')`,
    )
    const [own] = await rows(world(), `select id from labels where title = 'of project'`)
    const before = await contents(world())
    for (const ref of [inner.id, String(own?.['id'])])
      for (const { status, body } of await reach(group, ref, owner))
        assert.deepEqual([status, body], [404, NO_LABEL])
    assert.equal(await contents(world()), before)
  })

  // A group above is read through, never written through.
  test('AUTH-06: a label of the group above is read and not written', async () => {
    const { make } = world()
    const group = await make.group()
    const below = await make.group({ parent: group })
    const owner = await make.memberOf('owner', { group })
    const label = await makeLabel(world(), group, owner, 'above')
    const answers = await reach(below, label.id, owner)
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 404, 201, 201, 404],
    )
    assert.deepEqual(await rows(world(), `select title from labels where id = ${label.id}`), [
      { title: 'above' },
    ])
  })

  // Whether the id is somebody's must not show.
  test('AUTH-07: a label of a hidden group looks like one that is not there', async () => {
    const { make } = world()
    const [mine, hidden] = [await make.group(), await make.group()]
    const owner = await make.memberOf('owner', { group: mine })
    const label = await makeLabel(world(), hidden, await make.memberOf('owner', { group: hidden }), 'hidden')
    const before = await contents(world())
    const absent = (await reach(mine, 987_654_321, owner)).map(visible)
    assert.deepEqual((await reach(mine, label.id, owner)).map(visible), absent)
    assert.deepEqual((await reach(mine, 'hidden', owner)).map(visible), absent)
    assert.equal(await contents(world()), before)
  })
  test('AUTH-07: a commit of a hidden project looks like one that is not there', async () => {
    const { make } = world()
    const mine = await make.project({ repository: 'empty' })
    const reader = await make.memberOf('reporter', { project: mine })
    const ask = async (sha: string): Promise<object> =>
      visible(await world().get(`/projects/${mine.id}/repository/commits/${sha}`, reader))
    const absent = await ask('a'.repeat(40))
    assert.deepEqual(await ask('b'.repeat(40)), absent)
    assert.equal((absent as { text: string }).text, '{"message":"404 Commit Not Found"}')
  })
})

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
    assert.deepEqual(await rows(world(), `select title from labels where group_id = ${group.id}`), [
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

  // What everybody may see stays open to the denied, who could sign out to see it.
  test('AUTH-13: who has no access sees a public group as a stranger does', async () => {
    const { make } = world()
    const group = await make.group({ visibility: 'public' })
    const member = await make.memberOf('no_access', { group })
    assert.deepEqual([await status(labelsOf(group), member), await create(group, member, 'x')], [200, 403])
  })
})
