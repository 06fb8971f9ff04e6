import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let admin: Someone
const world = sharedWorld(async (here) => {
  admin = await here.make.admin()
})

interface Shown {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly [name: string]: unknown
}
interface Place {
  readonly group: Namespace
  readonly project: Project
  readonly planner: Someone
  /** The milestones of the project and of the group. */
  readonly inProject: string
  readonly inGroup: string
}
async function place(parent?: Namespace): Promise<Place> {
  const { make } = world()
  const group = await make.group(parent ? { parent } : {})
  const project = await make.project({ group })
  return {
    group,
    project,
    planner: await make.memberOf('planner', { group }),
    inProject: `/projects/${project.id}/milestones`,
    inGroup: `/groups/${group.id}/milestones`,
  }
}
const post = (path: string, as: Someone, body: object): Promise<Answered> =>
  world().call('POST', path, { as, body })
const put = (path: string, as: Someone, body: object): Promise<Answered> =>
  world().call('PUT', path, { as, body })

async function made(path: string, as: Someone, body: object): Promise<Shown> {
  const answer = await post(path, as, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Shown
}
const titles = (answer: Answered): unknown[] => {
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as Shown[]).map(({ title }) => title)
}
const said = ({ status, body }: Answered): unknown[] => [status, body]
const failed = (verb: 'create' | 'update', faults: string): object => ({
  message: `Failed to ${verb} milestone {${faults}}`,
})
const TAKEN = ':title=>["already being used for another group or project milestone."]'

test('a milestone of a project and one of a group are shown whole, in every answer alike', async () => {
  const { project, group, planner, inProject, inGroup } = await place()
  const body = { title: 'v1', description: 'The *first*', start_date: '2020-01-01', due_date: '2020-02-01' }
  const one = await made(inProject, planner, body)
  const { created_at, updated_at, ...shown } = one
  for (const moment of [created_at, updated_at]) assert.match(String(moment), /^\d{4}-.*\.\d{3}Z$/)
  const web = `https://guild.example/${project.full_path}/-/milestones/1`
  const rest = { state: 'active', expired: true, web_url: web }
  assert.deepEqual(shown, { id: one.id, iid: 1, project_id: project.id, ...body, ...rest })
  assert.deepEqual((await world().get(`${inProject}/${one.id}`, planner)).body, one)
  assert.deepEqual((await world().get(inProject, planner)).body, [one])

  const two = await made(inGroup, planner, { title: 'v2' })
  assert.deepEqual([two['group_id'], 'project_id' in two, two.iid], [group.id, false, 1])
  assert.deepEqual(
    [two['description'], two['due_date'], two['start_date'], two['expired']],
    [null, null, null, false],
  )
  assert.equal(two['web_url'], `https://guild.example/groups/${group.full_path}/-/milestones/1`)
  assert.deepEqual((await world().get(`${inGroup}/${two.id}`, planner)).body, two)
  assert.equal((await made(inProject, planner, { title: 'v3' })).iid, 2)
})

test('a milestone is expired the day after it was due, in UTC', async () => {
  const { planner, inProject } = await place()
  const day = (offset: number): string =>
    new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
  const today = await made(inProject, planner, { title: 'today', due_date: day(0) })
  const past = await made(inProject, planner, { title: 'past', due_date: day(-1) })
  assert.deepEqual([today['expired'], past['expired']], [false, true])
})

test('milestones are listed as they are due, the undated last and the newest of them first', async () => {
  const { planner, inProject, inGroup } = await place()
  for (const path of [inProject, inGroup]) {
    const mark = path === inGroup ? 'g' : 'p'
    const days = [
      ['a', null],
      ['b', '2030-02-01'],
      ['c', '2030-01-01'],
      ['d', null],
      ['e', '2030-02-01'],
    ]
    for (const [title, due_date] of days) await made(path, planner, { title: `${mark}${title}`, due_date })
    const ordered = ['c', 'e', 'b', 'd', 'a'].map((one) => mark + one)
    assert.deepEqual(titles(await world().get(path, planner)), ordered)
    const page = await world().get(`${path}?per_page=2&page=2`, planner)
    assert.deepEqual([titles(page), page.headers['x-total']], [[`${mark}b`, `${mark}d`], '5'])
  }
})

