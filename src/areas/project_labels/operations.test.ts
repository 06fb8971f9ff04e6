import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

const at = sharedWorld()
type Body = Record<string, unknown> & { readonly id: number }
interface Stand {
  readonly group: Namespace
  readonly project: Project
  readonly reporter: Someone
}

async function stand(): Promise<Stand> {
  const { make } = at()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  return { group, project, reporter: await make.memberOf('reporter', { group }) }
}
const call = async (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  { project, reporter }: Stand,
  path = '',
  body?: object,
): Promise<{ status: number; body: Body }> =>
  (await at().call(method, `/projects/${project.id}/labels${path}`, {
    as: reporter,
    ...(body && { body }),
  })) as { status: number; body: Body }
const titles = async (s: Stand, path = ''): Promise<unknown[]> => {
  const { body } = await call('GET', s, path)
  return (body as unknown as Body[]).map((label) => label['name'])
}

test('a label is made, read by id and by title, changed and removed', async () => {
  const here = await stand()
  const made = await call('POST', here, '', {
    name: ' to do ',
    color: 'orange',
    description: 'a *b*',
    priority: 3,
  })
  assert.equal(made.status, 201)
  assert.deepEqual(made.body, {
    id: made.body.id,
    name: 'to do',
    description: 'a *b*',
    description_html: 'a <em>b</em>',
    text_color: '#FFFFFF',
    color: '#FFA500',
    open_issues_count: 0,
    closed_issues_count: 0,
    open_merge_requests_count: 0,
    subscribed: false,
    priority: 3,
    is_project_label: true,
  })
  assert.deepEqual((await call('GET', here, '/to%20do')).body, made.body)
  assert.deepEqual((await call('GET', here, `/${made.body.id}`)).body, made.body)
  const changed = await call('PUT', here, '/to%20do', { new_name: 'done', priority: null })
  assert.deepEqual([changed.status, changed.body['name'], changed.body['priority']], [200, 'done', null])
  const old = await call('PUT', here, '', { name: 'done', color: '#123', description: '' })
  assert.deepEqual([old.body['color'], old.body['description']], ['#112233', null])
  assert.equal((await call('DELETE', here, `/${made.body.id}`, {})).status, 204)
  const gone = await call('GET', here, `/${made.body.id}`)
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Label Not Found' }])
})

test('missing, malformed and duplicate labels get the published refusal', async () => {
  const here = await stand()
  await call('POST', here, '', { name: 'bug', color: '#000000' })
  await call('POST', here, '', { name: 'other', color: '#000000' })
  await at().make.sql(
    `insert into labels (group_id, title, color) values (${here.group.id}, 'shared', '#000000')`,
  )
  const before = await contents(at())
  const refusals = [
    [await call('POST', here, '', {}), 400, { error: 'name is missing, color is missing' }],
    [await call('POST', here, '', { name: 'bug', color: 'red' }), 409, { message: 'Label already exists' }],
    [
      await call('POST', here, '', { name: 'shared', color: 'red' }),
      409,
      { message: 'Label already exists' },
    ],
    [
      await call('POST', here, '', { name: 'a,b', color: 'reddish' }),
      400,
      { message: { title: ['is invalid'], color: ['must be a valid color code'] } },
    ],
    [
      await call('PUT', here, '/bug', {}),
      400,
      {
        error: 'new_name, color, description, priority are missing, at least one parameter must be provided',
      },
    ],
    [
      await call('PUT', here, '', { color: 'red' }),
      400,
      { error: 'label_id, name are missing, exactly one parameter must be provided' },
    ],
    [
      await call('PUT', here, '/bug', { new_name: 'other' }),
      400,
      { message: { title: ['has already been taken'] } },
    ],
    [await call('PUT', here, '/shared', { color: 'red' }), 404, { message: '404 Label Not Found' }],
    [await call('DELETE', here, '/shared'), 404, { message: '404 Label Not Found' }],
  ] as const
  for (const [answer, status, body] of refusals)
    assert.deepEqual([answer.status, answer.body], [status, body])
  assert.equal(await contents(at()), before)
})

