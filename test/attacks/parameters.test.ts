import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Namespace } from '../../src/db/schema/tables.ts'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { contents, makeLabel, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

let owner: Someone
let admin: Someone
let group: Namespace
let other: { id: number }
let labels: string

const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'public' })
  other = await make.group()
  owner = await make.memberOf('owner', { group })
  await make.member(owner, 'owner', { group: other })
  admin = await make.admin()
  labels = `/groups/${group.id}/labels`
})

const get = (path: string, as: Someone | undefined = owner): Promise<Answered> => world().get(path, as)

suite('one parameter in several places', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  // The check reads one value and the write another.
  test('GEN-11: the body wins over the query, and the path over both', async () => {
    const bug = await makeLabel(world(), group, owner)
    const foreign = await makeLabel(world(), other, owner, 'foreign')
    const answer = await world().call('PUT', `${labels}/${bug.id}`, {
      as: owner,
      query: { new_name: 'query', id: String(other.id), label_id: String(foreign.id) },
      body: { new_name: 'body', id: other.id, label_id: foreign.id, group_id: other.id },
    })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(await rowsOf(world(), 'select id, group_id, title from labels order by id'), [
      { id: bug.id, group_id: group.id, title: 'body' },
      { id: foreign.id, group_id: other.id, title: 'foreign' },
    ])
  })
  test('GEN-11: of a parameter sent twice in one place the last counts', async () => {
    const answer = await world().call('POST', labels, {
      as: owner,
      body: 'name=first&name=last&color=red&color=blue',
      headers: form,
    })
    assert.equal(answer.status, 201, answer.text)
    const { name, color } = answer.body as { name: string; color: string }
    assert.deepEqual({ name, color }, { name: 'last', color: '#0000FF' })
  })

  // Fields that belong to the server, sent in the hope that somebody assigns all of them.
  test('AUTH-11: owner, author and place of a record cannot be sent along', async () => {
    const answer = await world().call('POST', labels, {
      as: owner,
      body: {
        name: 'mine',
        color: 'red',
        id: 99,
        group_id: other.id,
        project_id: 1,
        user_id: admin.id,
        owner_id: admin.id,
        created_by: admin.id,
        lock_on_merge: true,
        subscribed: true,
        admin: true,
      },
    })
    assert.equal(answer.status, 201, answer.text)
    const made = await rowsOf(
      world(),
      `select group_id, project_id, lock_on_merge, id = 99 as forced from labels where title = 'mine'`,
    )
    assert.deepEqual(made, [{ group_id: group.id, project_id: null, lock_on_merge: false, forced: false }])
    assert.deepEqual(await rowsOf(world(), 'select * from label_subscriptions'), [])
  })
})

suite('values of a wrong type', () => {
  const wrong = async (path: string, text: string, status = 400): Promise<void> => {
    const answer = await get(path, admin)
    assert.equal(answer.text, text)
    assert.equal(answer.status, status)
  }

  // Lists and trees where a text is wanted reach SQL builders and comparisons.
  for (const [query, name] of [
    ['search[]=x', 'search'],
    ['search[$ne]=1', 'search'],
    ['owned=yes', 'owned'],
    ['owned[]=true', 'owned'],
    ['min_access_level=thirty', 'min_access_level'],
    ['min_access_level=30.5', 'min_access_level'],
    ['min_access_level=0x1e', 'min_access_level'],
    ['skip_groups[]=a', 'skip_groups'],
    ['skip_groups[a]=1', 'skip_groups'],
    ['skip_groups[1]=1', 'skip_groups'],
    ['skip_groups[]=99999999999999999999', 'skip_groups'],
    ['marked_for_deletion_on=yesterday', 'marked_for_deletion_on'],
    ['marked_for_deletion_on=2023-02-30', 'marked_for_deletion_on'],
    ['marked_for_deletion_on=0000-01-01', 'marked_for_deletion_on'],
  ] as const)
    test(`GEN-12: ?${query} is refused by name`, () =>
      wrong(`/groups?${query}`, `{"error":"${name} is invalid"}`))
  for (const [query, name] of [
    ['min_access_level=9007199254740991', 'min_access_level'],
    ['min_access_level=-1', 'min_access_level'],
    ['order_by=name;drop', 'order_by'],
    ['order_by=__proto__', 'order_by'],
    ['sort=toString', 'sort'],
    ['visibility[]=public', 'visibility'],
  ] as const)
    test(`GEN-12: ?${query} is no listed value`, () =>
      wrong(`/groups?${query}`, `{"error":"${name} does not have a valid value"}`))
  test('GEN-12: every fault of a body is named, in the order of declaration', async () => {
    const before = await contents(world())
    const answer = await world().call('PUT', '/application/plan_limits', {
      as: admin,
      body: '{"dotenv_size":{},"ci_pipeline_size":1e400,"plan_name":["default"],"ci_active_jobs":"x"}',
      headers: { 'content-type': 'application/json' },
    })
    assert.deepEqual(answer.body, {
      error:
        'plan_name does not have a valid value, ci_pipeline_size is invalid, ci_active_jobs is invalid, dotenv_size is invalid',
    })
    assert.equal(await contents(world()), before)
  })
  test('GEN-12: a page of a wrong type is refused by name', async () => {
    await wrong('/groups?page[]=1', '{"error":"page is invalid"}')
    await wrong('/groups?per_page={}', '{"error":"per_page is invalid"}')
  })
})

// Wider than any number in the database, and still a number: what the database cannot compare must not be an error.
suite('numbers that no record has', () => {
  const wide = [2 ** 31, Number.MAX_SAFE_INTEGER]
  let project: { id: number }
  before(async () => {
    project = await world().make.project({ group })
  })

  for (const number of wide)
    test(`GEN-12: nothing is number ${number}`, async () => {
      for (const path of [
        `/projects/${project.id}/issues`,
        `/projects/${project.id}/merge_requests`,
        `/groups/${group.id}/epics`,
      ]) {
        assert.equal((await get(`${path}/${number}`)).status, 404, path)
        assert.equal((await get(`${path}/${number}/award_emoji`)).status, 404, path)
        const listed = await get(`${path}?iids[]=${number}`)
        assert.deepEqual([listed.status, listed.body], [200, []], path)
      }
      for (const path of [`/projects/${project.id}/milestones`, `/groups/${group.id}/issues`])
        assert.deepEqual((await get(`${path}?iids[]=${number}&not[iids][]=${number}`)).body, [], path)
      for (const name of ['epic_id', 'epic_iid']) {
        const body = { title: 'In no epic', [name]: number }
        const answer = await world().call('POST', `/projects/${project.id}/issues`, { as: owner, body })
        assert.deepEqual([answer.status, (answer.body as { epic: unknown }).epic], [201, null], answer.text)
      }
    })
  test('GEN-12: an issue cannot take the last number there is from all that follow', async () => {
    const path = `/projects/${project.id}/issues`
    const make = (body: object): Promise<Answered> => world().call('POST', path, { as: owner, body })
    const answer = await make({ title: 'The last', iid: 2 ** 31 - 1 })
    assert.deepEqual([answer.status, answer.body], [400, { error: 'iid does not have a valid value' }])
    assert.equal((await make({ title: 'Far away', iid: 999_999_999 })).status, 201)
    assert.equal((await make({ title: 'The next' })).status, 201)
  })
})
