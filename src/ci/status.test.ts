import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusSet, type Status } from './status.ts'

/** `success failed?` is a success and an allowed failure. */
const of = (text: string): StatusSet =>
  new StatusSet(
    text
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => ({ status: word.replace('?', '') as Status, allow_failure: word.endsWith('?') })),
  )

test('the composite status is the first published rule that fits', () => {
  const rows: [string, Status | undefined][] = [
    ['', undefined],
    ['skipped skipped', 'skipped'],
    ['skipped manual?', 'skipped'],
    ['success skipped', 'success'],
    ['success failed?', 'success'],
    ['success canceled?', 'success'],
    ['failed?', 'success'],
    ['created manual?', 'created'],
    ['preparing', 'preparing'],
    ['canceled success skipped', 'canceled'],
    ['pending created skipped', 'pending'],
    ['pending success', 'running'],
    ['running failed', 'running'],
    ['waiting_for_resource success', 'waiting_for_resource'],
    ['waiting_for_callback success', 'waiting_for_callback'],
    ['manual success created', 'manual'],
    ['scheduled success', 'scheduled'],
    ['success created', 'running'],
    ['canceling success', 'canceling'],
    ['failed success', 'failed'],
    ['failed canceled', 'failed'],
    ['failed skipped', 'failed'],
  ]
  assert.deepEqual(
    rows.map(([text]) => [text, of(text).composite()]),
    rows,
  )
})

test('a skipped need decides alone for a job with needs', () => {
  assert.equal(of('skipped success').composite(true), 'skipped')
  assert.equal(of('manual? success').composite(true), 'skipped')
  assert.equal(of('failed? success').composite(true), 'success')
  assert.equal(of('failed running').composite(true), 'running')
})
