import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { contents, makeLabel, sharedWorld, visible } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

const world = sharedWorld()

const labelsOf = (group: { id: number }, rest = ''): string => `/groups/${group.id}/labels${rest}`
const status = async (path: string, as: Someone): Promise<number> => (await world().get(path, as)).status

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
    const [own] = await rowsOf(world(), `select id from labels where title = 'of project'`)
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
    assert.deepEqual(await rowsOf(world(), `select title from labels where id = ${label.id}`), [
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
  test('AUTH-06, AUTH-07: a commit of another project looks like one that is not there', async () => {
    const { make } = world()
    const source = join(scratch(), 'source.git')
    writeHistory(source, 60, 1)
    const sha = gitText(source, ['rev-parse', 'main'])
    const [mine, hidden] = [
      await make.project({ repository: 'empty' }),
      await make.project({ repository: source }),
    ]
    const reader = await make.memberOf('reporter', { project: mine })
    const ask = async (project: { id: number }, ref: string, as: Someone): Promise<object> =>
      visible(await world().get(`/projects/${project.id}/repository/commits/${ref}`, as))
    assert.equal(await status(`/projects/${hidden.id}/repository/commits/${sha}`, await make.admin()), 200)
    const absent = await ask(mine, 'a'.repeat(40), reader)
    assert.equal((absent as { text: string }).text, '{"message":"404 Commit Not Found"}')
    for (const ref of [sha, sha.slice(0, 8), 'main']) assert.deepEqual(await ask(mine, ref, reader), absent)
    await make.member(reader, 'reporter', { project: hidden })
    assert.deepEqual(await ask(mine, sha, reader), absent)
  })
})
