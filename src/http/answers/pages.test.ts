import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PageRequest } from '../operation.ts'
import { pageHeaders, pageParams, readPage } from './pages.ts'
import { compileReader } from '../params/params.ts'
import { parseForm } from '../params/forms.ts'
import { Problem } from '../problems.ts'

const ask = (query: string, { strict = false, keyset = false } = {}): unknown => {
  try {
    return readPage(compileReader(pageParams(strict))(parseForm(query)), { keyset })
  } catch (error) {
    if (error instanceof Problem) return [error.status, error.body['error']]
    throw error
  }
}

suite('which page is asked for', () => {
  const page = (number: number, limit: number): PageRequest => ({
    number,
    limit,
    offset: (number - 1) * limit,
    cursor: undefined,
  })
  for (const [query, expected] of [
    ['', page(1, 20)],
    ['page=3', page(3, 20)],
    ['page=3&per_page=7', page(3, 7)],
    ['per_page=100', page(1, 100)],
    ['per_page=101', page(1, 100)],
    ['per_page=9007199254740991', page(1, 100)],
    ['per_page=-1', page(1, 20)],
    ['page=0', page(1, 20)],
    ['page=-9', page(1, 20)],
    ['page=&per_page=', page(1, 20)],
    ['page=9007199254740991', page(90_071_992_547_409, 20)],
    ['per_page=0', [400, 'per_page has a value not allowed']],
    ['page=a&per_page=1e9', [400, 'page is invalid, per_page is invalid']],
    ['pagination=else', [400, 'pagination does not have a valid value']],
    ['pagination=keyset', [405, 'Keyset pagination is not yet available for this type of request']],
    ['pagination=none&cursor=x', page(1, 20)],
  ] as const)
    test(`\`${query}\``, () => assert.deepEqual(ask(query), expected))

  test('no offset leaves what a number can hold exactly', () => {
    const { offset } = ask('page=9007199254740991&per_page=100') as PageRequest
    assert.ok(Number.isSafeInteger(offset))
  })
  test('strict lists refuse what others bring into range', () => {
    assert.deepEqual(ask('page=0', { strict: true }), [400, 'page does not have a valid value'])
    assert.deepEqual(ask('per_page=0', { strict: true }), [400, 'per_page does not have a valid value'])
    assert.deepEqual(ask('page=-1&per_page=-1', { strict: true }), [
      400,
      'page does not have a valid value, per_page does not have a valid value',
    ])
    assert.deepEqual(ask('per_page=101', { strict: true }), page(1, 100))
  })
  test('keyset lists take a cursor, the empty one for the first page', () => {
    const cursor = (query: string): unknown => (ask(query, { keyset: true }) as PageRequest).cursor
    assert.equal(cursor('pagination=keyset'), '')
    assert.equal(cursor('pagination=keyset&cursor=abc'), 'abc')
    assert.equal(cursor('cursor=abc'), undefined)
    const long = `pagination=keyset&cursor=${'a'.repeat(2_001)}`
    const text = 'cursor is expected to have length less than or equal to 2000'
    assert.deepEqual(ask(long, { keyset: true }), [400, text])
  })
})

