import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { freshenTokens, rowOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let group: Namespace
let project: Project
let planner: Someone
let guest: Someone
let other: Someone
let milestones: Record<'v1' | 'v2' | 'now' | 'soon', number>
const world = sharedWorld(async (here) => {
  const { make, call } = here
  group = await make.group({ path: 'harbour', visibility: 'public' })
  project = await make.project({ group, path: 'app', visibility: 'public' })
  planner = await make.memberOf('planner', { project })
  guest = await make.memberOf('guest', { project })
  other = await make.user()
  const milestone = async (title: string, days: readonly [string, string]): Promise<number> =>
    (
      await rowOf<{ id: number }>(
        here,
        `insert into milestones (iid, project_id, title, start_date, due_date)
         select count(*) + 1, $1, $2, today() + $3::int, today() + $4::int from milestones returning id`,
        [project.id, title, ...days],
      )
    ).id
  milestones = {
    v1: await milestone('v1', ['-20', '-10']),
    v2: await milestone('v2', ['-30', '-9']),
    now: await milestone('now', ['-3', '3']),
    soon: await milestone('soon', ['5', '9']),
  }
  const day = (offset: number): string =>
    new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
  const made: [Someone, object][] = [
    [
      planner,
      {
        title: 'one login',
        labels: 'bug,ui',
        weight: 1,
        milestone_id: milestones.v1,
        assignee_ids: [guest.id],
      },
    ],
    [
      planner,
      {
        title: 'two',
        description: 'login fails',
        labels: 'bug',
        milestone_id: milestones.v2,
        due_date: day(0),
      },
    ],
    [planner, { title: 'three', labels: 'ui', milestone_id: milestones.now, weight: 3, due_date: day(-3) }],
    [planner, { title: 'four', milestone_id: milestones.soon, issue_type: 'incident', due_date: day(1) }],
    [planner, { title: 'five', confidential: true, labels: 'bug', assignee_ids: [planner.id] }],
    [guest, { title: 'six', confidential: true }],
  ]
  for (const [as, body] of made) await call('POST', `/projects/${project.id}/issues`, { as, body })
  await call('PUT', `/projects/${project.id}/issues/2`, { as: planner, body: { state_event: 'close' } })
  await make.sql(`insert into labels (project_id, title, color) values (${project.id}, 'third', '#000000');
    insert into award_emoji (name, user_id, noteable_id)
    select 'thumbsup', ${guest.id}, id from issues where iid in (3, 4)`)
})

interface Shown {
  readonly iid: number
}
const list = async (
  query: string,
  as?: Someone,
  base = `/projects/${project.id}/issues`,
): Promise<number[]> => {
  const answer = await world().get(`${base}?per_page=100&${query}`, as)
  assert.equal(answer.status, 200, answer.text)
  const found = (answer.body as Shown[]).map(({ iid }) => iid)
  assert.equal(answer.headers['x-total'], String(found.length), query)
  return found
}

test('every filter finds what it says, and its total agrees', async () => {
  const rows: [string, number[]][] = [
    ['', [6, 5, 4, 3, 2, 1]],
    ['state=opened', [6, 5, 4, 3, 1]],
    ['state=closed', [2]],
    ['state=all', [6, 5, 4, 3, 2, 1]],
    ['labels=bug', [5, 2, 1]],
    ['labels=bug,ui', [1]],
    ['labels[]=bug&labels[]=ui', [1]],
    ['labels=bug,ui,third', []],
    ['labels=unheard', []],
    ['labels=bug,unheard', []],
    ['labels=None', [6, 4]],
    ['labels=any', [5, 3, 2, 1]],
    ['not[labels]=bug', [6, 4, 3]],
    ['labels=ui&not[labels]=bug', [3]],
    ['milestone=v1', [1]],
    ['milestone=unheard', []],
    ['milestone=None', [6, 5]],
    ['milestone=Any', [4, 3, 2, 1]],
    ['milestone_id=None', [6, 5]],
    ['milestone_id=Any', [4, 3, 2, 1]],
    ['milestone_id=Started', [3]],
    ['milestone_id=Upcoming', [4]],
    ['not[milestone]=v1', [6, 5, 4, 3, 2]],
    ['not[milestone_id]=Started', [6, 5, 4, 2, 1]],
    ['iids[]=1&iids[]=4&iids[]=77', [4, 1]],
    ['iids=1,4', [4, 1]],
    ['not[iids][]=1', [6, 5, 4, 3, 2]],
    [`author_id=${guest.id}`, [6]],
    [`author_username=${guest.username.toUpperCase()}`, [6]],
    ['author_username=nobody', []],
    [`not[author_id]=${guest.id}`, [5, 4, 3, 2, 1]],
    [`not[author_username]=${planner.username}`, [6]],
    [`assignee_id=${guest.id}`, [1]],
    [`assignee_username=${guest.username}`, [1]],
    [`assignee_username[]=${guest.username}`, [1]],
    ['assignee_id=None', [6, 4, 3, 2]],
    ['assignee_id=0', [6, 4, 3, 2]],
    ['assignee_id=Any', [5, 1]],
    [`not[assignee_id]=${guest.id}`, [6, 5, 4, 3, 2]],
    [`not[assignee_username]=${guest.username}`, [6, 5, 4, 3, 2]],
    ['search=LOGIN', [2, 1]],
    ['search=login one', [1]],
    ['search=login&in=title', [1]],
    ['search=login&in=description', [2]],
    ['search=100%25', []],
    ['confidential=true', [6, 5]],
    ['confidential=false', [4, 3, 2, 1]],
    ['created_after=2020-01-01', [6, 5, 4, 3, 2, 1]],
    ['created_before=2020-01-01T00:00:00Z', []],
    ['updated_after=2020-01-01&updated_before=2100-01-01', [6, 5, 4, 3, 2, 1]],
    ['due_date=0', [6, 5, 1]],
    ['due_date=any', [4, 3, 2]],
    ['due_date=today', [2]],
    ['due_date=tomorrow', [4]],
    ['due_date=overdue', [3]],
    ['weight=1', [1]],
    ['weight=None', [6, 5, 4, 2]],
    ['weight=Any', [3, 1]],
    ['not[weight]=1', [6, 5, 4, 3, 2]],
    ['issue_type=incident', [4]],
    ['epic_id=None', [6, 5, 4, 3, 2, 1]],
    ['epic_id=1', []],
    ['iteration_id=Any', []],
    ['iteration_title=unheard', []],
    ['not[iteration_title]=unheard', [6, 5, 4, 3, 2, 1]],
    ['health_status=None', [6, 5, 4, 3, 2, 1]],
    ['health_status=Any', []],
    ['health_status=at_risk', []],
    ['not[health_status]=at_risk', [6, 5, 4, 3, 2, 1]],
    ['my_reaction_emoji=thumbsup', []],
    ['my_reaction_emoji=None', [6, 5, 4, 3, 2, 1]],
    ['scope=assigned_to_me', [5]],
    ['scope=created-by-me', [5, 4, 3, 2, 1]],
    [`scope=created_by_me&author_id=${guest.id}`, []],
  ]
  for (const [query, expected] of rows) assert.deepEqual(await list(query, planner), expected, query)
  assert.deepEqual(await list('my_reaction_emoji=thumbsup', guest), [4, 3])
  assert.deepEqual(await list('my_reaction_emoji=Any', guest), [4, 3])
  assert.deepEqual(await list('not[my_reaction_emoji]=thumbsup', guest), [6, 2, 1])
})

test('every order is kept, both ways', async () => {
  const rows: [string, number[]][] = [
    ['order_by=created_at&sort=asc', [1, 2, 3, 4, 5, 6]],
    ['order_by=updated_at', [2, 6, 5, 4, 3, 1]],
    ['order_by=due_date&sort=asc', [3, 2, 4, 1, 5, 6]],
    ['order_by=due_date', [4, 2, 3, 6, 5, 1]],
    ['order_by=weight&sort=asc', [1, 3, 2, 4, 5, 6]],
    ['order_by=title&sort=asc', [5, 4, 1, 6, 3, 2]],
    ['order_by=popularity', [4, 3, 6, 5, 2, 1]],
    ['order_by=milestone_due&sort=asc', [1, 2, 3, 4, 5, 6]],
    ['order_by=relative_position&sort=asc', [1, 2, 3, 4, 5, 6]],
    ['order_by=priority&sort=asc', [1, 2, 3, 4, 5, 6]],
    ['order_by=label_priority&sort=asc', [1, 2, 3, 4, 5, 6]],
  ]
  for (const [query, expected] of rows) assert.deepEqual(await list(query, planner), expected, query)
  await world().make.sql(
    `insert into label_priorities select project_id, id, 1 from labels where title = 'ui'`,
  )
  assert.deepEqual(await list('order_by=label_priority&sort=asc', planner), [1, 3, 2, 4, 5, 6])
})

test('conflicting and unknown filters get the published refusal', async () => {
  const rows: [string, string][] = [
    ['author_id=1&author_username=a', 'author_id, author_username are mutually exclusive'],
    ['assignee_id=1&assignee_username=a', 'assignee_id, assignee_username are mutually exclusive'],
    ['milestone=v1&milestone_id=Any', 'milestone, milestone_id are mutually exclusive'],
    ['state=merged', 'state does not have a valid value'],
    ['assignee_id=me', 'assignee_id is invalid'],
    ['order_by=id', 'order_by does not have a valid value'],
    ['due_date=someday', 'due_date does not have a valid value'],
    ['health_status=fine', 'health_status does not have a valid value'],
    ['not[health_status]=Any', 'not[health_status] does not have a valid value'],
    [
      'not[iteration_id]=1&not[iteration_title]=a',
      'not[iteration_id], not[iteration_title] are mutually exclusive',
    ],
    ['not[weight]=2147483648', 'not[weight] does not have a valid value'],
  ]
  for (const [query, error] of rows) {
    const answer = await world().get(`/projects/${project.id}/issues?${query}`, planner)
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
})

test('confidential issues show themselves to planners, their authors and assignees, in every list and count', async () => {
  const admin = await world().make.admin()
  const assignee = await world().make.user()
  await world().make.sql(`insert into issue_assignees
    select id, ${assignee.id} from issues where project_id = ${project.id} and iid = 5`)
  const rows: [Someone | undefined, number[]][] = [
    [planner, [6, 5, 4, 3, 2, 1]],
    [admin, [6, 5, 4, 3, 2, 1]],
    [guest, [6, 4, 3, 2, 1]],
    [assignee, [5, 4, 3, 2, 1]],
    [other, [4, 3, 2, 1]],
    [undefined, [4, 3, 2, 1]],
  ]
  for (const [as, expected] of rows) {
    assert.deepEqual(await list('', as), expected)
    assert.deepEqual(await list('scope=all', as, `/groups/${group.id}/issues`), expected)
    assert.deepEqual(await list('scope=all', as, '/issues'), expected)
    for (const path of [`/projects/${project.id}`, `/groups/${group.id}`, '']) {
      const { body } = await world().get(`${path}/issues_statistics?scope=all`, as)
      assert.deepEqual(body, {
        statistics: { counts: { all: expected.length, closed: 1, opened: expected.length - 1 } },
      })
    }
    for (const iid of [5, 6]) {
      const one = await world().get(`/projects/${project.id}/issues/${iid}`, as)
      assert.equal(one.status, expected.includes(iid) ? 200 : 404)
    }
  }
  const hidden = await world().get(`/projects/${project.id}/issues/5`, other)
  const absent = await world().get(`/projects/${project.id}/issues/99`, other)
  assert.deepEqual([hidden.text, hidden.status], [absent.text, absent.status])
  await world().make.sql(`delete from issue_assignees where user_id = ${assignee.id}`)
})

test('lists of a group and of everything hold no more than the caller sees, from projects that are in use', async () => {
  const { make, call } = world()
  const secret = await make.project({ group, path: 'secret', visibility: 'private' })
  const old = await make.project({ group, path: 'old', visibility: 'public' })
  const off = await make.project({ group, path: 'off', visibility: 'public' })
  const elsewhere = await make.project({ visibility: 'public' })
  const boss = await make.memberOf('owner', { project: secret })
  for (const { id } of [old, off, elsewhere, secret])
    await call('POST', `/projects/${id}/issues`, { as: boss, body: { title: 'elsewhere' } })
  await make.sql(`update projects set archived = true where id = ${old.id};
    update projects set settings = '{"issues_access_level": "disabled"}' where id = ${off.id}`)
  const at = `/groups/${group.id}/issues`
  assert.equal((await list('', other, at)).length, 4)
  assert.equal((await list('non_archived=false', other, at)).length, 5)
  assert.equal((await list('', boss, at)).length, 5)
  assert.deepEqual(await list('', boss, `/projects/${off.id}/issues`), [])
  assert.equal((await world().get(`/projects/${off.id}/issues/1`, boss)).status, 404)
  assert.equal((await list('', boss, '/issues')).length, 2, 'in the open: the secret and elsewhere')
  assert.equal((await list('scope=assigned_to_me', guest, '/issues')).length, 1)
  assert.deepEqual(await list('labels=bug', other, at), [2, 1])
  assert.deepEqual(await list('labels=bug,ui', other, at), [1])
  assert.deepEqual(await list('labels=unheard', other, at), [])
  const { body } = await world().get(`${at}?search=one`, other)
  const [one] = body as { references: { relative: string } }[]
  assert.equal(one?.references.relative, 'app#1')
  const everywhere = await world().get('/issues?scope=all&search=one', other)
  const [across] = everywhere.body as { references: object }[]
  const full = `${group.full_path}/app#1`
  assert.deepEqual(across?.references, { short: '#1', relative: full, full }, 'across projects')
  const nobody = await world().get('/issues')
  assert.deepEqual([nobody.status, nobody.body], [401, { message: '401 Unauthorized' }])
})

test('a page costs the same statements for one issue and for many', async () => {
  await freshenTokens(world(), planner)
  const base = `/projects/${project.id}/issues?labels=bug&with_labels_details=true`
  const count = async (query: string): Promise<number> =>
    (await world().statements(() => world().get(`${base}${query}`, planner))).length
  assert.equal(await count('&per_page=1'), await count('&per_page=100'))
  const { body } = await world().get(`${base}&per_page=1`, planner)
  const [one] = body as { labels: { id?: number }[] }[]
  const { id: _id, ...label } = one?.labels[0] ?? {}
  assert.deepEqual(label, {
    name: 'bug',
    color: '#6699cc',
    description: null,
    description_html: null,
    text_color: '#FFFFFF',
  })
})

test('below a group a milestone counts as going on wherever issues there may have it: above, inside and in projects', async () => {
  const { make, call, get } = world()
  const top = await make.group()
  const middle = await make.group({ parent: top })
  const inside = await make.group({ parent: middle })
  const own = await make.project({ group: inside })
  const beside = await make.project({ group: top })
  const boss = await make.memberOf('owner', { group: top })
  const going = async (path: string): Promise<number> => {
    const body = { title: `of ${path}`, start_date: new Date().toISOString().slice(0, 10) }
    return ((await call('POST', `/${path}/milestones`, { as: boss, body })).body as { id: number }).id
  }
  const issueIn = async (project: Project, title: string, milestone_id?: number): Promise<void> => {
    const { status } = await call('POST', `/projects/${project.id}/issues`, {
      as: boss,
      body: { title, milestone_id },
    })
    assert.equal(status, 201)
  }
  await issueIn(own, 'above', await going(`groups/${top.id}`))
  await issueIn(own, 'here', await going(`groups/${inside.id}`))
  await issueIn(own, 'in the project', await going(`projects/${own.id}`))
  await issueIn(own, 'in none')
  await issueIn(beside, 'beside', await going(`projects/${beside.id}`))
  const titles = async (path: string): Promise<string[]> =>
    ((await get(path, boss)).body as { title: string }[]).map(({ title }) => title)
  const below = `/groups/${middle.id}/issues?sort=asc`
  assert.deepEqual(await titles(`${below}&milestone_id=Started`), ['above', 'here', 'in the project'])
  assert.deepEqual(await titles(`${below}&milestone_id=Upcoming`), [])
  assert.deepEqual(await titles(`${below}&milestone_id=None`), ['in none'])
})
