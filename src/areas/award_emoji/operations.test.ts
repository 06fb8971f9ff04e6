import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import {
  makeEpic,
  makeIssue,
  makeMergeRequest,
  makeSnippet,
  type Made,
} from '../../../test/support/noteables.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld, visible } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let [author, other, guest, reporter]: Someone[] = []
let group: Namespace
let project: Project
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'public' })
  project = await make.project({ group, visibility: 'public' })
  author = await make.user({ name: 'Ada' })
  other = await make.user()
  guest = await make.memberOf('guest', { group })
  reporter = await make.memberOf('reporter', { group })
})
interface Reaction {
  readonly id: number
  readonly name: string
  readonly created_at: string
  readonly updated_at: string
}
const react = (path: string, name: string, as: Someone | undefined = author): Promise<Answered> =>
  world().call('POST', `${path}/award_emoji`, { as, body: { name } })
const reacted = async (path: string, name: string, as = author): Promise<Reaction> => {
  const answer = await react(path, name, as)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Reaction
}
const comment = async (about: Made, body: object = { body: 'x' }, as = author): Promise<number> => {
  const answer = await world().call('POST', `${about.path}/notes`, { as, body })
  assert.equal(answer.status, 201, answer.text)
  return (answer.body as { id: number }).id
}
const NONE = { message: '404 Award Emoji Not Found' }

/** Everything that can be reacted to: its path, its id and its type. */
async function awardables(): Promise<[string, number, string][]> {
  const bases: [Made, string][] = [
    [await makeIssue(world(), project), 'Issue'],
    [await makeMergeRequest(world(), project), 'MergeRequest'],
    [await makeSnippet(world(), project), 'Snippet'],
  ]
  const epic = await makeEpic(world(), group)
  const rows: [string, number, string][] = [[`/groups/${group.id}/epics/${epic.iid}`, epic.id, 'Epic']]
  for (const [about, type] of bases) {
    const note = await comment(about)
    rows.push([about.path, about.id, type], [`${about.path}/notes/${note}`, note, 'Note'])
  }
  const note = await comment(epic)
  rows.push([`/groups/${group.id}/epics/${epic.iid}/notes/${note}`, note, 'Note'])
  return rows
}

