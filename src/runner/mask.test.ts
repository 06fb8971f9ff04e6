import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMask } from './mask.ts'

const SECRETS = ['hunter22', 'hunter22-and-more', 'line one\nline two']
const TEXT = 'a hunter22 b hunter22-and-more c glpat-abc_123 d line two e glpat- hunt'
const SHOWN = 'a [MASKED] b [MASKED] c [MASKED] d [MASKED] e glpat- hunt'

const maskIn = (text: string, size: number): string => {
  const mask = createMask(SECRETS, ['glpat-'])
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) parts.push(mask.push(bytes.subarray(at, at + size)))
  return Buffer.concat([...parts, mask.end()]).toString()
}

test('secrets are masked wherever the log is cut', () => {
  for (let size = 1; size <= TEXT.length; size += 1) assert.equal(maskIn(TEXT, size), SHOWN, String(size))
})

test('values of fewer than four bytes are not masked', () => {
  const mask = createMask(['abc'], [])
  assert.equal(Buffer.concat([mask.push(Buffer.from('xabcx')), mask.end()]).toString(), 'xabcx')
})

test('a token without an end is not held back for ever', () => {
  const mask = createMask([], ['glpat-'])
  const shown = mask.push(Buffer.from(`glpat-${'a'.repeat(10_000)}`))
  assert.ok(shown.toString().startsWith('[MASKED]'))
})
