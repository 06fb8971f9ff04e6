import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let admin: Someone
const world = sharedWorld(async (here) => {
  admin = await here.make.admin()
})

type Shown = { readonly id: number; readonly iid: number; readonly title: string } & Record<string, unknown>
interface Place {
  readonly group: Namespace
  readonly project: Project
  readonly guest: Someone
  readonly planner: Someone
  readonly path: string
}
async function place(parent?: Namespace): Promise<Place> {
  const { make } = world()
  const group = await make.group(parent ? { parent } : {})
  const project = await make.project({ group })
  const [guest, planner] = [
    await make.memberOf('guest', { group }),
    await make.memberOf('planner', { group }),
  ]
  return { group, project, guest, planner, path: `/groups/${group.id}/epics` }
}
async function made({ path, planner }: Place, body: object, as = planner): Promise<Shown> {
  const answer = await world().call('POST', path, { as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Shown
}
const put = (path: string, as: Someone, body: object): Promise<Answered> =>
  world().call('PUT', path, { as, body })
const titles = (answer: Answered): unknown[] => {
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as Shown[]).map(({ title }) => title)
}
const said = ({ status, body }: Answered): unknown[] => [status, body]

test('an epic is shown whole, alike in every answer', async () => {
  const here = await place()
  const { group, planner, path } = here
  const body = {
    title: ' Sail ',
    description: 'far',
    labels: 'b,a',
    color: 'red',
    start_date_fixed: '2030-01-01',
  }
  const epic = await made(here, { ...body, due_date_fixed: '2030-02-01' })
  const { id, created_at, updated_at, author, ...rest } = epic
  assert.equal(typeof id, 'number')
  assert.equal((author as { id: number }).id, planner.id)
  for (const moment of [created_at, updated_at]) assert.match(String(moment), /^\d{4}-.*\.\d{3}Z$/)
  const web = `https://guild.example/groups/${group.full_path}/-/epics/1`
  const api = `https://guild.example/api/v4/groups/${group.id}`
  assert.deepEqual(rest, {
    iid: 1,
    group_id: group.id,
    parent_id: null,
    parent_iid: null,
    title: 'Sail',
    description: 'far',
    confidential: false,
    start_date: '2030-01-01',
    start_date_is_fixed: true,
    start_date_fixed: '2030-01-01',
    start_date_from_inherited_source: null,
    end_date: '2030-02-01',
    due_date: '2030-02-01',
    due_date_is_fixed: true,
    due_date_fixed: '2030-02-01',
    due_date_from_inherited_source: null,
    state: 'opened',
    web_edit_url: `${web}/edit`,
    web_url: web,
    references: { short: '&1', relative: '&1', full: `${group.full_path}&1` },
    closed_at: null,
    labels: ['a', 'b'],
    upvotes: 0,
    downvotes: 0,
    color: '#FF0000',
    text_color: '#FFFFFF',
    _links: { self: `${api}/epics/1`, epic_issues: `${api}/epics/1/issues`, group: api, parent: null },
  })
  assert.deepEqual((await world().get(`${path}/1`, planner)).body, epic)
  assert.deepEqual((await world().get(path, planner)).body, [epic])
  const created = { title: 'long ago', created_at: '2020-01-01T00:00:00.000Z' }
  assert.equal((await made(here, created, admin))['created_at'], created.created_at)
  assert.notEqual((await made(here, created))['created_at'], created.created_at)
})

test('an epic is changed, closed with a record of it, reopened and deleted', async () => {
  const here = await place()
  const { planner, path } = here
  const { id, iid } = await made(here, { title: 'one', labels: ['x'], due_date_fixed: '2030-01-01' })
  const at = `${path}/${iid}`
  const changed = async (body: object): Promise<Shown> => {
    const answer = await put(at, planner, body)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual((await world().get(at, planner)).body, answer.body)
    return answer.body as Shown
  }
  const renamed = await changed({ title: 'two' })
  assert.deepEqual([renamed.title, renamed['labels'], renamed['due_date']], ['two', ['x'], '2030-01-01'])
  assert.deepEqual((await changed({ add_labels: 'y', remove_labels: 'x' }))['labels'], ['y'])
  assert.equal((await changed({ due_date_is_fixed: false }))['due_date'], null)
  const closed = await changed({ state_event: 'close' })
  assert.deepEqual([closed['state'], typeof closed['closed_at']], ['closed', 'string'])
  assert.deepEqual(await changed({ description: '' }).then((epic) => epic['closed_at']), closed['closed_at'])
  assert.equal((await changed({ state_event: 'reopen' }))['closed_at'], null)
  const events = await rowsOf(
    world(),
    'select state from resource_state_events where noteable_id = $1 order by id',
    [id],
  )
  assert.deepEqual(events, [{ state: 'closed' }, { state: 'reopened' }])
  const gone = await world().call('DELETE', at, { as: planner })
  assert.deepEqual([gone.status, gone.text], [204, ''])
  assert.deepEqual(said(await world().get(at, planner)), [404, { message: '404 Not found' }])
})

test('an invalid epic is refused and changes nothing', async () => {
  const here = await place()
  const { iid } = await made(here, { title: 'one' })
  const before = await contents(world())
  const cases: [object, object][] = [
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [{ title: 'x', color: 'nothing' }, { message: { color: ['must be a valid color code'] } }],
    [{ title: 'x', due_date_fixed: '2030-02-30' }, { error: 'due_date_fixed is invalid' }],
  ]
  for (const [body, refusal] of cases) {
    assert.deepEqual(said(await world().call('POST', here.path, { as: here.planner, body })), [400, refusal])
    assert.deepEqual(said(await put(`${here.path}/${iid}`, here.planner, body)), [400, refusal])
  }
  assert.equal((await put(`${here.path}/${iid}`, here.planner, {})).status, 400)
  assert.equal(await contents(world()), before)
})

test('confidential epics are there for those who plan and for their authors, in lists and totals too', async () => {
  const here = await place()
  const author = await world().make.memberOf('planner', { group: here.group })
  await made(here, { title: 'open' })
  const { iid } = await made(here, { title: 'hidden', confidential: true }, author)
  await rowsOf(world(), `update members set access_level = 10 where user_id = $1`, [author.id])
  const both = ['hidden', 'open']
  for (const [as, seen] of [
    [here.guest, ['open']],
    [author, both],
    [here.planner, both],
    [admin, both],
  ] as const) {
    const answer = await world().get(here.path, as)
    assert.deepEqual([titles(answer), answer.headers['x-total']], [seen, String(seen.length)])
    assert.equal((await world().get(`${here.path}/${iid}`, as)).status, seen.length === 2 ? 200 : 404)
  }
  assert.deepEqual(titles(await world().get(`${here.path}?confidential=true`, here.guest)), [])
})

test('lists reach down unless they are told not to, and up when they are asked', async () => {
  const top = await place()
  const low = await place(top.group)
  await made(top, { title: 'top' })
  await made(low, { title: 'low' })
  assert.deepEqual(titles(await world().get(top.path, top.guest)), ['low', 'top'])
  assert.deepEqual(titles(await world().get(`${top.path}?include_descendant_groups=false`, top.guest)), [
    'top',
  ])
  assert.deepEqual(titles(await world().get(low.path, low.guest)), ['low'])
  assert.deepEqual(titles(await world().get(`${low.path}?include_ancestor_groups=true`, top.guest)), [
    'low',
    'top',
  ])
  const minimal = await world().make.memberOf('minimal_access', { group: top.group })
  await world().make.member(minimal, 'guest', { group: low.group })
  const seen = await world().get(top.path, minimal)
  assert.deepEqual([titles(seen), seen.headers['x-total']], [['low'], '1'])
})

test('lists are narrowed and ordered by every filter', async () => {
  const here = await place()
  const one = await made(here, { title: 'b one', labels: 'x,y' })
  const two = await made(here, { title: 'a two', description: 'ONE more', labels: 'x' }, admin)
  await put(`${here.path}/${two.iid}`, here.planner, { state_event: 'close' })
  await rowsOf(
    world(),
    `update epics set created_at = '2021-01-01', updated_at = '2021-01-01' where id = $1`,
    [one.id],
  )
  await rowsOf(
    world(),
    `insert into award_emoji (name, user_id, noteable_id) values ('tada', $1, $3), ('tada', $2, $4)`,
    [here.guest.id, admin.id, one.id, two.id],
  )
  const planner = here.planner.username
  const cases: [string, string[]][] = [
    ['', ['a two', 'b one']],
    ['sort=asc', ['b one', 'a two']],
    ['order_by=title', ['b one', 'a two']],
    ['order_by=title&sort=asc', ['a two', 'b one']],
    ['order_by=updated_at&sort=asc', ['b one', 'a two']],
    ['state=opened', ['b one']],
    ['state=closed', ['a two']],
    [`author_id=${admin.id}`, ['a two']],
    ['labels=x,y', ['b one']],
    ['labels=x', ['a two', 'b one']],
    ['labels=Any', ['a two', 'b one']],
    ['labels=none', []],
    ['labels=x&not[labels]=y', ['a two']],
    ['not[labels]=y,unheard', ['a two']],
    ['not[labels]=unheard', ['a two', 'b one']],
    [`author_username=${planner.toUpperCase()}`, ['b one']],
    ['author_username=nobody', []],
    [`not[author_id]=${admin.id}`, ['b one']],
    [`not[author_username]=${planner}`, ['a two']],
    ['not[author_username]=nobody', ['a two', 'b one']],
    ['my_reaction_emoji=tada', ['b one']],
    ['my_reaction_emoji=rocket', []],
    ['my_reaction_emoji=Any', ['b one']],
    ['my_reaction_emoji=None', ['a two']],
    ['not[my_reaction_emoji]=tada', ['a two']],
    ['not[my_reaction_emoji]=None', ['b one']],
    ['not[labels]=None', ['a two', 'b one']],
    ['not[labels]=Any', []],
    ['search=one', ['a two', 'b one']],
    ['search=two', ['a two']],
    ['iids[]=1', ['b one']],
    ['created_before=2021-06-01', ['b one']],
    ['created_after=2021-06-01', ['a two']],
    ['updated_before=2021-06-01', ['b one']],
    ['updated_after=2021-06-01&state=opened', []],
    ['per_page=1&page=2', ['b one']],
  ]
  for (const [query, expected] of cases)
    assert.deepEqual(titles(await world().get(`${here.path}?${query}`, here.guest)), expected, query)
  for (const [query, error] of [
    ['author_id=1&author_username=a', 'author_id, author_username are mutually exclusive'],
    [
      'not[author_id]=1&not[author_username]=a',
      'not[author_id], not[author_username] are mutually exclusive',
    ],
    ['not[author_id]=me', 'not[author_id] is invalid'],
  ]) {
    const answer = await world().get(`${here.path}?${query}`, here.guest)
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
  const detailed = await world().get(`${here.path}?with_labels_details=true&state=opened`, here.guest)
  assert.equal((detailed.body as { labels: { name: string }[] }[])[0]?.labels[0]?.name, 'x')
})

test('issues are put into an epic and taken out, by those who plan both', async () => {
  const here = await place()
  const { iid, id } = await made(here, { title: 'holds' })
  const issue = async (more = {}): Promise<number> => {
    const values = { confidential: false, ...more }
    const row = await rowOf<{ id: number }>(
      world(),
      `insert into issues (iid, project_id, title, confidential)
       select count(*) + 1, $1, 'an issue', $2 from issues where project_id = $1 returning id`,
      [here.project.id, values.confidential],
    )
    return row.id
  }
  const [open, hidden] = [await issue(), await issue({ confidential: true })]
  const at = `${here.path}/${iid}/issues`
  const call = (method: 'POST' | 'DELETE', issueId: number, as = here.planner): Promise<Answered> =>
    world().call(method, `${at}/${issueId}`, { as })
  for (const one of [open, hidden]) {
    const answer = await call('POST', one)
    assert.equal(answer.status, 201, answer.text)
    const joined = answer.body as { id: number; epic: Shown; issue: Shown & { epic: { id: number } } }
    assert.deepEqual([joined.id, joined.epic.id, joined.issue.epic.id], [one, id, id])
  }
  assert.deepEqual(said(await call('POST', open)), [409, { message: 'Issue(s) already assigned' }])
  const seenBy = async (as: Someone): Promise<unknown[]> => {
    const answer = await world().get(at, as)
    const ids = (answer.body as { epic_issue_id: number }[]).map((one) => one.epic_issue_id)
    return [ids, answer.headers['x-total']]
  }
  assert.deepEqual(await seenBy(here.planner), [[open, hidden], '2'])
  assert.deepEqual(await seenBy(here.guest), [[open], '1'])
  assert.deepEqual(said(await call('POST', open, here.guest)), [403, { message: '403 Forbidden' }])
  const elsewhere = await place()
  assert.deepEqual(said(await world().call('POST', `${elsewhere.path}/1/issues/${open}`, { as: admin })), [
    404,
    { message: '404 Not found' },
  ])
  const afar = await rowOf<{ id: number }>(
    world(),
    `insert into issues (iid, project_id, title) values (900, $1, 'of another hierarchy') returning id`,
    [elsewhere.project.id],
  )
  assert.equal((await call('POST', afar.id)).status, 404, 'what is not seen is not there')
  await world().make.member(here.planner, 'guest', { project: elsewhere.project })
  assert.equal((await call('POST', afar.id)).status, 403, 'who plans the epic alone may not')
  const planner = await world().make.memberOf('planner', { project: elsewhere.project })
  await world().make.member(planner, 'planner', { group: here.group })
  const joined = await call('POST', afar.id, planner)
  assert.equal(joined.status, 201, joined.text)
  assert.deepEqual((joined.body as { issue: { epic: { id: number } } }).issue.epic.id, id)
  assert.equal((await call('DELETE', afar.id, planner)).status, 200)
  const out = await call('DELETE', open)
  assert.deepEqual([out.status, (out.body as { issue: { epic: unknown } }).issue.epic], [200, null])
  assert.deepEqual(said(await call('DELETE', open)), [404, { message: '404 Not found' }])
  assert.deepEqual(await seenBy(here.planner), [[hidden], '1'])
})

test('fifty who make epics at once get fifty numbers', async () => {
  const here = await place()
  const all = await Promise.all(Array.from({ length: 50 }, () => made(here, { title: 'rush' })))
  assert.deepEqual(
    all.map(({ iid }) => iid).sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, i) => i + 1),
  )
})

test('a page of epics costs two statements, for one and for many', async () => {
  const here = await place()
  const cost = async (): Promise<number> => {
    await world().make.sql('update personal_access_tokens set last_used_at = now()')
    return (await world().statements(() => world().get(`${here.path}?per_page=100`, here.guest))).length
  }
  await made(here, { title: 'one' })
  const few = await cost()
  for (let i = 0; i < 20; i++) await made(here, { title: `n${i}`, labels: 'x,y' })
  assert.deepEqual([few, await cost()], [2, 2])
})