test('people react to issues, merge requests, snippets, epics and to notes on them; everybody sees it', async () => {
  for (const [path, awardable_id, awardable_type] of await awardables()) {
    const made = await reacted(path, '+1')
    const { id, created_at, updated_at, ...rest } = made
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(updated_at, created_at)
    assert.deepEqual(rest, {
      name: 'thumbsup',
      user: {
        id: author?.id,
        username: author?.username,
        name: 'Ada',
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `https://guild.example/${author?.username}`,
      },
      awardable_id,
      awardable_type,
    })
    const second = await reacted(path, 'tada', other)
    for (const as of [undefined, other]) {
      const list = await world().get(`${path}/award_emoji`, as)
      assert.deepEqual([list.body, list.headers['x-total']], [[made, second], '2'])
      assert.deepEqual((await world().get(`${path}/award_emoji/${id}`, as)).body, made)
    }
    const one = `${path}/award_emoji/${id}`
    for (const as of [undefined, other]) {
      const answer = await world().call('DELETE', one, { as })
      assert.deepEqual([answer.status, answer.body], [401, { message: '401 Unauthorized' }])
    }
    const changed = await world().call('DELETE', one, {
      as: author,
      headers: { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
    })
    assert.deepEqual([changed.status, changed.body], [412, { message: '412 Precondition Failed' }])
    const gone = await world().call('DELETE', one, { as: author })
    assert.deepEqual([gone.status, gone.text], [204, ''])
    assert.deepEqual((await world().call('DELETE', one, { as: author })).body, NONE)
    const admin = await world().make.admin()
    const theirs = await world().call('DELETE', `${path}/award_emoji/${second.id}`, { as: admin })
    assert.equal(theirs.status, 204, 'administrators take back any')
  }
})

test('duplicate, unknown and unnamed reactions are refused', async () => {
  const { path } = await makeIssue(world(), project, { author_id: author?.id })
  await reacted(path, 'thumbsup')
  const before = await contents(world())
  const rows: [object, number, unknown][] = [
    [{ name: 'thumbsup' }, 404, { message: '404 Award Emoji Name has already been taken Not Found' }],
    [{ name: '+1' }, 404, { message: '404 Award Emoji Name has already been taken Not Found' }],
    [{ name: 'no-such' }, 404, { message: '404 Award Emoji Name is not a valid emoji name Not Found' }],
    [{ name: ':tada:' }, 404, { message: '404 Award Emoji Name is not a valid emoji name Not Found' }],
    [{ name: '' }, 404, { message: '404 Award Emoji Name is not a valid emoji name Not Found' }],
    [{}, 400, { error: 'name is missing' }],
    [{ name: null }, 400, { error: 'name is missing' }],
    [{ name: ['tada'] }, 400, { error: 'name is invalid' }],
    [{ name: 'THUMBSUP' }, 404, { message: '404 Award Emoji Name is not a valid emoji name Not Found' }],
    [
      { name: 'x'.repeat(900_000) },
      404,
      { message: '404 Award Emoji Name is not a valid emoji name Not Found' },
    ],
  ]
  for (const [body, status, refusal] of rows) {
    const answer = await world().call('POST', `${path}/award_emoji`, { as: author, body })
    assert.deepEqual([answer.status, answer.body], [status, refusal])
  }
  const nobody = await world().call('POST', `${path}/award_emoji`, { body: { name: 'tada' } })
  assert.deepEqual([nobody.status, nobody.body], [404, NONE])
  assert.equal(await contents(world()), before)
  for (const [id, status, refusal] of [
    ['0', 404, NONE],
    ['-1', 404, NONE],
    ['tada', 400, { error: 'award_id is invalid' }],
    ['99999999999999999999', 400, { error: 'award_id is invalid' }],
  ] as const) {
    const answer = await world().get(`${path}/award_emoji/${id}`)
    assert.deepEqual([answer.status, answer.body], [status, refusal])
  }
  const inQuery = await world().call('POST', `${path}/award_emoji?name=100`, { as: author })
  assert.deepEqual([inQuery.status, (inQuery.body as Reaction).name], [201, '100'])
})

test('of fifty who add the same emoji at once one is heard, and the others hear why not', async () => {
  const about = await makeIssue(world(), project)
  const note = `${about.path}/notes/${await comment(about)}`
  for (const path of [about.path, note]) {
    const names = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? '+1' : 'thumbsup'))
    const answers = await Promise.all(names.map((name) => react(path, name)))
    const made = answers.filter(({ status }) => status === 201)
    const told = answers.filter(
      ({ status, text }) =>
        status === 404 && text === '{"message":"404 Award Emoji Name has already been taken Not Found"}',
    )
    assert.deepEqual([made.length, told.length], [1, 49])
    assert.equal(((await world().get(`${path}/award_emoji`)).body as unknown[]).length, 1)
  }
})

test('a reaction settles what waits for its user, and makes what it is on young', async () => {
  const about = await makeIssue(world(), project, { updated_at: '2020-01-01' })
  const note = await comment(about)
  await world().make.sql(`
    update issues set updated_at = '2020-01-01' where id = ${about.id};
    insert into todos (user_id, project_id, noteable_id, action_name)
    select u, ${project.id}, ${about.id}, 'assigned' from unnest(array[${author?.id}, ${other?.id}]) u`)
  const waiting = async (): Promise<number[]> =>
    (
      await rowsOf<{ user_id: number }>(
        world(),
        `select user_id from todos where noteable_id = $1 and state = 'pending' order by user_id`,
        [about.id],
      )
    ).map((row) => row.user_id)
  const year = async (): Promise<number> =>
    (
      await rowOf<{ year: number }>(
        world(),
        'select extract(year from updated_at)::int as year from issues where id = $1',
        [about.id],
      )
    ).year
  await reacted(about.path, 'tada')
  assert.deepEqual(await waiting(), [other?.id])
  assert.ok((await year()) > 2020)
  await world().make.sql(`update notes set updated_at = '2020-01-01' where id = ${note}`)
  await reacted(`${about.path}/notes/${note}`, 'tada', other)
  assert.deepEqual(await waiting(), [], 'on a comment too')
  const { updated_at } = (await world().get(`${about.path}/notes/${note}`, other)).body as Reaction
  assert.ok(updated_at > '2021', 'the comment is what it is on')
  const mr = await makeMergeRequest(world(), project)
  await world().make.sql(`
    insert into todos (user_id, project_id, noteable_id, action_name)
    values (${author?.id}, ${project.id}, ${mr.id}, 'assigned')`)
  await reacted(mr.path, 'tada')
  const left = await rowsOf(world(), `select from todos where noteable_id = $1 and state = 'pending'`, [
    mr.id,
  ])
  assert.deepEqual(left, [])
})

