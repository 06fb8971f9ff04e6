import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Repeated, nest, parseForm } from './forms.ts'
import { Problem } from '../problems.ts'

const plain = (text: string): unknown => JSON.parse(JSON.stringify(parseForm(text)))
const refusal = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return [error.status, error.body]
    throw error
  }
  return 'none'
}

suite('form fields become parameters', () => {
  for (const [text, tree] of [
    ['', {}],
    ['&&', {}],
    ['a=1', { a: '1' }],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['=1', { '': '1' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=x+y%2Bz', { a: 'x y+z' }],
    ['%61%5B%5D=1', { a: ['1'] }],
    ['a=%E2%82%AC', { a: '€' }],
    // Lists.
    ['a[]=1', { a: ['1'] }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[0]=1&a[1]=2', { a: ['1', '2'] }],
    ['a[1]=2&a[0]=1', { a: ['1', '2'] }],
    ['a[0]=1&a[2]=2', { a: { 0: '1', 2: '2' } }],
    ['a[99999999]=1', { a: { 99999999: '1' } }],
    ['a[-1]=1', { a: { '-1': '1' } }],
    ['a[00]=1', { a: { '00': '1' } }],
    ['a[][]=1', { a: [['1']] }],
    // Trees.
    ['a[b]=1', { a: { b: '1' } }],
    ['a[b][c]=1&a[b][d]=2', { a: { b: { c: '1', d: '2' } } }],
    ['a[b][]=1&a[b][]=2', { a: { b: ['1', '2'] } }],
    ['a[A]=1&a[B]=2', { a: { A: '1', B: '2' } }],
    // Lists of trees: an element ends where its field comes again.
    ['a[][x]=1&a[][y]=2&a[][x]=3', { a: [{ x: '1', y: '2' }, { x: '3' }] }],
    ['a[][x][y]=1&a[][x][z]=2&a[][x][y]=3', { a: [{ x: { y: '1', z: '2' } }, { x: { y: '3' } }] }],
    ['a[][x][]=1&a[][x][]=2', { a: [{ x: ['1', '2'] }] }],
    ['a[0][x]=1&a[0][y]=2&a[1][x]=3', { a: [{ x: '1', y: '2' }, { x: '3' }] }],
    // Repetition, and kinds that do not agree: the last one rules.
    ['a=1&a=2', { a: ['1', '2'] }],
    ['a=1&a=2&a=3&a=4', { a: ['1', '2', '3', '4'] }],
    ['a[]=1&a=2', { a: ['1', '2'] }],
    ['a=1&a[]=2', { a: ['2'] }],
    ['a=1&a[b]=2', { a: { b: '2' } }],
    ['a[b]=1&a=2', { a: [{ b: '1' }, '2'] }],
    ['a[b]=1&a[]=2', { a: ['2'] }],
    // Names that only look nested.
    ['a[b=1', { 'a[b': '1' }],
    ['a]b=1', { 'a]b': '1' }],
    ['[a]=1', { '[a]': '1' }],
    ['a[b]c=1', { 'a[b]c': '1' }],
  ] as const)
    test(`\`${text}\``, () => assert.deepEqual(plain(text), tree))

  test('a repeated parameter differs from a list', () => {
    assert.ok(parseForm('a=1&a=2&a=3')['a'] instanceof Repeated)
    assert.ok(!(parseForm('a[]=1&a[]=2')['a'] instanceof Repeated))
  })
  test('names of Object.prototype are plain names', () => {
    const tree = parseForm('__proto__[x]=1&constructor[prototype][x]=2&a[__proto__][x]=3&hasOwnProperty=4')
    assert.equal(Object.getPrototypeOf(tree), null)
    assert.deepEqual(Object.keys(tree), ['__proto__', 'constructor', 'a', 'hasOwnProperty'])
    assert.equal(Reflect.has({}, 'x'), false)
  })
})

suite('forms that are refused', () => {
  for (const text of ['a=%', 'a=%zz', 'a=%ff', '%c3%28=1', 'a=%ed%a0%80'])
    test(`\`${text}\` is no UTF-8`, () =>
      assert.deepEqual(
        refusal(() => parseForm(text)),
        [400, { error: 'the request address is not valid' }],
      ))
  test('32 levels are read, 33 are not', () => {
    assert.equal(
      refusal(() => parseForm(`a${'[b]'.repeat(31)}=1`)),
      'none',
    )
    const text = 'message body exceeds the limit: 32 levels'
    assert.deepEqual(
      refusal(() => parseForm(`a${'[b]'.repeat(32)}=1`)),
      [400, { error: text }],
    )
  })
  test('50,000 parameters are read, 50,001 are not', () => {
    const pairs = Array.from({ length: 50_000 }, () => ['a[]', '1'])
    assert.equal((nest(pairs)['a'] as string[]).length, 50_000)
    const text = 'message body exceeds the limit: 50000 parameters'
    assert.deepEqual(
      refusal(() => nest([...pairs, ['b', '2']])),
      [400, { error: text }],
    )
    assert.deepEqual(
      refusal(() => parseForm('&'.repeat(7_000_000))),
      [400, { error: text }],
    )
  })
})
