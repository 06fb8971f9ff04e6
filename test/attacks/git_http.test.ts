import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Project } from '../../src/db/schema/tables.ts'
import { pktLine } from '../../src/git/wire/pkt_lines.ts'
import { openGitClient, type GitClient } from '../support/git_client.ts'
import { gitLines, gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { bodyOf, request, speak } from '../support/wire.ts'
import { openWorld, type World } from '../support/world.ts'

// Requests to git addresses that no git client would send.

const MB = 1024 * 1024
const NONE = '0'.repeat(40)
const TOO_LARGE = 'The request is larger than it may be.'
const NOT_GIT = 'The request is not what git sends.'

let world: World
let client: GitClient
let project: Project
let developer: Someone
let remote: string
let tip: string
let untouched: string[]
before(async () => {
  world = await openWorld({ server: { transport: { silenceMs: 400, maxPushBytes: MB } } })
  client = await openGitClient(world)
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 4)
  project = await world.make.project({ visibility: 'public', repository: source })
  developer = await world.make.memberOf('developer', { project })
  remote = world.opened.instance.git.directory(
    `${(project.id % 256).toString(16).padStart(2, '0')}/${project.id}.git`,
  )
  tip = gitText(remote, ['rev-parse', 'main'])
  untouched = refs()
})
after(() => world.close())

const refs = (): string[] => gitLines(remote, ['for-each-ref', '--format=%(objectname) %(refname)'])
const leftovers = (): string[] =>
  readdirSync(join(remote, 'objects')).filter((name) => name.startsWith('tmp_'))
const atWork = (): string[] =>
  execFileSync('ps', ['-eo', 'args='])
    .toString()
    .split('\n')
    .filter((line) => line.includes(remote) && /upload-pack|index-pack|unpack-objects/.test(line))

/** Nothing moved, nothing was left on disk, and no process is at work any more. */
async function nothingHappened(): Promise<void> {
  while (atWork().length > 0) await sleep(20)
  for (let i = 0; i < 100 && leftovers().length > 0; i++) await sleep(20)
  assert.deepEqual([refs(), leftovers()], [untouched, []])
}

const basic = (as: Someone): string => `Basic ${Buffer.from(`x:${as.token}`).toString('base64')}`

interface Sent {
  readonly status: number
  readonly text: string
  readonly bytes: Buffer
}
async function post(
  program: 'upload-pack' | 'receive-pack',
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const answer = await fetch(`http://127.0.0.1:${client.port}/${project.full_path}.git/git-${program}`, {
    method: 'POST',
    headers: {
      'content-type': `application/x-git-${program}-request`,
      authorization: basic(developer),
      ...headers,
    },
    body: new Uint8Array(body),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, text: bytes.toString(), bytes }
}

interface Command {
  readonly ref: string | Buffer
  readonly from?: string
  readonly to?: string
}
/** Commands as git writes them, and what follows. */
function push(commands: readonly Command[], rest: Buffer | string = ''): Buffer {
  const lines = commands.map(({ ref, from = NONE, to = tip }, index) =>
    pktLine(
      Buffer.concat([
        Buffer.from(`${from} ${to} `),
        Buffer.from(ref),
        Buffer.from(index === 0 ? '\0report-status' : ''),
      ]),
    ),
  )
  return Buffer.concat([...lines, Buffer.from('0000'), Buffer.from(rest)])
}

/** A pack without objects, as git sends it for refs to what is there. */
const EMPTY_PACK = Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex')

test('commands that are none are refused', async () => {
  const rows: (string | Buffer)[] = [
    'garbage that is no pkt-line',
    '0003',
    'zzzz',
    pktLine('x'),
    pktLine(`${NONE} ${tip}`),
    pktLine(`${NONE} ${tip} `),
    pktLine(`${NONE.slice(1)} ${tip} refs/heads/x`),
    pktLine(`${tip.toUpperCase()} ${NONE} refs/heads/x`),
    pktLine('push-cert\0atomic'),
    push([{ ref: 'refs/tags/x\ny' }]),
    push([{ ref: Buffer.from('refs/heads/\xff', 'latin1') }]),
  ]
  for (const body of rows) {
    const { status, text } = await post(
      'receive-pack',
      Buffer.concat([Buffer.from(body), Buffer.from('0000')]),
    )
    assert.deepEqual([status, text], [400, NOT_GIT], String(body))
  }
  for (const body of ['00', '0032', pktLine('x').subarray(0, 3)]) {
    const { status, text } = await post('receive-pack', Buffer.from(body))
    assert.deepEqual([status, text], [400, 'The request ended early.'])
  }
  await nothingHappened()
})

test('a hundred thousand refs in one push are refused unread', async () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({ ref: `refs/heads/b${index}` }))
  for (const count of [100_000, 25_000]) {
    const { status, text } = await post('receive-pack', push(many.slice(0, count), EMPTY_PACK))
    assert.deepEqual([status, text], [413, TOO_LARGE])
  }
  await nothingHappened()
})

