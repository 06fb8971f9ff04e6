import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { repositoryPath } from '../../src/core/places/projects.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import { pktLine } from '../../src/git/wire/pkt_lines.ts'
import { openGitClient, type GitClient } from '../support/git_client.ts'
import { gitLines, gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { openWorld, type World } from '../support/world.ts'

// Packs of a few bytes whose objects are large.

const MB = 1024 * 1024
const NONE = '0'.repeat(40)

let world: World
let client: GitClient
let project: Project
let developer: Someone
let remote: string
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 1)
  project = await world.make.project({ visibility: 'public', repository: source })
  developer = await world.make.memberOf('maintainer', { project })
  remote = world.opened.instance.git.directory(repositoryPath(project.id))
})
after(() => world.close())

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4, refDelta: 7 } as const

/** A size as the head of a packed object has it. */
function head(type: keyof typeof TYPES, size: number): Buffer {
  const bytes = [(TYPES[type] << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128
    bytes.push(rest & 127)
  }
  return Buffer.from(bytes)
}
function varint(size: number): Buffer {
  const bytes: number[] = []
  for (let rest = size; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest & 127) | 128)
  }
}
const whole = (type: 'commit' | 'tree' | 'blob', body: Buffer): Buffer =>
  Buffer.concat([head(type, body.length), deflateSync(body, { level: 9 })])
const idOf = (type: string, body: Buffer): string =>
  createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex')
/** `times` copies of a base of one megabyte, as a delta. */
function unfolding(base: Buffer, times: number): Buffer {
  const copy = Buffer.from([0x80 | 0x40, (base.length >> 16) & 255])
  const delta = Buffer.concat([
    varint(base.length),
    varint(base.length * times),
    ...Array.from({ length: times }, () => copy),
  ])
  return Buffer.concat([
    head('refDelta', delta.length),
    Buffer.from(idOf('blob', base), 'hex'),
    deflateSync(delta),
  ])
}
function packOf(objects: readonly Buffer[]): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(objects.length, 8)
  const body = Buffer.concat([header, ...objects])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

/** The most memory of its own that a process taking packs apart had, in bytes, while `work` ran. */
async function peakOf<T>(work: Promise<T>): Promise<[T, number]> {
  let peak = 0
  let over = false
  const done = work.finally(() => (over = true))
  while (!over) {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(remote)) continue
        const [, kibibytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
        peak = Math.max(peak, Number(kibibytes ?? 0) * 1024)
      } catch {
        // It has ended.
      }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return [await done, peak]
}

async function push(pack: Buffer, to: string): Promise<string> {
  const line = pktLine(Buffer.from(`${NONE} ${to} refs/heads/bomb\0report-status`))
  const answer = await fetch(`http://127.0.0.1:${client.port}/${project.full_path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-git-receive-pack-request',
      authorization: `Basic ${Buffer.from(`x:${developer.token}`).toString('base64')}`,
    },
    body: new Uint8Array(Buffer.concat([line, Buffer.from('0000'), pack])),
  })
  assert.equal(answer.status, 200)
  return answer.text()
}

/** Refused, with a child that stayed small, and nothing left of it. */
async function refused(pack: Buffer, to: string, says: RegExp): Promise<void> {
  const before = gitLines(remote, ['for-each-ref'])
  const [text, peak] = await peakOf(push(pack, to))
  assert.match(text, says)
  assert.ok(peak < 128 * MB, `a child held ${Math.round(peak / MB)} MB`)
  assert.deepEqual(gitLines(remote, ['for-each-ref']), before)
  assert.deepEqual(
    readdirSync(join(remote, 'objects')).filter((name) => name.startsWith('tmp_')),
    [],
  )
}

const tree = Buffer.alloc(0)
const commit = (message: string): Buffer =>
  Buffer.from(`tree ${idOf('tree', tree)}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\n${message}`)
const filler = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => whole('blob', Buffer.from(`filler ${index}`)))

test('a delta of a few bytes that unfolds to 931 MB is refused before it unfolds', async () => {
  const base = Buffer.alloc(MB)
  const small = commit('small')
  // Below a hundred objects `unpack-objects` takes them, above `index-pack`.
  for (const more of [[], filler(120)]) {
    const objects = [
      whole('blob', base),
      unfolding(base, 931),
      whole('tree', tree),
      whole('commit', small),
      ...more,
    ]
    const pack = packOf(objects)
    if (more.length === 0) assert.ok(pack.length < 1_500, String(pack.length))
    await refused(pack, idOf('commit', small), /ng refs\/heads\/bomb unpacker error/)
  }
})

test('a commit whose message is larger than a message may be is refused', async () => {
  for (const size of [2 * MB, 700 * MB]) {
    const large = commit('x'.repeat(size > 100 * MB ? 0 : size))
    const body = size > 100 * MB ? Buffer.concat([large, Buffer.alloc(size, 'x')]) : large
    const pack = packOf([whole('tree', tree), whole('commit', body)])
    const says = size > 100 * MB ? /unpacker error/ : /ng refs\/heads\/bomb pre-receive hook declined/
    await refused(pack, idOf('commit', body), says)
  }
})

test('a message of a megabyte comes in by push, and one byte more by no operation', async () => {
  const body = commit('y'.repeat(MB))
  const text = await push(packOf([whole('tree', tree), whole('commit', body)]), idOf('commit', body))
  assert.match(text, /ok refs\/heads\/bomb/)
  const sent = (commit_message: string): Promise<{ status: number }> =>
    world.call('POST', `/projects/${project.id}/repository/commits`, {
      as: developer,
      body: { branch: 'bomb', commit_message, actions: [{ action: 'create', file_path: 'x', content: 'x' }] },
    })
  for (const message of ['z'.repeat(MB + 1), 'é'.repeat(MB / 2 + 1)])
    assert.equal((await sent(message)).status, 400)
})

test('of a message that is longer than one may be the beginning is read', async () => {
  const body = Buffer.from(`${commit('').toString()}${'é'.repeat(2 * MB)}`)
  const sha = gitText(remote, ['hash-object', '-t', 'commit', '-w', '--stdin'], body)
  const answer = await world.get(`/projects/${project.id}/repository/commits/${sha}`)
  const { message } = answer.body as { message: string }
  assert.deepEqual([answer.status, Buffer.byteLength(message), message.slice(-1)], [200, MB, 'é'])
})
