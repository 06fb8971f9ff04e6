import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { pick } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
let member: Someone
before(async () => {
  world = await openWorld()
  member = await world.make.user()
  for (let i = 10; i < 35; i++) {
    const group = await world.make.group({ path: `page-${i}`, visibility: 'public' })
    await world.make.member(member, 'guest', { group })
  }
  await world.make.group({ path: 'page-hidden' })
})
after(() => world.close())

const URL = 'https://guild.example/api/v4/groups'
const NOT_YET = { error: 'Keyset pagination is not yet available for this type of request' }

const pageHeaders = ({ headers }: Answered): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name === 'link' || name.startsWith('x-')))
const list = async (
  path: string,
  as?: Someone,
): Promise<{ paths: unknown[]; headers: Record<string, unknown> }> => {
  const answer = await world.get(path, as)
  const {
    'x-request-id': _id,
    'x-content-type-options': _type,
    'x-frame-options': _frame,
    ...headers
  } = pageHeaders(answer)
  return { paths: pick(answer, 'path'), headers }
}
const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `page-${from + i}`)

test('a page holds twenty groups and tells of the others', async () => {
  for (const as of [undefined, member])
    assert.deepEqual(await list('/groups', as), {
      paths: numbered(10, 30),
      headers: {
        link:
          `<${URL}?page=2&per_page=20>; rel="next", <${URL}?page=1&per_page=20>; rel="first", ` +
          `<${URL}?page=2&per_page=20>; rel="last"`,
        'x-page': '1',
        'x-per-page': '20',
        'x-next-page': '2',
        'x-prev-page': '',
        'x-total': '25',
        'x-total-pages': '2',
      },
    })
})

test('HEAD tells of a page what GET tells, but for the page', async () => {
  for (const as of [undefined, member]) {
    const [head, get] = [
      await world.call('HEAD', '/groups?page=2', { as }),
      await world.get('/groups?page=2', as),
    ]
    assert.deepEqual([head.status, head.text, pageHeaders(head)['x-total']], [200, '', '25'])
    const { 'x-request-id': _id, ...told } = pageHeaders(head)
    const { 'x-request-id': _other, ...expected } = pageHeaders(get)
    assert.deepEqual(told, expected)
  }
})

test('links keep the other parameters, in alphabetical order, and leave a token out', async () => {
  const path = `/groups?sort=desc&per_page=10&private_token=${member.token}&page=2&order_by=path&search=page-`
  const rest = 'order_by=path'
  const at = (page: number): string => `${URL}?${rest}&page=${page}&per_page=10&search=page-&sort=desc`
  assert.deepEqual(await list(path), {
    paths: numbered(15, 25).toReversed(),
    headers: {
      link: `<${at(1)}>; rel="prev", <${at(3)}>; rel="next", <${at(1)}>; rel="first", <${at(3)}>; rel="last"`,
      'x-page': '2',
      'x-per-page': '10',
      'x-next-page': '3',
      'x-prev-page': '1',
      'x-total': '25',
      'x-total-pages': '3',
    },
  })
})

test('the last page names no next one, and pages past it are empty', async () => {
  const last = await list('/groups?per_page=20&page=2')
  assert.deepEqual(last.paths, numbered(30, 35))
  assert.equal(last.headers['x-next-page'], '')
  assert.equal(last.headers['x-prev-page'], '1')
  const past = await list('/groups?per_page=20&page=9')
  assert.deepEqual(past.paths, [])
  assert.equal(past.headers['x-page'], '9')
  assert.equal(past.headers['x-next-page'], '')
  assert.equal(past.headers['x-total'], '25')
  assert.equal(past.headers['x-total-pages'], '2')
})

test('an empty list has one page', async () => {
  const { paths, headers } = await list('/groups?search=nothing-like-it')
  assert.deepEqual(paths, [])
  assert.equal(headers['x-total'], '0')
  assert.equal(headers['x-total-pages'], '1')
  const at = `${URL}?page=1&per_page=20&search=nothing-like-it`
  assert.equal(headers['link'], `<${at}>; rel="first", <${at}>; rel="last"`)
})

test('pages and sizes out of range are brought into it', async () => {
  assert.equal((await list('/groups?per_page=101')).headers['x-per-page'], '100')
  assert.equal((await list('/groups?per_page=-1')).headers['x-per-page'], '20')
  assert.equal((await list('/groups?page=0')).headers['x-page'], '1')
  assert.equal((await list('/groups?page=-3')).headers['x-page'], '1')
})

test('without a token, offsets past 50,000 are refused', async () => {
  for (const query of ['page=3000&per_page=25', 'page=2501', 'page=501&per_page=100', 'page=999999999999']) {
    const answer = await world.get(`/groups?${query}`)
    assert.equal(answer.status, 405, query)
    assert.deepEqual(answer.body, {
      error:
        'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Group. ' +
        'Remaining records can be retrieved using keyset pagination.',
    })
  }
  assert.deepEqual((await list('/groups?page=2500')).paths, [])
  assert.deepEqual((await list('/groups?page=500&per_page=100')).paths, [])
})

test('with a token, no offset is too far', async () => {
  assert.deepEqual((await list('/groups?page=3000&per_page=25', member)).paths, [])
})

