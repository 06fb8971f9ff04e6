import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorkshop } from '../../../test/support/merge_makers.ts'
import { makeEpic, makeIssue, makeMergeRequest, type Made } from '../../../test/support/noteables.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let [author, guest, reporter, planner, outsider]: Someone[] = []
let group: Namespace
let project: Project
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'private' })
  project = await make.project({ group, visibility: 'private', repository: 'empty' })
  author = await make.memberOf('developer', { group })
  guest = await make.memberOf('guest', { group })
  planner = await make.memberOf('planner', { group })
  reporter = await make.memberOf('reporter', { group })
  outsider = await make.user()
})
async function say(about: Made, body: string, more: object = {}, as = author): Promise<{ id: number }> {
  const answer = await world().call('POST', `${about.path}/notes`, { as, body: { body, ...more } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: number }
}
const waiting = async (about: Made): Promise<number[]> =>
  (
    await rowsOf<{ user_id: number }>(
      world(),
      `select user_id from todos where noteable_id = $1 and state = 'pending' and action_name = 'mentioned' order by 1`,
      [about.id],
    )
  ).map((row) => row.user_id)
const all = (): string =>
  [author, guest, planner, reporter, outsider].map((one) => `@${one?.username}`).join(' ')
const ids = (...people: (Someone | undefined)[]): number[] =>
  people.map((one) => one?.id ?? 0).sort((a, b) => a - b)

test('a mention in a comment creates a to-do item for users who can read it', async () => {
  const issue = await makeIssue(world(), project)
  const note = await say(issue, `${all()} and \`@${outsider?.username}\``)
  assert.deepEqual(await waiting(issue), ids(guest, planner, reporter))
  const [todo] = await rowsOf(world(), 'select author_id, note_id, project_id, group_id from todos limit 1')
  assert.deepEqual(todo, { author_id: author?.id, note_id: note.id, project_id: project.id, group_id: null })
  await say(issue, all())
  assert.deepEqual(await waiting(issue), ids(guest, planner, reporter), 'once is enough')
  const secret = await makeIssue(world(), project, { confidential: true, author_id: guest?.id })
  await say(secret, all())
  assert.deepEqual(await waiting(secret), ids(guest, planner, reporter), 'its author sees it too')
  const hidden = await makeIssue(world(), project, { confidential: true })
  await say(hidden, all())
  assert.deepEqual(await waiting(hidden), ids(planner, reporter))
  const inside = await makeIssue(world(), project)
  await say(inside, all(), { internal: true })
  assert.deepEqual(await waiting(inside), ids(reporter))
  const mr = await makeMergeRequest(world(), project)
  await say(mr, all())
  assert.deepEqual(await waiting(mr), ids(reporter))
  const epic = await makeEpic(world(), group)
  await say(epic, all())
  assert.deepEqual(await waiting(epic), ids(guest, planner, reporter))
})

interface Seen {
  readonly body: string
  readonly system: boolean
}
const wordsOn = async (about: Made, as = author): Promise<string[]> =>
  ((await world().get(`${about.path}/notes?activity_filter=only_activity`, as)).body as Seen[])
    .map(({ body }) => body)
    .sort()

test('a reference in a comment creates one system note on its target', async () => {
  const [here, there] = [await makeIssue(world(), project), await makeIssue(world(), project)]
  const mr = await makeMergeRequest(world(), project)
  const other = await world().make.project({ group, visibility: 'private' })
  const far = await makeIssue(world(), other)
  const text = `See #${there.iid}, #${here.iid}, !${mr.iid} and ${other.full_path}#${far.iid}; not #9999.`
  await say(here, text)
  await say(here, text)
  assert.deepEqual(await wordsOn(there), [`mentioned in issue #${here.iid}`])
  assert.deepEqual(await wordsOn(mr), [`mentioned in issue #${here.iid}`])
  assert.deepEqual(await wordsOn(far), [`mentioned in issue ${project.full_path}#${here.iid}`])
  assert.deepEqual(await wordsOn(here), [], 'not of itself')
})

test('a word about what somebody cannot see is hidden from them, in lists and in counts', async () => {
  const open = await world().make.project({ visibility: 'public' })
  const there = await makeIssue(world(), open)
  const [issue, mr] = [await makeIssue(world(), project), await makeMergeRequest(world(), project)]
  await say(issue, `${open.full_path}#${there.iid}`)
  await say(mr, `${open.full_path}#${there.iid}`)
  const fromIssue = `mentioned in issue ${project.full_path}#${issue.iid}`
  const fromCode = `mentioned in merge request ${project.full_path}!${mr.iid}`
  for (const [as, expected] of [
    [outsider, []],
    [guest, [fromIssue]],
    [reporter, [fromIssue, fromCode]],
  ] as const) {
    assert.deepEqual(await wordsOn(there, as), expected)
    const page = await world().get(`${there.path}/discussions`, as)
    assert.equal(page.headers['x-total'], String(expected.length))
  }
  const near = await makeIssue(world(), project)
  await say(mr, `#${near.iid}`)
  assert.deepEqual(await wordsOn(near, guest), [])
  assert.deepEqual(await wordsOn(near, reporter), [`mentioned in merge request !${mr.iid}`])
})

test('hidden records leave no cross references, and references to unreadable records write nothing', async () => {
  const there = await makeIssue(world(), project)
  const secret = await makeIssue(world(), project, { confidential: true })
  await say(secret, `#${there.iid}`)
  await say(await makeIssue(world(), project), `#${there.iid}`, { internal: true })
  assert.deepEqual(await wordsOn(there), [])
  const open = await world().make.project({ visibility: 'public' })
  const mine = await makeIssue(world(), open)
  await say(mine, `${project.full_path}#${there.iid} ${project.full_path}#${secret.iid}`, {}, outsider)
  await say(mine, `${project.full_path}#${secret.iid}`, {}, guest)
  assert.deepEqual(await wordsOn(there), [])
  assert.deepEqual(await wordsOn(secret), [])
})

test('the description of an issue calls and speaks as comments do', async () => {
  const fresh = await world().make.project({ group, visibility: 'private' })
  const create = async (description: string): Promise<Made> => {
    const path = `/projects/${fresh.id}/issues`
    const answer = await world().call('POST', path, { as: author, body: { title: 'x', description } })
    assert.equal(answer.status, 201, answer.text)
    const { id, iid } = answer.body as { id: number; iid: number }
    return { id, iid, path: `${path}/${iid}` }
  }
  const there = await create('')
  const made = await create(`@${guest?.username}, see #${there.iid}`)
  assert.deepEqual(await waiting(made), ids(guest))
  assert.deepEqual(await wordsOn(there), [`mentioned in issue #${made.iid}`])
  const body = { description: `@${planner?.username}` }
  assert.equal((await world().call('PUT', made.path, { as: author, body })).status, 200)
  assert.deepEqual(await waiting(made), ids(guest, planner))
})

test('nothing is written where the project is archived, or its issues are shut off for whoever speaks', async () => {
  const { make } = world()
  const here = await make.project({ visibility: 'public' })
  const from = await makeIssue(world(), here)
  const far = await make.project({ visibility: 'public' })
  const issue = await makeIssue(world(), far)
  const speak = (): Promise<unknown> => say(from, `see ${far.full_path}#${issue.iid}`, {}, outsider)
  const said = (): Promise<object[]> =>
    rowsOf(world(), 'select body from notes where noteable_id = $1', [issue.id])
  const set = (columns: string): Promise<unknown> =>
    make.sql(`update projects set ${columns} where id = ${far.id}`)
  await set(`settings = settings || '{"issues_access_level": "private"}'`)
  await speak()
  await set(`settings = settings || '{"issues_access_level": "enabled"}', archived = true`)
  await speak()
  assert.deepEqual(await said(), [])
  await set('archived = false')
  await speak()
  assert.equal((await said()).length, 1)
})

test('a reference from a hidden place does not make its author a visible participant', async () => {
  const { make, get } = world()
  const open = await make.project({ visibility: 'public', repository: 'empty' })
  const mr = await makeMergeRequest(world(), open)
  const issue = await makeIssue(world(), project)
  await say(issue, `see ${open.full_path}!${mr.iid}`)
  const { status, body } = await get(`${mr.path}/participants`, outsider)
  assert.equal(status, 200)
  assert.ok(!(body as { id: number }[]).some(({ id }) => id === author?.id))
})

test('a text that hides its issue tells nobody elsewhere of it', async () => {
  const { make } = world()
  const open = await make.project({ group, visibility: 'private' })
  const [from, there] = [await makeIssue(world(), open), await makeIssue(world(), open)]
  await say(from, `#${there.iid} is where it leaks, @${guest?.username}\n/confidential`)
  assert.deepEqual(await rowsOf(world(), 'select body from notes where noteable_id = $1', [there.id]), [])
  assert.deepEqual(await waiting(from), [])
})

test('a group that is called is its members, from above too, as far as they read it and the caller sees the group', async () => {
  const { make } = world()
  const crew = await make.group({ parent: group, visibility: 'private' })
  const mate = await make.memberOf('reporter', { group: crew })
  await make.member(outsider as Someone, 'minimal_access', { group: crew })
  const issue = await makeIssue(world(), project)
  await say(issue, `@${crew.full_path.toUpperCase()}, @${group.full_path}/none and @all`)
  assert.deepEqual(await waiting(issue), ids(guest, planner, reporter), 'who cannot read it is not called')
  const inside = await makeIssue(world(), await make.project({ group: crew, visibility: 'private' }))
  await say(inside, `@${crew.full_path}`, { internal: true })
  assert.deepEqual(await waiting(inside), ids(mate, reporter))
  const hidden = await make.group({ visibility: 'private' })
  await make.member(guest as Someone, 'owner', { group: hidden })
  const other = await makeIssue(world(), project)
  await say(other, `@${hidden.full_path}`)
  assert.deepEqual(await waiting(other), [], 'nor by whoever does not see the group')
  const epic = await makeEpic(world(), group)
  await say(epic, `@${group.full_path}`, {}, guest)
  assert.deepEqual(await waiting(epic), ids(author, planner, reporter))
})

test('a hundred members of a group are called at most', async () => {
  const { make } = world()
  const crowd = await make.group({ visibility: 'public' })
  await make.sql(`
    with people as (insert into users (username, name, email)
                    select 'crowd-' || i, 'Crowd', 'crowd-' || i || '@example.org' from generate_series(1, 150) i returning id)
    insert into members (user_id, namespace_id, access_level) select id, ${crowd.id}, 20 from people`)
  const issue = await makeIssue(world(), await make.project({ group: crowd, visibility: 'public' }))
  const one = await world().statements(() => say(issue, '@nobody-at-all'))
  const many = await world().statements(() => say(issue, `@${crowd.full_path}`))
  assert.equal((await waiting(issue)).length, 100)
  assert.equal(many.length, one.length + 1, 'one statement makes all the to-do items')
})

test('the descriptions of merge requests and epics call and speak too, and a change of them says what is new', async () => {
  const { make, call } = world()
  const shop = await openWorkshop(world())
  await make.member(reporter as Someone, 'reporter', { project: shop.project })
  await make.member(guest as Someone, 'guest', { project: shop.project })
  const [first, second] = [await makeIssue(world(), shop.project), await makeIssue(world(), shop.project)]
  const to = `@${guest?.username} @${reporter?.username}`
  const iid = await shop.open('topic', { description: `${to} #${first.iid}` })
  const path = `/projects/${shop.project.id}/merge_requests/${iid}`
  const { id } = (await world().get(path, shop.owner)).body as { id: number }
  const mr = { id, iid, path }
  assert.deepEqual(await waiting(mr), ids(reporter))
  assert.deepEqual(await wordsOn(first, shop.owner), [`mentioned in merge request !${iid}`])
  await make.sql(`update todos set state = 'done' where noteable_id = ${id}`)
  const change = async (description: string): Promise<void> => {
    assert.equal((await shop.ask('PUT', `/${iid}`, { body: { description } })).status, 200)
  }
  await change(`${to} #${first.iid} #${second.iid}`)
  assert.deepEqual(await waiting(mr), [], 'who was called before is not called again')
  assert.deepEqual(await wordsOn(second, shop.owner), [`mentioned in merge request !${iid}`])
  await change('nobody')
  await change(`@${reporter?.username}`)
  assert.deepEqual(await waiting(mr), ids(reporter))

  const fresh = await make.group({ parent: group, visibility: 'private' })
  const epics = `/groups/${fresh.id}/epics`
  const body = { title: 'x', description: `@${guest?.username}` }
  const made = (await call('POST', epics, { as: planner, body })).body as { id: number; iid: number }
  const epic = { ...made, path: `${epics}/${made.iid}` }
  assert.deepEqual(await waiting(epic), ids(guest))
  const description = `@${guest?.username} @${reporter?.username}`
  await make.sql(`delete from todos where noteable_id = ${epic.id}`)
  assert.equal((await call('PUT', epic.path, { as: planner, body: { description } })).status, 200)
  assert.deepEqual(await waiting(epic), ids(reporter))
})
