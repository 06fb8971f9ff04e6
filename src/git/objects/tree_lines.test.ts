import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GitError } from '../errors.ts'
import { parseTree, treeBytes, type TreeLine } from './tree_lines.ts'

const ENTRIES = 200_000
const id = '0123456789abcdef0123456789abcdef01234567'
const lines = Array.from({ length: ENTRIES }, (_, at): TreeLine => ({
  mode: '100644',
  key: `${1e6 + at}`,
  id,
}))

void test('a tree of 200,000 entries lets the event loop turn while it is parsed', async () => {
  let turns = 0
  let isParsed = false
  const turn = (): void => {
    turns += 1
    if (!isParsed) setImmediate(turn)
  }
  setImmediate(turn)
  const parsed = await parseTree(treeBytes(lines))
  isParsed = true
  assert.equal(parsed.length, ENTRIES)
  assert.ok(turns >= 5, `${turns} turns`)
})

void test('the bytes of a tree may be overwritten once its parsing has begun', async () => {
  for (const count of [3, ENTRIES]) {
    const bytes = treeBytes(lines.slice(0, count))
    const parsing = parseTree(bytes)
    bytes.fill(0)
    assert.deepEqual((await parsing).at(-1), lines[count - 1])
  }
})

void test('bytes that are no tree are refused', async () => {
  await assert.rejects(parseTree(Buffer.from('100644 a\0short')), GitError)
  await assert.rejects(parseTree(Buffer.alloc(100_000, 97)), GitError)
})
