/* Clients that ask for large files again and again and never read them, or abort in the middle. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { writeOddTree, type OddTree } from '../support/odd_tree.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let odd: OddTree
let address: string
before(async () => {
  world = await openWorld()
  odd = writeOddTree()
  const project = await world.make.project({ visibility: 'public', repository: odd.directory })
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = world.app.server.address() as AddressInfo
  address = `http://127.0.0.1:${port}/api/v4/projects/${project.id}/repository`
})
after(() => world.close())

const open = async (path: string): Promise<IncomingMessage> => {
  const [answer] = (await once(get(`${address}/${path}`), 'response')) as [IncomingMessage]
  return answer
}
async function lengthOf(answer: IncomingMessage): Promise<number> {
  let length = 0
  for await (const chunk of answer) length += (chunk as Buffer).length
  return length
}

const LARGE = 11 * 1024 * 1024

test('a download that is given up gives back its place at once', async () => {
  // More than there are places, each left in the middle.
  for (let i = 0; i < 40; i += 1) {
    const answer = await open('files/large/raw')
    assert.equal(answer.statusCode, 200)
    await once(answer, 'readable')
    answer.destroy()
  }
  assert.equal(await lengthOf(await open('files/large/raw')), LARGE)
  assert.deepEqual(
    world.logs.filter((line) => line.includes('failed')),
    [],
  )
})

test('a slow reader delays downloads only and buffers one part of the file', async () => {
  const before = process.memoryUsage().arrayBuffers
  const idle = await Promise.all(Array.from({ length: 16 }, () => open(`blobs/${odd.blob('large')}/raw`)))
  assert.ok(idle.every(({ statusCode }) => statusCode === 200))
  assert.ok(process.memoryUsage().arrayBuffers - before < (16 * LARGE) / 2)
  for (const path of [
    'tree',
    'branches',
    'files/bin%2Frun?ref=main',
    'commits',
    'commits/main/diff?per_page=1',
  ]) {
    const answer = await open(path)
    assert.equal(answer.statusCode, 200, path)
    await lengthOf(answer)
  }
  for (const answer of idle) answer.destroy()
  assert.equal(await lengthOf(await open('files/large/raw')), LARGE)
})

test('all of a slow download arrives', async () => {
  const answer = await open('files/large/raw')
  let length = 0
  for await (const chunk of answer) {
    length += (chunk as Buffer).length
    if (length % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  assert.equal(length, LARGE)
})