const nextOf = (headers: Record<string, unknown>): string | undefined =>
  /^<https:\/\/guild\.example\/api\/v4(.*)>; rel="next"$/.exec(String(headers['link']))?.[1]

test('without a token, keyset pages lead through all public groups once and carry no totals', async () => {
  const seen: unknown[] = []
  let pages = 0
  for (let next: string | undefined = '/groups?pagination=keyset&per_page=10'; next !== undefined; pages++) {
    const { paths, headers } = await list(next)
    assert.deepEqual(Object.keys(headers), paths.length === 10 ? ['link'] : [])
    seen.push(...paths)
    next = nextOf(headers)
  }
  assert.deepEqual(seen, numbered(10, 35))
  assert.equal(pages, 3)
})

test('the link to the next keyset page keeps the request and carries a cursor, the last has none', async () => {
  const first = await list('/groups?sort=asc&order_by=name&pagination=keyset&per_page=5&search=page-3')
  assert.deepEqual(first.paths, numbered(30, 35))
  assert.deepEqual(first.headers, {})
  const cut = await list('/groups?sort=asc&order_by=name&pagination=keyset&per_page=4&search=page-3')
  assert.match(
    String(cut.headers['link']),
    /^<https:\/\/guild\.example\/api\/v4\/groups\?cursor=[\w-]+&order_by=name&pagination=keyset&per_page=4&search=page-3&sort=asc>; rel="next"$/,
  )
  const rest = await list(nextOf(cut.headers) ?? '')
  assert.deepEqual(rest, { paths: ['page-34'], headers: {} })
})

test('keyset pages of groups with one name lose none and repeat none', async () => {
  for (let i = 0; i < 5; i++)
    await world.make.group({ name: "Zwilling 'ß' \\", path: `zwilling-${i}`, visibility: 'public' })
  const seen: unknown[] = []
  let next: string | undefined = '/groups?pagination=keyset&per_page=2&search=zwilling'
  while (next !== undefined) {
    const { paths, headers } = await list(next)
    seen.push(...paths)
    next = nextOf(headers)
  }
  assert.deepEqual(seen, ['zwilling-0', 'zwilling-1', 'zwilling-2', 'zwilling-3', 'zwilling-4'])
  await world.make.sql(`delete from namespaces where path like 'zwilling-%'`)
})

test('a group made behind the cursor shows up, one made before it does not', async () => {
  const first = await list('/groups?pagination=keyset&per_page=20')
  await world.make.group({ path: 'page-10-late', visibility: 'public' })
  await world.make.group({ path: 'page-34-late', visibility: 'public' })
  const rest = await list(nextOf(first.headers) ?? '')
  assert.deepEqual(rest.paths, [...numbered(30, 35), 'page-34-late'])
  await world.make.sql(`delete from namespaces where path like 'page-%-late'`)
})

test('keyset pages are for the order of names only', async () => {
  for (const order of [
    'order_by=path',
    'order_by=id',
    'order_by=similarity',
    'sort=desc',
    'order_by=name&sort=desc',
  ]) {
    const answer = await world.get(`/groups?pagination=keyset&${order}`)
    assert.equal(answer.status, 405, order)
    assert.deepEqual(answer.body, NOT_YET)
  }
})

test('a cursor that is none is refused', async () => {
  for (const cursor of [
    'x',
    Buffer.from('{"name":1,"id":"2"}').toString('base64url'),
    Buffer.from('null').toString('base64url'),
  ]) {
    const answer = await world.get(`/groups?pagination=keyset&cursor=${cursor}`)
    assert.equal(answer.status, 400, cursor)
    assert.deepEqual(answer.body, { error: 'cursor is invalid' })
  }
})

test('the wish for keyset pages has no effect with a token', async () => {
  const { paths, headers } = await list(
    '/groups?pagination=keyset&order_by=path&sort=desc&per_page=2',
    member,
  )
  assert.deepEqual(paths, ['page-34', 'page-33'])
  assert.equal(headers['x-total'], '25')
  assert.equal(headers['x-next-page'], '2')
})

test('totals are counted up to ten thousand groups and left out past that', async () => {
  const fill = (count: number, word: string): Promise<void> =>
    world.make.sql(`
      insert into namespaces (id, kind, name, path, full_name, full_path, traversal_ids, visibility)
      overriding system value
      select id, 'group', w, w, w, w, array[id], 'public' from (
        select 1000000 + i + ${word.length} * 100000 as id, '${word}-' || i as w from generate_series(1, ${count}) i) f`)
  await fill(10_000, 'many')
  const whole = await list('/groups?search=many-&per_page=100')
  assert.equal(whole.headers['x-total'], '10000')
  assert.equal(whole.headers['x-total-pages'], '100')
  await fill(1, 'many-more')
  const cut = await list('/groups?search=many-&per_page=100&page=2')
  const at = (page: number): string => `${URL}?page=${page}&per_page=100&search=many-`
  assert.deepEqual(cut.headers, {
    link: `<${at(1)}>; rel="prev", <${at(3)}>; rel="next", <${at(1)}>; rel="first"`,
    'x-page': '2',
    'x-per-page': '100',
    'x-next-page': '3',
    'x-prev-page': '1',
  })
})
