import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { freshenTokens } from '../../../test/support/rows.ts'
import { COMMITS, writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

let world: World
let history: SmallHistory
let project: Project
before(async () => {
  world = await openWorld()
  history = writeSmallHistory()
  project = await world.make.project({ visibility: 'public', repository: history.directory })
})
after(() => world.close())

const list = (query: string, of: { id: number } = project): Promise<Answered> =>
  world.get(`/projects/${of.id}/repository/commits${query}`)
const ids = ({ body }: Answered): string[] => (body as { id: string }[]).map(({ id }) => id)
const HEADERS = ['x-page', 'x-per-page', 'x-next-page', 'x-prev-page', 'x-total', 'x-total-pages'] as const
const headersOf = ({ headers }: Answered): unknown[] => HEADERS.map((name) => headers[name])

test('pages join to the whole of history', async () => {
  const all = COMMITS.toReversed().map((name) => history.sha[name])
  for (const size of [1, 2, 3, 7, 100]) {
    const pages = []
    for (let page = 1; page <= 8; page++) pages.push(...ids(await list(`?per_page=${size}&page=${page}`)))
    assert.deepEqual(pages, all, `pages of ${size}`)
  }
})

test('a list has no totals, and a next page whenever the page is full', async () => {
  const rows: [string, unknown[]][] = [
    ['', ['1', '20', '', '', undefined, undefined]],
    ['?per_page=3', ['1', '3', '2', '', undefined, undefined]],
    ['?per_page=3&page=2', ['2', '3', '3', '1', undefined, undefined]],
    ['?per_page=3&page=3', ['3', '3', '', '2', undefined, undefined]],
    ['?per_page=7', ['1', '7', '2', '', undefined, undefined]],
    ['?per_page=7&page=2', ['2', '7', '', '1', undefined, undefined]],
    ['?per_page=101', ['1', '100', '', '', undefined, undefined]],
    ['?page=1000000', ['1000000', '20', '', '999999', undefined, undefined]],
  ]
  for (const [query, headers] of rows) assert.deepEqual(headersOf(await list(query)), headers, query)
})

test('links carry every parameter on, and none is to a last page', async () => {
  const { headers } = await list(
    '?per_page=1&page=2&ref_name=feature%2Flogin&author=J%C3%BCrgen&since=2024-01-10',
  )
  const link = (page: number, rel: string): string =>
    `<https://guild.example/api/v4/projects/${project.id}/repository/commits?author=J%C3%BCrgen&page=${page}` +
    `&per_page=1&ref_name=feature%2Flogin&since=2024-01-10>; rel="${rel}"`
  assert.equal(headers['link'], [link(1, 'prev'), link(3, 'next'), link(1, 'first')].join(', '))
})

test('a page that is none is refused, and so is whatever else is wrong, in the order of declaration', async () => {
  const rows: [string, string][] = [
    ['?page=0', 'page does not have a valid value'],
    ['?page=-1', 'page does not have a valid value'],
    ['?per_page=0', 'per_page does not have a valid value'],
    ['?per_page=-1', 'per_page does not have a valid value'],
    ['?page=a', 'page is invalid'],
    ['?per_page=1.5', 'per_page is invalid'],
    ['?page=99999999999999999999', 'page is invalid'],
    ['?since=yesterday', 'since is invalid'],
    ['?until=2024-02-30T00:00:00Z', 'until is invalid'],
    ['?since=9999999-01-01', 'since is invalid'],
    ['?since=1704888000', 'since is invalid'],
    ['?since=2024-01-10T12:00:00+02:00', 'since is invalid'],
    ['?order=date', 'order does not have a valid value'],
    ['?order=', 'order does not have a valid value'],
    ['?all=maybe', 'all is invalid'],
    ['?ref_name[]=main', 'ref_name is invalid'],
    ['?path=a%00b', 'path is invalid'],
    [
      '?per_page=x&page=0&trailers=x&order=x&first_parent=x&with_stats=x&until=x&since=x',
      'since is invalid, until is invalid, with_stats is invalid, first_parent is invalid, ' +
        'order does not have a valid value, trailers is invalid, page does not have a valid value, per_page is invalid',
    ],
  ]
  for (const [query, error] of rows) {
    const answer = await list(query)
    assert.deepEqual([answer.status, answer.body], [400, { error }], query)
  }
})

test('commits have no keyset pages', async () => {
  const answer = await list('?pagination=keyset')
  assert.deepEqual(
    [answer.status, answer.body],
    [405, { error: 'Keyset pagination is not yet available for this type of request' }],
  )
})

test('a repository without commits lists none, and there is no list without a repository', async () => {
  const empty = await world.make.project({ visibility: 'public', repository: 'empty' })
  const none = await world.make.project({ visibility: 'public' })
  for (const query of [
    '',
    '?all=true',
    '?ref_name=main',
    '?ref_name=HEAD',
    '?ref_name=a..b',
    '?with_stats=true',
  ]) {
    const nothing = await list(query, empty)
    assert.deepEqual([nothing.status, nothing.body], [200, []], query)
    const absent = await list(query, none)
    assert.deepEqual([absent.status, absent.body], [404, { message: '404 Repository Not Found' }], query)
  }
})

test('a list costs one statement, for one commit as for all of them, of whoever asks', async () => {
  const member = await world.make.memberOf('developer', { project })
  await freshenTokens(world, member)
  for (const as of [undefined, member])
    for (const query of ['?per_page=1', '?per_page=100&with_stats=true&trailers=true&all=true']) {
      const read = (): Promise<Answered> =>
        world.get(`/projects/${project.id}/repository/commits${query}`, as)
      await read()
      assert.equal((await world.statements(read)).length, 1, query)
    }
})

test('a hundred lists at once agree', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => list('?all=true&with_stats=true&per_page=100')),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})