test('names that no ref of a client has move nothing', async () => {
  const rows: [string, string][] = [
    ['refs/heads/../../config', 'funny refname'],
    ['refs/heads/a..b', 'funny refname'],
    ['refs/heads/a.lock', 'funny refname'],
    ['refs/heads/-q', 'funny refname'],
    ['refs/heads/--output=x', 'funny refname'],
    ['refs/heads/@{-1}', 'funny refname'],
    ['refs/heads//x', 'funny refname'],
    [`refs/heads/${'x'.repeat(1_001)}`, 'funny refname'],
    // Names that others would take for another ref, or for a hash.
    ['refs/heads/refs/heads/main', 'Branch name is invalid'],
    ['refs/heads/HEAD', 'Branch name is invalid'],
    ['refs/tags/refs/heads/main', 'Tag name is invalid'],
    ['refs/tags/HEAD', 'Tag name is invalid'],
    ['refs/heads', 'funny refname'],
    ['HEAD', 'funny refname'],
    ['config', 'funny refname'],
    ['refs/notes/../../config', 'funny refname'],
    ['refs/merge-requests', 'deny updating a hidden ref'],
    ['refs/merge-requests/1/head', 'deny updating a hidden ref'],
    ['refs/keep-around/x', 'deny updating a hidden ref'],
    ['../../x', 'funny refname'],
  ]
  for (const [ref, why] of rows) {
    const { status, text } = await post('receive-pack', push([{ ref }], EMPTY_PACK))
    const report = [pktLine('unpack ok\n'), pktLine(`ng ${ref} ${why}\n`)]
    assert.deepEqual([status, text], [200, `${report.join('')}0000`])
  }
  await nothingHappened()
})

test('one ref twice in a push moves nothing', async () => {
  const twice = [{ ref: 'refs/heads/x' }, { ref: 'refs/heads/x' }]
  const { text } = await post('receive-pack', push(twice, EMPTY_PACK))
  assert.match(text, /ng refs\/heads\/x multiple updates for ref/)
  await nothingHappened()
})

test('refs to what is not there, and branches that are no commits, move nothing', async () => {
  const tree = gitText(remote, ['rev-parse', 'main^{tree}'])
  const rows: [Command, string][] = [
    [{ ref: 'refs/heads/x', to: '1'.repeat(40) }, 'missing necessary objects'],
    [{ ref: 'refs/heads/x', to: tree }, 'failed to update ref'],
    [{ ref: 'refs/heads/v1', from: '2'.repeat(40) }, 'fetch first'],
    [{ ref: 'refs/heads/gone', from: tip, to: NONE }, 'fetch first'],
  ]
  for (const [command, why] of rows) {
    const { text } = await post('receive-pack', push([command], command.to === NONE ? '' : EMPTY_PACK))
    assert.match(text, new RegExp(`ng ${String(command.ref)} ${why}\n`))
  }
  await nothingHappened()
})

test('an invalid pack is refused and keeps nothing', async () => {
  const ref = 'refs/heads/x'
  const broken = Buffer.from(EMPTY_PACK)
  broken[11] = 5
  const huge = Buffer.from(EMPTY_PACK)
  huge.writeUInt32BE(0xffffffff, 8)
  for (const pack of [
    '',
    'PACK',
    'no pack at all',
    'x'.repeat(100_000),
    broken,
    huge,
    EMPTY_PACK.subarray(0, 14),
  ]) {
    const { status, text } = await post('receive-pack', push([{ ref }], pack))
    assert.equal(status, 200)
    assert.match(text, /^....unpack (eof before pack header was fully read|unpack-objects abnormal exit)\n/)
    assert.match(text, /ng refs\/heads\/x unpacker error\n/)
    assert.doesNotMatch(text, /guildhall|repositories|\/tmp/)
  }
  await nothingHappened()
})

