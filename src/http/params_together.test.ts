import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Type as t, type TObject } from 'typebox'
import { parseForm, type Tree } from './params/forms.ts'
import { compileReader } from './params/params.ts'
import { Problem } from './problems.ts'
import { date, oneOf } from './params/schema.ts'

function read(schema: TObject, sent: string | object): unknown {
  try {
    return compileReader(schema)(typeof sent === 'string' ? parseForm(sent) : (sent as Tree))
  } catch (error) {
    if (error instanceof Problem && error.status === 400) return error.body['error']
    throw error
  }
}

suite('many parameters', () => {
  const schema = t.Object({
    name: t.String(),
    size: t.Optional(t.Integer()),
    order: t.Optional(oneOf(['a', 'b'], { default: 'a' })),
    on: t.Boolean(),
  })
  test('declared parameters are read, others are dropped', () => {
    const sent = 'name=x&size=3&on=1&admin=true&__proto__[y]=1&toString=1'
    assert.deepEqual(read(schema, sent), { name: 'x', size: 3, order: 'a', on: true })
  })
  test('every fault is named, in the order of declaration', () => {
    assert.equal(
      read(schema, 'on=x&order=c&size=y'),
      'name is missing, size is invalid, order does not have a valid value, on is invalid',
    )
  })
  test('an empty text is no number and no day: the default or nothing takes its place', () => {
    assert.deepEqual(read(schema, 'name=&size=&on=0'), { name: '', order: 'a', on: false })
    const page = t.Object({ page: t.Optional(t.Integer({ default: 1 })), day: t.Optional(date()) })
    assert.deepEqual(read(page, 'page=&day='), { page: 1 })
    assert.deepEqual(read(page, { page: null, day: null }), { page: 1 })
  })
  test('of what was repeated the last counts, or all for a list', () => {
    assert.deepEqual(read(t.Object({ x: t.String(), y: t.Array(t.String()) }), 'x=1&x=2&y=1&y=2'), {
      x: '2',
      y: ['1', '2'],
    })
  })
  test('inherited names are not parameters', () => {
    const names = t.Object({ toString: t.Optional(t.String()), constructor: t.Optional(t.String()) })
    assert.deepEqual(read(names, {}), {})
  })

  test('at least one of several', () => {
    const some = t.Object(
      { a: t.Optional(t.String()), b: t.Optional(t.String()) },
      { atLeastOne: ['a', 'b'] },
    )
    assert.equal(read(some, ''), 'a, b are missing, at least one parameter must be provided')
    assert.deepEqual(read(some, 'a='), { a: '' })
  })
  test('exactly one of several', () => {
    const some = t.Object(
      { a: t.Optional(t.String()), b: t.Optional(t.String()) },
      { exactlyOne: ['a', 'b'] },
    )
    assert.equal(read(some, ''), 'a, b are missing, exactly one parameter must be provided')
    assert.equal(read(some, 'a=1&b=2'), 'a, b are mutually exclusive')
    assert.deepEqual(read(some, 'b=2'), { b: '2' })
  })

  const nested = t.Object({
    actions: t.Array(t.Object({ action: oneOf(['create', 'delete']), path: t.String() })),
    range: t.Optional(t.Object({ from: t.Integer(), to: t.Integer() })),
  })
  test('trees inside lists are read by their declaration', () => {
    const sent =
      'actions[][action]=create&actions[][path]=a&actions[][x]=1&actions[][action]=delete&actions[][path]=b&range[from]=1&range[to]=2'
    assert.deepEqual(read(nested, sent), {
      actions: [
        { action: 'create', path: 'a' },
        { action: 'delete', path: 'b' },
      ],
      range: { from: 1, to: 2 },
    })
  })
  test('faults inside say where', () => {
    assert.equal(
      read(nested, { actions: [{ action: 'create', path: 'a' }, { action: 'x' }, 7], range: { from: 'y' } }),
      'actions[1][action] does not have a valid value, actions[1][path] is missing, actions[2] is invalid, ' +
        'range[from] is invalid, range[to] is missing',
    )
    assert.equal(read(nested, 'actions[99999999][action]=create'), 'actions is invalid')
    assert.equal(read(nested, 'actions[a][b]=1'), 'actions is invalid')
  })
})
