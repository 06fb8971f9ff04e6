import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { repositoryPath } from '../../src/core/places/projects.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import { pktLine } from '../../src/git/wire/pkt_lines.ts'
import { openGitClient, type GitClient } from '../support/git_client.ts'
import {
  gitBytes,
  gitLines,
  gitText,
  initRepository,
  scratch,
  writeHistory,
} from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { mountSmall, unmountLeftovers, unmountSmall } from '../support/temporary.ts'
import { openWorld, type World } from '../support/world.ts'

// A repository, and then the data directory, on a file system of a few megabytes.

const MB = 1024 * 1024
const full = { message: '507 Insufficient Storage' }
const probe = join(scratch(), 'probe')
mkdirSync(probe)
const skip = mountSmall(probe, 1) && unmountSmall(probe) ? false : 'this user may mount no file system'

let world: World
let client: GitClient
let project: Project
let developer: Someone
let directory: string
const mounted: string[] = []
/** Puts a small file system under a folder that holds the same. */
function shrink(folder: string, megabytes: number): void {
  const copy = join(scratch(), 'copy')
  cpSync(folder, copy, { recursive: true })
  assert.ok(mountSmall(folder, megabytes))
  mounted.push(folder)
  cpSync(copy, folder, { recursive: true })
}
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 1)
  project = await world.make.project({ visibility: 'public', repository: source })
  developer = await world.make.memberOf('maintainer', { project })
  directory = world.opened.instance.git.directory(repositoryPath(project.id))
})
after(async () => {
  for (const folder of mounted.toReversed()) unmountSmall(folder)
  await world.close()
})

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
const state = (): string[] => [...gitLines(directory, ['for-each-ref']), ...filesOf(directory)]

/** Pushes commits with one file of `bytes` each, loose (one) or as a pack (more than a hundred). */
async function push(branch: string, commits: number, bytes: number): Promise<Response> {
  const local = join(scratch(), `${branch}.git`)
  initRepository(local)
  let parent: string[] = []
  for (let at = 0; at < commits; at++) {
    const blob = gitText(local, ['hash-object', '-w', '--stdin'], randomBytes(bytes))
    const tree = gitText(local, ['mktree'], `100644 blob ${blob}\tfile\n`)
    parent = ['-p', gitText(local, ['commit-tree', tree, '-m', 'Large', ...parent])]
  }
  const [, tip = ''] = parent
  const pack = gitBytes(local, ['pack-objects', '--stdout', '--revs', '-q'], `${tip}\n`)
  const line = pktLine(Buffer.from(`${'0'.repeat(40)} ${tip} refs/heads/${branch}\0report-status`))
  return fetch(`http://127.0.0.1:${client.port}/${project.full_path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-git-receive-pack-request',
      authorization: `Basic ${Buffer.from(`x:${developer.token}`).toString('base64')}`,
    },
    body: new Uint8Array(Buffer.concat([line, Buffer.from('0000'), pack])),
  })
}
const commit = (content: string): Promise<{ status: number; body: unknown; text: string }> =>
  world.call('POST', `/projects/${project.id}/repository/commits`, {
    as: developer,
    body: {
      branch: 'main',
      commit_message: 'Large',
      actions: [{ action: 'create', file_path: `f${content.length}`, content, encoding: 'base64' }],
    },
  })

test('pushes and commits to a full disk are refused with 507 and leave nothing', { skip }, async () => {
  shrink(directory, 3)
  const before = state()
  for (const [branch, commits, bytes] of [
    ['loose', 1, 5 * MB],
    ['packed', 40, MB / 8],
  ] as const) {
    const answer = await push(branch, commits, bytes)
    const text = await answer.text()
    assert.match(text, /unpack 507 Insufficient Storage\n/)
    assert.match(text, new RegExp(`ng refs/heads/${branch} 507 Insufficient Storage\n`))
    assert.deepEqual(state(), before, branch)
  }
  const refused = await commit(randomBytes(4 * MB).toString('base64'))
  assert.deepEqual([refused.status, refused.body], [507, full])
  assert.deepEqual(state(), before)
  assert.equal((await commit('eA==')).status, 201)
  assert.match(await (await push('small', 1, 10)).text(), /ok refs\/heads\/small/)
})

test('readiness tells that the data directory is full, and an upload is 507', { skip }, async () => {
  const { dataDir } = world.opened.instance.config
  mkdirSync(join(dataDir, 'blobs'), { recursive: true })
  shrink(dataDir, 24)
  const ready = (): Promise<Response> => fetch(`http://127.0.0.1:${client.port}/-/readiness`)
  const filler = join(dataDir, 'filler')
  writeFileSync(filler, randomBytes(20 * MB))
  const answer = await ready()
  assert.deepEqual(
    [answer.status, answer.headers.get('retry-after'), ((await answer.json()) as { reason: string }).reason],
    [503, '1', 'the disk is full'],
  )
  const upload = (): Promise<Response> =>
    fetch(
      `http://127.0.0.1:${client.port}/api/v4/projects/${project.id}/packages/generic/tool/1.0/file.bin`,
      {
        method: 'PUT',
        headers: { 'private-token': developer.token },
        body: new Uint8Array(randomBytes(8 * MB)),
      },
    )
  // Beside repositories, whose indexes are brought up to date in the background.
  const uploads = (): string[] => filesOf(dataDir).filter((name) => !/\/(repositories|moving)\//.test(name))
  const before = uploads()
  const refused = await upload()
  assert.deepEqual([refused.status, await refused.json()], [507, full])
  assert.deepEqual(uploads(), before)
  rmSync(filler)
  assert.equal((await upload()).status, 201)
})

test('a run unmounts the file systems that a killed run left', { skip }, () => {
  const { pid } = spawnSync('true')
  const mounts = (): number =>
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`guildhall-run-${pid} `)).length
  assert.ok(mountSmall(probe, 1, pid) && mountSmall(probe, 1, pid))
  assert.equal(mounts(), 2)
  unmountLeftovers()
  assert.equal(mounts(), 0)
  rmSync(probe, { recursive: true })
})