test('lists are narrowed by every filter', async () => {
  const { planner, inProject } = await place()
  const first = await made(inProject, planner, {
    title: 'Alpha',
    description: 'plain',
    due_date: '2030-01-31',
  })
  await made(inProject, planner, { title: 'beta', description: 'holds ALPHA 100%', start_date: '2031-01-01' })
  const last = await made(inProject, planner, { title: 'gamma' })
  await put(`${inProject}/${last.id}`, planner, { state_event: 'close' })
  await rowsOf(world(), `update milestones set updated_at = '2021-01-01T00:00:00Z' where id = $1`, [first.id])
  const cases: [string, string[]][] = [
    ['state=active', ['Alpha', 'beta']],
    ['state=closed', ['gamma']],
    ['state=all', ['Alpha', 'gamma', 'beta']],
    ['title=Alpha', ['Alpha']],
    ['title=alpha', []],
    ['search=alpha', ['Alpha', 'beta']],
    ['search=100%25', ['beta']],
    ['search=1_0', []],
    ['iids[]=1&iids[]=3', ['Alpha', 'gamma']],
    ['iids=1,3', ['Alpha', 'gamma']],
    ['iids[]=77', []],
    ['updated_before=2021-06-01T00:00:00Z', ['Alpha']],
    ['updated_after=2021-06-01', ['gamma', 'beta']],
    ['updated_after=2020-06-01&updated_before=2021-01-01T00:00:00Z', ['Alpha']],
    ['containing_date=2030-01-31', ['Alpha']],
    ['containing_date=2031-01-01', ['beta']],
    ['state=active&search=a&iids=2', ['beta']],
  ]
  for (const [query, expected] of cases)
    assert.deepEqual(titles(await world().get(`${inProject}?${query}`, planner)), expected, query)
  for (const [query, error] of [
    ['state=open', 'state does not have a valid value'],
    ['iids[]=one', 'iids is invalid'],
    ['include_ancestors=perhaps&updated_after=x', 'include_ancestors is invalid, updated_after is invalid'],
  ] as const)
    assert.deepEqual(said(await world().get(`${inProject}?${query}`, planner)), [400, { error }])
})

test('milestones of all groups above come with include_ancestors, and iids counts no more', async () => {
  const top = await place()
  const low = await place(top.group)
  const as = low.planner
  await made(top.inGroup, top.planner, { title: 'top', due_date: '2030-01-01' })
  await made(low.inGroup, as, { title: 'low', due_date: '2030-02-01' })
  await made(low.inProject, as, { title: 'own', due_date: '2030-03-01' })
  for (const word of ['include_ancestors', 'include_parent_milestones'])
    for (const iids of ['', '&iids=9']) {
      const list = await world().get(`${low.inProject}?${word}=true${iids}`, as)
      assert.deepEqual([titles(list), list.headers['x-total']], [['top', 'low', 'own'], '3'])
      assert.deepEqual(titles(await world().get(`${low.inGroup}?${word}=true${iids}`, as)), ['top', 'low'])
    }
  const exact = `${low.inProject}?title=top&include_parent_milestones=true`
  assert.deepEqual(titles(await world().get(exact, as)), ['top'])
  assert.deepEqual(titles(await world().get(low.inProject, as)), ['own'])
  const below = `${top.inGroup}?include_descendants=true`
  assert.deepEqual(titles(await world().get(below, top.planner)), ['top', 'low'])
  const guest = await world().make.memberOf('guest', { project: top.project })
  const seen = await world().get(below, guest)
  assert.deepEqual(
    [titles(seen), seen.headers['x-total']],
    [['top'], '1'],
    'a hidden group is not counted either',
  )
})

test('a project in a personal namespace lists its own', async () => {
  const { make } = world()
  const user = await make.user()
  const [home] = await rowsOf<Namespace>(world(), `select * from namespaces where full_path = $1`, [
    user.username,
  ])
  assert.ok(home)
  const project = await make.project({ group: home })
  await make.member(user, 'owner', { project })
  const path = `/projects/${project.id}/milestones`
  const { id } = await made(path, user, { title: 'mine' })
  assert.deepEqual(titles(await world().get(`${path}?include_ancestors=true`, user)), ['mine'])
  assert.deepEqual(said(await post(`${path}/${id}/promote`, user, {})), [403, { message: '403 Forbidden' }])
})