suite('what the headers of a page say', () => {
  const place = (query: string): Parameters<typeof pageHeaders>[0] => ({
    address: 'https://x.test/list',
    query,
    declared: new Set([...new URLSearchParams(query).keys()].map((name) => name.split('[')[0] ?? name)),
  })
  const headers = (query: string, total: number | undefined, count = 20): Record<string, string> => {
    const page = ask(query) as PageRequest
    return pageHeaders(place(query), page, { items: Array.from({ length: count }), total })
  }
  const rels = (query: string, total: number | undefined, count?: number): string[] =>
    (headers(query, total, count)['link'] ?? '').split(', ')
  const to = (page: number, rel: string, limit = 20): string =>
    `<https://x.test/list?page=${page}&per_page=${limit}>; rel="${rel}"`

  test('a page in the middle names all its neighbours, in the published order', () => {
    assert.deepEqual(headers('page=2', 60), {
      link: [to(1, 'prev'), to(3, 'next'), to(1, 'first'), to(3, 'last')].join(', '),
      'x-page': '2',
      'x-per-page': '20',
      'x-next-page': '3',
      'x-prev-page': '1',
      'x-total': '60',
      'x-total-pages': '3',
    })
  })
  test('an empty list has one page', () => {
    assert.deepEqual(headers('', 0, 0), {
      link: [to(1, 'first'), to(1, 'last')].join(', '),
      'x-page': '1',
      'x-per-page': '20',
      'x-next-page': '',
      'x-prev-page': '',
      'x-total': '0',
      'x-total-pages': '1',
    })
  })
  test('past 10,000 records nothing tells how many there are', () => {
    assert.equal(headers('', 10_000)['x-total'], '10000')
    const more = headers('', 10_001)
    assert.deepEqual(
      [more['x-total'], more['x-total-pages'], more['x-next-page']],
      [undefined, undefined, '2'],
    )
    assert.deepEqual(rels('', 10_001), [to(2, 'next'), to(1, 'first')])
  })
  test('the last page has no next', () => {
    assert.deepEqual(rels('page=3', 60), [to(2, 'prev'), to(1, 'first'), to(3, 'last')])
    assert.equal(headers('page=3', 60)['x-next-page'], '')
  })
  test('a page past the end leads back', () => {
    assert.deepEqual(rels('page=9', 60, 0), [to(8, 'prev'), to(1, 'first'), to(3, 'last')])
  })
  test('without a total there are neither totals nor a last page, and a full page has a next', () => {
    const { link: _link, ...rest } = headers('', undefined)
    assert.deepEqual(rest, { 'x-page': '1', 'x-per-page': '20', 'x-next-page': '2', 'x-prev-page': '' })
    assert.deepEqual(rels('', undefined), [to(2, 'next'), to(1, 'first')])
    assert.deepEqual(rels('', undefined, 19), [to(1, 'first')])
  })
  test('links keep the other parameters, in the order of the alphabet and encoded', () => {
    const query = 'z=1&per_page=5&a[]=x%20y&a[]=%0d%0a&m=%3E%2C%22&page=1'
    assert.equal(
      rels(query, 5)[0],
      '<https://x.test/list?a%5B%5D=x%20y&a%5B%5D=%0D%0A&m=%3E%2C%22&page=1&per_page=5&z=1>; rel="first"',
    )
  })
  test('links drop whatever says who is asking', () => {
    const query = 'private_token=a&access_token=b&job_token=c&sudo=d&private%5Ftoken=e&x=1'
    assert.equal(rels(query, 1)[0], '<https://x.test/list?page=1&per_page=20&x=1>; rel="first"')
  })
  test('links repeat declared parameters only', () => {
    const query = `search=x&junk=${'j'.repeat(11_000)}&junk[a]=1`
    const headers = pageHeaders(
      { address: 'https://x.test/list', query, declared: new Set(['search']) },
      { number: 2, limit: 20, offset: 20, cursor: undefined },
      { items: [], total: 100 },
    )
    assert.equal(headers['link']?.includes('junk'), false)
    assert.equal(headers['link']?.match(/search=x/g)?.length, 4)
  })
  test('links that fill the headers are left out, that to the next page last', () => {
    const rels = (length: number): number =>
      (headers(`search=${'x'.repeat(length)}`, 100)['link'] ?? '').split('rel=').length - 1
    assert.deepEqual([rels(1_000), rels(4_000), rels(7_000)], [3, 1, 0])
  })
  test('a keyset page has a link to the next one only', () => {
    const page = { number: 1, limit: 5, offset: 0, cursor: '' }
    const query = 'pagination=keyset&cursor=old&per_page=5&search=x'
    assert.deepEqual(pageHeaders(place(query), page, { items: [], next: undefined }), {})
    assert.deepEqual(pageHeaders(place(query), page, { items: [], next: 'a=b' }), {
      link: '<https://x.test/list?cursor=a%3Db&pagination=keyset&per_page=5&search=x>; rel="next"',
    })
  })
})
