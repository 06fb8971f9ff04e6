import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeIssue, makeLabel, makeMergeRequest } from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { freshenTokens, rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
let admin: Someone
before(async () => {
  world = await openWorld()
  admin = await world.make.admin()
})
after(() => world.close())

const list = (group: { id: number }, query = '', as = admin): Promise<Answered> =>
  world.get(`/groups/${group.id}/labels${query}`, as)
const titles = ({ body, text, status }: Answered): string[] => {
  assert.equal(status, 200, text)
  return (body as { name: string }[]).map(({ name }) => name)
}

test('a list shows each label in whole, and the same as the label by itself', async () => {
  const group = await world.make.group()
  const label = await makeLabel(world, { group }, { title: 'bug', color: '#FFA500', description: 'a & b' })
  const answer = await list(group)
  const expected = {
    id: label.id,
    name: 'bug',
    color: '#FFA500',
    text_color: '#FFFFFF',
    description: 'a & b',
    description_html: 'a &amp; b',
    open_issues_count: 0,
    closed_issues_count: 0,
    open_merge_requests_count: 0,
    subscribed: false,
  }
  assert.deepEqual([answer.status, answer.body], [200, [expected]])
  assert.equal(answer.headers['content-type'], 'application/json')
  const single = await world.get(`/groups/${group.id}/labels/bug`, admin)
  assert.deepEqual([single.status, single.body], [200, expected])
})

test('asking for counts changes nothing', async () => {
  const group = await world.make.group()
  await makeLabel(world, { group })
  const { text } = await list(group)
  for (const value of ['true', 'false', '1', 'True'])
    assert.equal((await list(group, `?with_counts=${value}`)).text, text)
})

test('a group is named by id or by encoded full path', async () => {
  const parent = await world.make.group()
  const group = await world.make.group({ parent })
  await makeLabel(world, { group }, { title: 'x' })
  for (const id of [group.id, encodeURIComponent(group.full_path), group.full_path.replace('/', '%2f')])
    assert.deepEqual(titles(await world.get(`/groups/${id}/labels`, admin)), ['x'])
  const plain = await world.get(`/groups/${group.full_path}/labels`, admin)
  assert.deepEqual([plain.status, plain.body], [404, { error: '404 Not Found' }])
})

test('labels come by title, and page by page with every parameter in the links', async () => {
  const group = await world.make.group()
  for (const title of ['c', 'a', 'e', 'b', 'd']) await makeLabel(world, { group }, { title })
  assert.deepEqual(titles(await list(group)), ['a', 'b', 'c', 'd', 'e'])
  const page = await list(group, '?per_page=2&page=2&search=&with_counts=true')
  assert.deepEqual(titles(page), ['c', 'd'])
  const link = (n: number, rel: string): string =>
    `<https://guild.example/api/v4/groups/${group.id}/labels?page=${n}&per_page=2&search=&with_counts=true>; rel="${rel}"`
  assert.equal(
    page.headers['link'],
    [link(1, 'prev'), link(3, 'next'), link(1, 'first'), link(3, 'last')].join(', '),
  )
  const { headers } = page
  assert.deepEqual(
    ['x-total', 'x-total-pages', 'x-page', 'x-per-page', 'x-next-page', 'x-prev-page'].map((n) => headers[n]),
    ['5', '3', '2', '2', '3', '1'],
  )
  const beyond = await list(group, '?per_page=2&page=9')
  assert.deepEqual([titles(beyond), beyond.headers['x-total']], [[], '5'])
})

test('pages out of range are brought into it, and senseless ones refused', async () => {
  const group = await world.make.group()
  await makeLabel(world, { group }, { title: 'x' })
  for (const query of ['?page=0', '?page=-3', '?per_page=-1', '?per_page=1000'])
    assert.deepEqual(titles(await list(group, query)), ['x'], query)
  assert.equal((await list(group, '?per_page=1000')).headers['x-per-page'], '100')
  const rows: [string, number, string][] = [
    ['?per_page=0', 400, 'per_page has a value not allowed'],
    ['?page=a&per_page=b', 400, 'page is invalid, per_page is invalid'],
    ['?with_counts=maybe', 400, 'with_counts is invalid'],
    [
      '?include_ancestor_groups=2&include_descendant_groups=x&only_group_labels=no',
      400,
      'include_ancestor_groups is invalid, include_descendant_groups is invalid, only_group_labels is invalid',
    ],
    ['?search[a]=b', 400, 'search is invalid'],
    ['?search=%00', 400, 'search is invalid'],
    ['?pagination=keyset', 405, 'Keyset pagination is not yet available for this type of request'],
  ]
  for (const [query, status, error] of rows) {
    const answer = await list(group, query)
    assert.deepEqual([answer.status, answer.body], [status, { error }])
  }
})

test('a search looks for a part of title or description, in any case and to the letter', async () => {
  const group = await world.make.group()
  const wanted = { Bug: undefined, feature: 'no BUG', '50%': undefined, a_b: undefined, 'a\\b': undefined }
  for (const [title, description] of Object.entries(wanted))
    await makeLabel(world, { group }, { title, ...(description !== undefined && { description }) })
  const rows: [string, string[]][] = [
    ['bug', ['Bug', 'feature']],
    ['UG', ['Bug', 'feature']],
    ['u', ['Bug', 'feature']],
    ['%', ['50%']],
    ['_', ['a_b']],
    ['\\', ['a\\b']],
    ['nothing', []],
    ["' or 1=1 --", []],
    ['', ['50%', 'Bug', 'a\\b', 'a_b', 'feature']],
  ]
  for (const [text, found] of rows) {
    const answer = await list(group, `?search=${encodeURIComponent(text)}`)
    assert.deepEqual(
      titles(answer).sort((a, b) => (a < b ? -1 : 1)),
      found,
      text,
    )
    assert.equal(answer.headers['x-total'], String(found.length))
  }
})

test('past ten thousand labels a list no longer says how many there are', async () => {
  const group = await world.make.group()
  await world.make.sql(
    `insert into labels (group_id, title, color)
     select ${group.id}, 'l' || to_char(n, 'FM00000'), '#000000' from generate_series(1, 10001) n`,
  )
  const { headers } = await list(group, '?page=2')
  assert.equal(headers['x-total'], undefined)
  assert.equal(headers['x-total-pages'], undefined)
  assert.equal(headers['x-next-page'], '3')
  assert.doesNotMatch(String(headers['link']), /rel="last"/)
  await rowsOf(world, `delete from labels where group_id = $1 and title = 'l10001'`, [group.id])
  assert.equal((await list(group)).headers['x-total'], '10000')
})

test('a list costs two statements, for one label as for a hundred with everything on them', async () => {
  const group = await world.make.group()
  const member = await world.make.memberOf('reporter', { group })
  const label = await makeLabel(world, { group })
  await freshenTokens(world, member)
  const few = await world.statements(() => list(group, '', member))
  const project = await world.make.project({ group })
  await makeIssue(world, project, { label })
  await makeMergeRequest(world, project, { label })
  await world.make.sql(`
    insert into labels (group_id, title, color)
      select ${group.id}, 'n' || n, '#000000' from generate_series(1, 99) n;
    insert into label_links (label_id, noteable_id) select l.id, i.id from labels l, issues i
     where l.group_id = ${group.id} and i.project_id = ${project.id} on conflict do nothing`)
  const many = await world.statements(() => list(group, '?per_page=100', member))
  const wide = await world.statements(() =>
    list(group, '?per_page=100&include_descendant_groups=true&only_group_labels=false', member),
  )
  assert.deepEqual([few.length, many.length, wide.length], [2, 2, 2])
})