test('titles are trimmed and lose their tags, and signs stay as typed', async () => {
  const { planner, inProject } = await place()
  const title = '  <b>Ship</b> & <script>sail</script> > 5  '
  assert.equal((await made(inProject, planner, { title })).title, 'Ship & sail > 5')
})

test('an invalid milestone gets the published refusal and changes nothing', async () => {
  const { planner, inProject, inGroup } = await place()
  const late = '"date must not be after 9999-12-31"'
  const order = '"must be greater than start date"'
  const cases: [object, object][] = [
    [{ due_date: '2030-01-01' }, { error: 'title is missing' }],
    [{ title: ' ' }, failed('create', `:title=>["can't be blank"]`)],
    [{ title: '<i></i>' }, failed('create', `:title=>["can't be blank"]`)],
    [{ title: 'x'.repeat(256) }, failed('create', ':title=>["is too long (maximum is 255 characters)"]')],
    [
      { title: 'x', start_date: '2030-01-02', due_date: '2030-01-01' },
      failed('create', `:due_date=>[${order}]`),
    ],
    [
      { title: 'x', start_date: '2030-01-01', due_date: '2030-01-01' },
      failed('create', `:due_date=>[${order}]`),
    ],
    [{ title: 'x', due_date: '10000-01-01' }, failed('create', `:due_date=>[${late}]`)],
    [{ title: 'x', start_date: '10000-01-01' }, failed('create', `:start_date=>[${late}]`)],
    [{ title: 'x', due_date: '2030-02-30' }, { error: 'due_date is invalid' }],
    [{ title: 'x', start_date: 'soon' }, { error: 'start_date is invalid' }],
    [{ title: 'x', due_date: '2030-02-30T00:00:00Z' }, { error: 'due_date is invalid' }],
    [{ title: ['x'], due_date: { a: 1 } }, { error: 'title is invalid, due_date is invalid' }],
    [{ title: null }, { error: 'title is missing' }],
    [
      { title: 'x', description: 'x'.repeat(1_000_001) },
      { error: 'description is expected to have length less than or equal to 1000000' },
    ],
  ]
  const before = await contents(world())
  for (const path of [inProject, inGroup])
    for (const [body, refusal] of cases)
      assert.deepEqual(said(await post(path, planner, body)), [400, refusal])
  assert.equal(await contents(world()), before)
})

test('an update changes the given fields only; null and empty text clear them', async () => {
  const { planner, inProject } = await place()
  const body = { title: 'v1', description: 'd', start_date: '2030-01-01', due_date: '2030-02-01' }
  const { id } = await made(inProject, planner, body)
  const at = `${inProject}/${id}`
  const changed = async (change: object): Promise<Record<string, unknown>> => {
    const answer = await put(at, planner, change)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual((await world().get(at, planner)).body, answer.body)
    return answer.body as Shown
  }
  const kept = await changed({ title: 'v1.1' })
  assert.deepEqual([kept['title'], kept['description'], kept['due_date']], ['v1.1', 'd', '2030-02-01'])
  assert.equal((await changed({ due_date: null }))['due_date'], null)
  assert.equal((await changed({ start_date: '' }))['start_date'], null)
  assert.equal((await changed({ description: '' }))['description'], null)
  for (const state of ['closed', 'closed'])
    assert.equal((await changed({ state_event: 'close' }))['state'], state)
  assert.equal((await changed({ state_event: 'activate', title: 'v1.1' }))['state'], 'active')
})

test('a change that would be no milestone is refused, and nothing changes', async () => {
  const { planner, inProject } = await place()
  const { id } = await made(inProject, planner, { title: 'v1', start_date: '2030-01-01' })
  const before = await contents(world())
  const names = 'title, description, start_date, due_date, state_event'
  const cases: [object, object][] = [
    [{}, { error: `${names} are missing, at least one parameter must be provided` }],
    [{ state_event: 'open' }, { error: 'state_event does not have a valid value' }],
    [{ title: '' }, failed('update', `:title=>["can't be blank"]`)],
    [{ due_date: '2029-12-31' }, failed('update', ':due_date=>["must be greater than start date"]')],
  ]
  for (const [body, refusal] of cases)
    assert.deepEqual(said(await put(`${inProject}/${id}`, planner, body)), [400, refusal])
  assert.equal(await contents(world()), before)
})