test('a pack that is larger than a push may be is refused', async () => {
  const directory = join(client.place, 'large')
  await client.git(client.place, 'clone', '--quiet', client.url(project.full_path, developer), directory)
  const noise = Buffer.from(Array.from({ length: 3 * MB }, () => Math.floor(Math.random() * 256)))
  const blob = gitText(join(directory, '.git'), ['hash-object', '-w', '--stdin'], noise)
  const tree = gitText(join(directory, '.git'), ['mktree'], `100644 blob ${blob}\tnoise\n`)
  const sha = gitText(join(directory, '.git'), ['commit-tree', '-m', 'x', tree])
  const ran = await client.run(directory, ['push', 'origin', `${sha}:refs/heads/large`])
  assert.equal(ran.code, 1, ran.told)
  assert.match(ran.told, /remote: fatal: pack exceeds maximum allowed size/)
  await nothingHappened()
})

test('a client of LFS is refused in the form of LFS, wherever it asks', async () => {
  const root = `/${project.full_path}.git/info/lfs`
  for (const [method, path] of [
    ['POST', 'objects/batch'],
    ['POST', 'locks/verify'],
    ['GET', 'locks'],
    ['PUT', `objects/${'0'.repeat(64)}`],
  ] as const) {
    const body = method === 'GET' ? '' : JSON.stringify({ operation: 'download', objects: [] })
    const headers = {
      'Content-Type': 'application/vnd.git-lfs+json',
      'Content-Length': String(body.length),
    }
    const { text: answer } = await speak(client.port, request(`${method} ${root}/${path}`, headers, body))
    assert.match(answer, /^HTTP\/1.1 501 /, answer)
    assert.match(answer, /content-type: application\/vnd\.git-lfs\+json\r\n/i)
    assert.match(answer, /\{"message":"This server does not store Git LFS objects\."\}/)
  }
})

test('a compressed request is measured as it unfolds', async () => {
  const gzip = { 'content-encoding': 'gzip' }
  const flushes = gzipSync(Buffer.alloc(100 * MB, '0000'))
  assert.ok(flushes.length < MB)
  for (const program of ['upload-pack', 'receive-pack'] as const) {
    const lines = Buffer.concat(
      Array.from({ length: 30 }, () => pktLine(`${NONE} ${tip} refs/heads/${'x'.repeat(60_000)}`)),
    )
    const bomb = gzipSync(Buffer.concat(Array.from({ length: 60 }, () => lines)))
    const { status } = await post(program, bomb, gzip).catch(() => ({ status: 0 }))
    assert.ok([0, 200, 400, 413].includes(status), String(status))
  }
  await post('upload-pack', flushes, gzip).catch(() => undefined)
  await nothingHappened()
  const broken = await post('receive-pack', gzipSync(push([{ ref: 'refs/heads/x' }])).subarray(0, -12), gzip)
  assert.equal(broken.status, 400)
  assert.equal((await post('receive-pack', Buffer.from('no gzip'), gzip)).status, 400)
  assert.equal((await post('upload-pack', Buffer.from('x'), { 'content-encoding': 'br' })).status, 415)
  assert.equal((await post('upload-pack', Buffer.from('x'), { 'content-type': 'text/plain' })).status, 415)
  await nothingHappened()
})

const slow = (program: string, body: string): Promise<{ closed: boolean; text: string }> =>
  speak(
    client.port,
    request(
      `POST /${project.full_path}.git/git-${program}`,
      {
        'Content-Type': `application/x-git-${program}-request`,
        'Content-Length': '1000',
        Authorization: basic(developer),
      },
      body,
    ),
    5_000,
  )

test('a body that stops coming ends its request, and git with it', async () => {
  for (const [program, body] of [
    ['upload-pack', '0014command=ls-refs\n'],
    ['receive-pack', '00'],
    ['receive-pack', push([{ ref: 'refs/heads/x' }], 'PACK\0\0\0\x02\0\0\0\x05').toString('latin1')],
  ] as const) {
    const heard = await slow(program, body)
    assert.equal(heard.closed, true, program)
  }
  await nothingHappened()
})