test('the list holds labels of the groups above unless it is told not to, in the order of titles', async () => {
  const { make } = at()
  const parent = await make.group({ visibility: 'public' })
  const group = await make.group({ parent, visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const here = { group, project, reporter: await make.memberOf('reporter', { project }) }
  const other = await make.project({ group, visibility: 'public' })
  await make.sql(`insert into labels (group_id, project_id, title, color, description) values
    (${parent.id}, null, 'b', '#000000', null), (${group.id}, null, 'd', '#000000', 'find me'),
    (null, ${project.id}, 'c', '#000000', null), (null, ${project.id}, 'a', '#000000', null),
    (null, ${other.id}, 'elsewhere', '#000000', null)`)
  assert.deepEqual(await titles(here), ['a', 'b', 'c', 'd'])
  assert.deepEqual(await titles(here, '?include_ancestor_groups=false'), ['a', 'c'])
  assert.deepEqual(await titles(here, '?search=FIND'), ['d'])
  assert.deepEqual(await titles(here, '?per_page=2&page=2'), ['c', 'd'])
  const answer = await at().get(`/projects/${project.id}/labels?per_page=1`, here.reporter)
  assert.equal(answer.headers['x-total'], '4')
  assert.equal((await call('GET', here, '/b')).body['is_project_label'], false)
  assert.equal((await call('GET', here, '/b?include_ancestor_groups=false')).status, 404)
  const one = await at().statements(() => call('GET', here, '?per_page=1&with_counts=true'))
  const many = await at().statements(() => call('GET', here, '?per_page=100&with_counts=true'))
  assert.equal(one.length, many.length)
})

test('counts are always there, of what the caller may see in this project', async () => {
  const here = await stand()
  const { project } = here
  await call('POST', here, '', { name: 'bug', color: 'red' })
  await at().make.sql(`
    insert into issues (project_id, iid, title, state, confidential) values
      (${project.id}, 1, 'x', 'opened', false), (${project.id}, 2, 'x', 'closed', false),
      (${project.id}, 3, 'x', 'opened', true);
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from labels l, issues i where l.project_id = ${project.id} and i.project_id = ${project.id}`)
  const guest = await at().make.memberOf('guest', { project })
  const counts = async (as: Someone): Promise<unknown> => {
    const [label] = (await call('GET', { ...here, reporter: as }, '?with_counts=true'))
      .body as unknown as Body[]
    return [
      label?.['open_issues_count'],
      label?.['closed_issues_count'],
      label?.['open_merge_requests_count'],
    ]
  }
  assert.deepEqual(await counts(here.reporter), [2, 1, 0])
  assert.deepEqual(await counts(guest), [1, 1, 0])
  const [plain] = (await call('GET', here)).body as unknown as Body[]
  assert.equal(plain?.['open_issues_count'], 2)
})

test('the right to read a label gives the right to subscribe once, inherited labels included', async () => {
  const here = await stand()
  await at().make.sql(
    `insert into labels (group_id, title, color) values (${here.group.id}, 'wide', '#000000')`,
  )
  const first = await call('POST', here, '/wide/subscribe', {})
  assert.deepEqual([first.status, first.body['subscribed']], [201, true])
  assert.equal((await call('POST', here, '/wide/subscribe', {})).status, 304)
  assert.equal((await call('POST', here, '/wide/unsubscribe', {})).body['subscribed'], false)
  assert.equal((await call('POST', here, '/wide/unsubscribe', {})).status, 304)
})

test('a promoted label keeps its id and takes the place of its like in the group’s projects', async () => {
  const here = await stand()
  const { group, project } = here
  const { make } = at()
  const [sister, stranger] = [await make.project({ group }), await make.project()]
  const { id } = (await call('POST', here, '', { name: 'bug', color: 'red', priority: 1 })).body
  await make.sql(`
    insert into labels (project_id, title, color) values (${sister.id}, 'bug', '#000000'),
      (${stranger.id}, 'bug', '#000000'), (${sister.id}, 'other', '#000000');
    insert into issues (project_id, iid, title) values (${project.id}, 1, 'x'), (${sister.id}, 1, 'y');
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from labels l join issues i on i.project_id = l.project_id where l.title = 'bug'
         and l.project_id in (${project.id}, ${sister.id});
    insert into label_subscriptions (label_id, user_id)
      select id, ${here.reporter.id} from labels where project_id = ${sister.id} and title = 'bug'`)
  const promoted = await call('PUT', here, '/bug/promote', {})
  assert.equal(promoted.status, 200)
  assert.deepEqual(
    [
      promoted.body.id,
      promoted.body['is_project_label'],
      promoted.body['subscribed'],
      promoted.body['priority'],
    ],
    [id, false, true, 1],
  )
  assert.deepEqual(
    await rowsOf(
      at(),
      `select l.id, l.group_id, l.project_id, count(k.*)::int as links from labels l
         left join label_links k on k.label_id = l.id where l.title = 'bug' and
         (l.group_id = ${group.id} or l.project_id in (${project.id}, ${sister.id}, ${stranger.id}))
        group by l.id order by l.group_id nulls last`,
    ).then((rows) => rows.map((row) => ({ ...(row as object), id: 0 }))),
    [
      { id: 0, group_id: group.id, project_id: null, links: 2 },
      { id: 0, group_id: null, project_id: stranger.id, links: 0 },
    ],
  )
  assert.equal((await call('PUT', here, '/bug/promote', {})).status, 404)
})

test('twenty who promote one title at once leave one label of the group', async () => {
  const here = await stand()
  const { make } = at()
  const projects = await Promise.all(
    Array.from({ length: 20 }, () => make.project({ group: here.group, visibility: 'public' })),
  )
  await make.sql(
    `insert into labels (project_id, title, color) select id, 'race', '#000000' from projects where namespace_id = ${here.group.id}`,
  )
  const answers = await Promise.all(
    projects.map((project) => call('PUT', { ...here, project }, '/race/promote', {})),
  )
  assert.deepEqual(
    [...new Set(answers.map(({ status }) => status))].filter((s) => s !== 200 && s !== 404),
    [],
  )
  const left = await rowsOf(at(), `select group_id from labels where title = 'race'`)
  assert.deepEqual(left, [{ group_id: here.group.id }])
})

test('a label is not promoted out of a personal namespace, nor into a group of others', async () => {
  const { make } = at()
  const user = await make.user()
  const own = await at().call('POST', '/projects', { as: user, body: { name: 'own' } })
  const project = own.body as Project
  const mine = { project, reporter: user, group: await make.group() }
  await call('POST', mine, '', { name: 'bug', color: 'red' })
  const failed = await call('PUT', mine, '/bug/promote', {})
  assert.deepEqual(
    [failed.status, failed.body],
    [400, { message: 'Failed to promote project label to group label' }],
  )
  const here = await stand()
  const direct = await make.memberOf('reporter', { project: here.project })
  await call('POST', here, '', { name: 'bug', color: 'red' })
  assert.equal((await call('PUT', { ...here, reporter: direct }, '/bug/promote', {})).status, 403)
})