test('a title is used once among a project, the groups above and what is inside a group', async () => {
  const top = await place()
  const low = await place(top.group)
  const as = low.planner
  await made(top.inGroup, top.planner, { title: 'of the top' })
  await made(low.inProject, as, { title: 'of the project' })
  const other = await made(low.inGroup, as, { title: 'other' })
  const refused = [400, failed('create', TAKEN)]
  for (const path of [low.inProject, low.inGroup, top.inProject])
    assert.deepEqual(said(await post(path, admin, { title: 'of the top' })), refused)
  for (const path of [low.inProject, low.inGroup, top.inGroup])
    assert.deepEqual(said(await post(path, admin, { title: 'of the project' })), refused)
  const changed = await put(`${low.inGroup}/${other.id}`, as, { title: 'of the top' })
  assert.deepEqual(said(changed), [400, failed('update', TAKEN)])
  await made(top.inProject, top.planner, { title: 'of the project' })
})

test('of many who give one title at once in a group and its projects one succeeds', async () => {
  const { group, inGroup, inProject } = await place()
  const second = `/projects/${(await world().make.project({ group })).id}/milestones`
  const paths = Array.from({ length: 30 }, (_, i) =>
    i % 3 === 0 ? inGroup : i % 2 === 0 ? inProject : second,
  )
  const answers = await Promise.all(paths.map((path) => post(path, admin, { title: 'once' })))
  const won = answers.filter(({ status }) => status === 201)
  const lost = answers.filter(({ status }) => status !== 201)
  for (const answer of lost) assert.deepEqual(said(answer), [400, failed('create', TAKEN)])
  const rows = await rowsOf(world(), `select project_id from milestones where title = 'once'`)
  // Two projects beside each other may have one title; a group and its projects may not.
  const inOne = won.some(({ body }) => (body as Shown)['group_id'] === group.id)
  assert.ok(inOne ? won.length === 1 : won.length <= 2, `${won.length}`)
  assert.equal(rows.length, won.length)
})

test('a deleted milestone is gone, and issues go on without it', async () => {
  const { project, planner, inProject } = await place()
  const { id } = await made(inProject, planner, { title: 'v1' })
  await rowsOf(
    world(),
    `insert into issues (iid, project_id, title, milestone_id) values (1, $1, 'an issue', $2)`,
    [project.id, id],
  )
  const answer = await world().call('DELETE', `${inProject}/${id}`, { as: planner })
  assert.deepEqual([answer.status, answer.text], [204, ''])
  for (const again of [
    await world().get(`${inProject}/${id}`, planner),
    await world().call('DELETE', `${inProject}/${id}`, { as: planner }),
  ])
    assert.deepEqual(said(again), [404, { message: '404 Not found' }])
  const issues = await rowsOf(world(), 'select milestone_id from issues where project_id = $1', [project.id])
  assert.deepEqual(issues, [{ milestone_id: null }])
})

test('a milestone is found in its own parent alone', async () => {
  const { planner, inProject, inGroup } = await place()
  const one = await made(inProject, planner, { title: 'one' })
  const two = await made(inGroup, planner, { title: 'two' })
  for (const path of [`${inGroup}/${one.id}`, `${inProject}/${two.id}`, `${inProject}/987654321`])
    assert.deepEqual(said(await world().get(path, planner)), [404, { message: '404 Not found' }])
  const wrong = [400, { error: 'milestone_id is invalid' }]
  assert.deepEqual(said(await world().get(`${inProject}/one`, planner)), wrong)
})

test('where issues and merge requests are switched off there are no milestones', async () => {
  const { project, planner, inProject } = await place()
  const levels = { issues_access_level: 'disabled', merge_requests_access_level: 'private' }
  await rowsOf(world(), 'update projects set settings = $2 where id = $1', [project.id, levels])
  assert.equal((await world().get(inProject, planner)).status, 200)
  const none = { issues_access_level: 'disabled', merge_requests_enabled: false }
  await rowsOf(world(), 'update projects set settings = $2 where id = $1', [project.id, none])
  assert.deepEqual(said(await world().get(inProject, planner)), [403, { message: '403 Forbidden' }])
})
