import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATES, stepFault, textFaults, type State } from './rules.ts'

test('a status moves on from pending and from running, and never back or in place', () => {
  const open: [State, State][] = [
    ['pending', 'running'],
    ['pending', 'success'],
    ['pending', 'failed'],
    ['pending', 'canceled'],
    ['pending', 'skipped'],
    ['running', 'success'],
    ['running', 'failed'],
    ['running', 'canceled'],
  ]
  for (const from of STATES)
    for (const to of STATES)
      assert.equal(
        stepFault(from, to) === undefined,
        open.some(([a, b]) => a === from && b === to),
        `${from} ${to}`,
      )
  assert.equal(
    stepFault('running', 'pending'),
    'Cannot transition status via :enqueue from :running (Reason(s): Status cannot transition via "enqueue")',
  )
  assert.match(stepFault('running', 'skipped') ?? '', /via :skip from :running/)
  assert.match(stepFault('success', 'failed') ?? '', /via :drop from :success/)
})

test('texts have a length, and a link leads to the web', () => {
  const long = 'x'.repeat(256)
  const tooLong = 'is too long (maximum is 255 characters)'
  const texts = { name: 'n', target_url: undefined, description: undefined }
  assert.deepEqual(textFaults(texts), {})
  assert.deepEqual(textFaults({ name: long, target_url: `http://x/${long}`, description: long }), {
    name: [tooLong],
    target_url: [tooLong],
    description: [tooLong],
  })
  for (const url of ['javascript:alert(1)', 'ftp://x/', 'x', '//x', 'http:///x'])
    assert.deepEqual(textFaults({ ...texts, target_url: url }), {
      target_url: ['is blocked: Only allowed schemes are http, https'],
    })
  for (const url of ['http://ci.example/1', 'HTTPS://x', ''])
    assert.deepEqual(textFaults({ ...texts, target_url: url }), {})
})