test('past the number of transfers at once a client is told when to come back', async () => {
  const transfers = { width: 3, perCaller: 2, queue: 1, waitMs: 100 }
  const crowded = await openWorld({ server: { transport: { transfers } } })
  try {
    const { port } = await openGitClient(crowded)
    const { make } = crowded
    const place = await make.project({ visibility: 'public', repository: 'empty' })
    const [one, other, third] = [await make.user(), await make.user(), await make.user()]
    const ask = (
      as: Someone,
      body: ReadableStream | string = '0014command=ls-refs\n0000',
    ): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/${place.full_path}.git/git-upload-pack`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-git-upload-pack-request',
          authorization: basic(as),
          'git-protocol': 'version=2',
        },
        body,
        duplex: 'half',
      })
    const releases: (() => void)[] = []
    const held = [one, one, other].map((as) => {
      const start = (controller: ReadableStreamDefaultController): void => {
        controller.enqueue(Buffer.from('0014command=ls-refs\n'))
        releases.push(() => {
          controller.enqueue(Buffer.from('0000'))
          controller.close()
        })
      }
      return ask(as, new ReadableStream({ start }))
    })
    const told = async (as: Someone): Promise<unknown[]> => {
      const answer = await ask(as)
      return [answer.status, answer.headers.get('retry-after'), await answer.text()]
    }
    const expected = [
      [429, '5', 'You have 2 transfers under way. Try again when one of them has ended.'],
      [503, '5', 'Too many transfers are under way. Try again in a moment.'],
    ]
    let heard: unknown[][] = []
    // Those that hold the places may still be on their way.
    for (let i = 0; i < 50 && heard[0]?.[0] !== 429; i++) heard = [await told(one)]
    for (let i = 0; i < 50 && heard[1]?.[0] !== 503; i++) heard[1] = await told(third)
    assert.deepEqual(heard, expected)
    for (const release of releases) release()
    assert.deepEqual(
      (await Promise.all(held)).map(({ status }) => status),
      [200, 200, 200],
    )
    assert.equal((await ask(third)).status, 200)
  } finally {
    await crowded.close()
  }
})

test('addresses lead nowhere but to projects', async () => {
  const rows = [
    '/../../etc/passwd.git/info/refs',
    '/%2e%2e/%2e%2e/x.git/info/refs',
    `/${encodeURIComponent(`../${project.full_path}`)}/info/refs`,
    `/${project.full_path}%00.git/info/refs`,
    `/${project.full_path}/../x.git/info/refs`,
    `/${project.id}.git/info/refs`,
    `/-/git/${project.id}/info/refs`,
    `/${project.full_path}.wiki.git/info/refs`,
    `/${project.full_path}.git.git/info/refs`,
  ]
  for (const path of rows) {
    const heard = await speak(client.port, request(`GET ${path}?service=git-upload-pack`), 5_000)
    assert.ok([400, 401, 404].includes(heard.statuses[0] ?? 0), `${path} ${heard.text.slice(0, 80)}`)
  }
  const dumb = await speak(client.port, request(`GET /${project.full_path}.git/info/refs`), 5_000)
  assert.deepEqual(
    [dumb.statuses, bodyOf(dumb)],
    [[403], "The command you're trying to execute is not allowed."],
  )
  for (const path of ['HEAD', 'objects/info/packs', 'config', 'git-upload-archive'])
    for (const method of ['GET', 'POST']) {
      const heard = await speak(client.port, request(`${method} /${project.full_path}.git/${path}`), 5_000)
      assert.deepEqual(heard.statuses, [404])
    }
})

test('unreachable objects are served by hash with protocol 2 only', async () => {
  const tree = gitText(remote, ['rev-parse', 'main^{tree}'])
  const lost = gitText(remote, ['commit-tree', '-m', 'lost', tree])
  const directory = join(client.place, 'lost')
  await client.git(client.place, 'init', '--quiet', directory)
  for (const [version, code] of [
    ['0', 128],
    ['2', 0],
  ] as const) {
    const args = [
      '-c',
      `protocol.version=${version}`,
      'fetch',
      '--quiet',
      client.url(project.full_path),
      lost,
    ]
    assert.equal((await client.run(directory, args)).code, code, version)
  }
})