test('reactions to hidden records answer like those to absent ones', async () => {
  const secret = await makeIssue(world(), project, { confidential: true })
  const about = await makeIssue(world(), project)
  const hidden = `${about.path}/notes/${await comment(about, { body: 'x', internal: true }, reporter)}`
  const award = await reacted(hidden, 'tada', reporter)
  const rows: [string, string][] = [
    [secret.path, `/projects/${project.id}/issues/987654`],
    [hidden, `${about.path}/notes/987654321`],
  ]
  for (const [there, nowhere] of rows)
    for (const as of [undefined, guest]) {
      for (const below of ['', `/${award.id}`]) {
        const answer = await world().get(`${there}/award_emoji${below}`, as)
        assert.deepEqual([answer.status, answer.body], [404, NONE])
        assert.deepEqual(visible(answer), visible(await world().get(`${nowhere}/award_emoji${below}`, as)))
      }
      assert.deepEqual((await react(there, 'tada', as)).body, NONE)
    }
  const another = await makeIssue(world(), project)
  const astray = hidden.replace(about.path, another.path)
  assert.deepEqual((await world().get(`${astray}/award_emoji`, reporter)).body, NONE, 'not its note')
  const closed = await world().make.project({ visibility: 'private' })
  const inside = await makeIssue(world(), closed)
  for (const as of [undefined, guest])
    assert.deepEqual((await world().get(`${inside.path}/award_emoji`, as)).body, {
      message: '404 Project Not Found',
    })
})

test('a caller without the right to comment cannot react', async () => {
  const locked = await makeIssue(world(), project, { discussion_locked: true })
  assert.deepEqual((await react(locked.path, 'tada', other)).body, NONE)
  await reacted(locked.path, 'tada', guest)
  const word = await comment(locked, { body: 'x' }, guest)
  await world().make.sql(`update notes set system_action = 'closed' where id = ${word}`)
  const answer = await react(`${locked.path}/notes/${word}`, 'tada', guest)
  assert.deepEqual([answer.status, answer.body], [404, NONE], 'nor to what the service wrote')
  const old = await world().make.project({ group, visibility: 'public' })
  await world().make.sql(`update projects set archived = true where id = ${old.id}`)
  assert.equal((await react((await makeIssue(world(), old)).path, 'tada', reporter)).status, 403)
})

test('ten thousand reactions are listed oldest first, by pages, for as many statements as one', async () => {
  const { path, id } = await makeIssue(world(), project)
  const cost = async (): Promise<number> =>
    (await world().statements(() => world().get(`${path}/award_emoji`))).length
  await reacted(path, 'tada')
  const one = await cost()
  await world().make.sql(`
    insert into award_emoji (name, user_id, noteable_id)
    select 'emoji' || i, ${other?.id}, ${id} from generate_series(1, 9999) i order by i`)
  assert.equal(await cost(), one)
  const page = await world().get(`${path}/award_emoji?per_page=2&page=2`)
  assert.deepEqual(
    (page.body as Reaction[]).map(({ name }) => name),
    ['emoji2', 'emoji3'],
  )
  assert.deepEqual([page.headers['x-total'], page.headers['x-next-page']], ['10000', '3'])
  const last = await world().get(`${path}/award_emoji?per_page=100&page=100`)
  assert.deepEqual([(last.body as Reaction[]).at(-1)?.name, last.headers['x-next-page']], ['emoji9999', ''])
})
