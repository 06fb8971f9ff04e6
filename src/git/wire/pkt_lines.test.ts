import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { dice } from '../../../test/support/git_fixtures.ts'
import { isGitError } from '../errors.ts'
import { FLUSH, PktReader, pktLine } from './pkt_lines.ts'

const LINES = ['first\n', 'x'.repeat(5_000), 'ümläut', '']
const SECTION = Buffer.concat([...LINES.map((line) => pktLine(line)), FLUSH])
const REST = Buffer.from('PACK and all that follows, '.repeat(2_000))

async function readSection(reader: PktReader): Promise<string[]> {
  const lines: string[] = []
  for (let line = await reader.line(); line !== undefined; line = await reader.line())
    lines.push(line.toString())
  return lines
}

test('lines are read and the rest is passed on, wherever the stream is cut', async () => {
  const roll = dice(7)
  const whole = Buffer.concat([SECTION, REST])
  for (let round = 0; round < 60; round += 1) {
    const chunks: Buffer[] = []
    for (let at = 0; at < whole.length;) {
      const size = 1 + roll([3, 40, 20_000][round % 3] ?? 1)
      chunks.push(whole.subarray(at, at + size))
      at += size
    }
    const reader = new PktReader(Readable.from(chunks, { objectMode: false }), 100_000)
    assert.deepEqual(await readSection(reader), ['first', 'x'.repeat(5_000), 'ümläut', ''])
    assert.equal((await reader.peek(4)).toString(), 'PACK')
    assert.deepEqual(await buffer(reader.rest()), REST)
  }
})

test('a stream that was read to its end has a rest all the same', async () => {
  for (const rest of ['', 'PACK']) {
    const stream = new PassThrough()
    stream.end(Buffer.concat([SECTION, Buffer.from(rest)]))
    const reader = new PktReader(stream, 100_000)
    await readSection(reader)
    assert.equal((await reader.peek(12)).toString(), rest)
    assert.equal((await buffer(reader.rest())).toString(), rest)
  }
})

test('malformed, truncated and oversized lines are refused', async () => {
  const rows: [string | Buffer, number, string][] = [
    ['zzzz', 100, 'refused'],
    ['0002', 100, 'refused'],
    ['00', 100, 'aborted'],
    ['0010abc', 100, 'aborted'],
    [pktLine('x'.repeat(97)), 100, 'too_large'],
  ]
  for (const [text, limit, fault] of rows) {
    const stream = new PassThrough()
    stream.end(text)
    const reader = new PktReader(stream, limit)
    await assert.rejects(reader.line(), (error) => isGitError(error) && error.fault === fault, String(text))
  }
  const broken = new PassThrough()
  const reading = new PktReader(broken, 100).line()
  broken.destroy(new Error('gone'))
  await assert.rejects(reading, (error) => isGitError(error, 'aborted'))
})

test('a line holds no more than git reads', () => {
  assert.equal(pktLine('x'.repeat(65_516)).toString('latin1', 0, 4), 'fff0')
  assert.throws(() => pktLine('x'.repeat(65_517)), RangeError)
})
