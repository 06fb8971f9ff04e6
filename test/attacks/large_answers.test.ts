import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Someone } from '../support/makers.ts'
import { openWorld, type World } from '../support/world.ts'

// Answers that are large by what stands in the rows, and clients that do not read them.

const MB = 1024 * 1024
const STALL_MS = 1_000
const ROWS = 40

let world: World
let port: number
let member: Someone
let discussions: string
let path: string
let small: string
before(async () => {
  world = await openWorld({ server: { stallMs: STALL_MS } })
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  const address = world.app.server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
  const project = await world.make.project({ visibility: 'public' })
  member = await world.make.memberOf('owner', { project })
  // A million signs that JSON writes with six each.
  await world.make.sql(`
    insert into issues (iid, project_id, author_id, title, description)
    select n, ${project.id}, ${member.id}, 'Issue ' || n, repeat(chr(1), 1000000) from generate_series(1, ${ROWS}) n`)
  await world.make.sql(`
    with thread as (
      insert into discussions (key, noteable_id, individual_note)
      select repeat('a', 40), id, false from issues where project_id = ${project.id} and iid = 1 returning *)
    insert into notes (discussion_id, noteable_id, author_id, type, body)
    select t.id, t.noteable_id, ${member.id}, 'DiscussionNote', repeat(chr(1), 1000000)
      from thread t, generate_series(1, 90)`)
  discussions = `/api/v4/projects/${project.id}/issues/1/discussions`
  path = `/api/v4/projects/${project.id}/issues?per_page=100`
  small = `/api/v4/projects/${project.id}/issues/1`
})
after(() => world.close())

const open = (path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get({ port, path, headers: { 'private-token': member.token }, agent: false }, resolve).once(
      'error',
      reject,
    )
  })

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    world.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

/** The most bytes in buffers while `work` ran, beyond those before it. */
async function buffered(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers
  let peak = 0
  const clock = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before)
  }, 2)
  await work()
  clearInterval(clock)
  return peak
}

test('a page of 240 MB is written row by row, and never stands in memory', async () => {
  let bytes = 0
  let turns = 0
  const peak = await buffered(async () => {
    const answer = await open(path)
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['x-total'], String(ROWS))
    const count = (): void => {
      turns += 1
      clock = setImmediate(count)
    }
    let clock = setImmediate(count)
    for await (const chunk of answer) bytes += (chunk as Buffer).length
    clearImmediate(clock)
  })
  // The event loop turns between the chunks of 64 KiB.
  assert.ok(turns > bytes / (128 * 1024), `${turns} turns`)
  assert.ok(bytes > ROWS * 6_000_000, String(bytes))
  assert.ok(peak < 120 * MB, `${Math.round(peak / MB)} MB stood in buffers`)
})

test('a large page is the same JSON as a small one', async () => {
  const answer = await open(path)
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const rows = JSON.parse(Buffer.concat(chunks).toString()) as { iid: number; description: string }[]
  assert.deepEqual(
    rows.map(({ iid }) => iid).toSorted((a, b) => a - b),
    Array.from({ length: ROWS }, (_, index) => index + 1),
  )
  assert.ok(rows.every(({ description }) => description.length === 1_000_000))
})

test('a thread whose JSON is longer than a text may be is written note by note', async () => {
  for (const address of [discussions, `${discussions}/${'a'.repeat(40)}`]) {
    let bytes = 0
    const peak = await buffered(async () => {
      const answer = await open(address)
      assert.equal(answer.statusCode, 200)
      for await (const chunk of answer) {
        bytes += (chunk as Buffer).length
        if (bytes > 20 * MB) break
      }
    })
    assert.ok(bytes > 20 * MB, String(bytes))
    assert.ok(peak < 120 * MB, `${Math.round(peak / MB)} MB stood in buffers`)
  }
})

test('large answers under way hold 192 million characters together', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heldNow = (): number => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = heldNow()
  const answers = await Promise.all(Array.from({ length: 12 }, () => open(path)))
  for (const answer of answers) answer.on('error', () => undefined).pause()
  const held = heldNow() - before
  const refused = answers.filter(({ statusCode }) => statusCode === 503)
  assert.ok(refused.every(({ headers }) => headers['retry-after'] === '1'))
  const served = answers.filter(({ statusCode }) => statusCode === 200)
  assert.equal(served.length + refused.length, 12)
  assert.ok(served.length > 0, 'none served')
  assert.ok(served.length <= Math.floor((192 * MB) / (ROWS * 1_000_000)), `${served.length} served`)
  assert.ok(held < 300 * MB, `${Math.round(held / MB)} MB held`)
  for (const answer of answers) answer.destroy()
  await sleep(100)
  const again = await open(path)
  assert.equal(again.statusCode, 200)
  again.destroy()
})

test('a client that does not read its answer is given up', async () => {
  const answers = await Promise.all(Array.from({ length: 2 }, () => open(path)))
  assert.ok(answers.every(({ statusCode }) => statusCode === 200))
  for (const answer of answers) answer.pause()
  const closed = answers.map((answer) => {
    answer.on('error', () => undefined)
    return new Promise<void>((resolve) => void answer.once('close', resolve))
  })
  await sleep(STALL_MS * 2)
  assert.equal(await connections(), 0)
  for (const answer of answers) answer.resume()
  await Promise.all(closed)
  assert.ok(answers.every(({ complete }) => !complete))
})

test('a page of less than 4 MB is not kept for a client that does not read it either', async () => {
  const answers = await Promise.all(Array.from({ length: 4 }, () => open(small)))
  for (const answer of answers) answer.on('error', () => undefined).pause()
  await sleep(STALL_MS * 3)
  assert.equal(await connections(), 0)
  for (const answer of answers) answer.destroy()
})
