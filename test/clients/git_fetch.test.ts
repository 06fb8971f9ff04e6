import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Project } from '../../src/db/schema/tables.ts'
import { openGitClient, type GitClient, type Ran } from '../support/git_client.ts'
import { gitLines, gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { request } from '../support/wire.ts'
import { openWorld, type World } from '../support/world.ts'

const MB = 1024 * 1024

// The real git clones and fetches.

const DENIED =
  "remote: HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or you're required to use a token instead of a password. If a token was provided, it was either incorrect, expired, or improperly scoped."

let world: World
let client: GitClient
let project: Project
let hidden: Project
let reporter: Someone
let source: string
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
  source = join(scratch(), 'source.git')
  writeHistory(source, 300, 3)
  const group = await world.make.group({ visibility: 'public' })
  const sub = await world.make.group({ parent: group, visibility: 'public' })
  project = await world.make.project({ group: sub, visibility: 'public', path: 'app.x', repository: source })
  hidden = await world.make.project({ visibility: 'private', repository: source })
  reporter = await world.make.memberOf('reporter', { project: hidden })
})
after(() => world.close())

let count = 0
const fresh = (): string => join(client.place, `clone-${++count}`)
const clone = (url: string, ...args: string[]): Promise<Ran> =>
  client.run(client.place, ['clone', '--quiet', ...args, url, fresh()])
const latest = (): string => join(client.place, `clone-${count}`)
const refsOf = (directory: string): string[] =>
  gitLines(directory, ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags'])
const directoryOf = ({ id }: Project): string =>
  world.opened.instance.git.directory(`${(id % 256).toString(16).padStart(2, '0')}/${id}.git`)

for (const version of ['0', '1', '2'])
  test(`a mirror clone with protocol version ${version} holds every branch, tag and object`, async () => {
    const asks = ['-c', `protocol.version=${version}`, 'clone', '--mirror', '--quiet']
    const url = client.url(`${project.full_path}.git`)
    const ran = await client.run(client.place, [...asks, url, fresh()])
    assert.deepEqual(ran, { code: 0, out: '', told: '' })
    assert.deepEqual(refsOf(latest()), refsOf(source))
    assert.equal(gitText(latest(), ['fsck', '--strict', '--connectivity-only']), '')
  })

test('a project is cloned without .git at the end of its address, and in any letter case', async () => {
  for (const path of [project.full_path, project.full_path.toUpperCase()]) {
    assert.equal((await clone(client.url(path))).code, 0)
    assert.equal(await client.git(latest(), 'rev-parse', 'HEAD'), gitText(source, ['rev-parse', 'main']))
  }
})

test('a project is cloned by its alias', async () => {
  await world.make.sql(`insert into project_aliases (project_id, name) values (${project.id}, 'tools.v1')`)
  for (const place of ['tools.v1.git', 'tools.v1']) assert.equal((await clone(client.url(place))).code, 0)
  const other = await clone(client.url(`${project.id}.git`), '--bare')
  assert.equal(other.code, 128)
})

test('a private project is cloned with a token for a password, whatever the user name', async () => {
  for (const scope of ['api', 'read_repository', 'write_repository'] as const) {
    const token = await world.make.token(reporter, { scopes: [scope] })
    assert.equal((await clone(client.url(hidden.full_path, { token }))).code, 0, scope)
  }
})

test('without a token, and with one that will not do, git is told to ask again', async () => {
  const bad = async (options: Parameters<World['make']['token']>[1]): Promise<{ token: string }> => ({
    token: await world.make.token(reporter, options),
  })
  const revoked = await bad({})
  await rowsOf(
    world,
    'update personal_access_tokens set revoked = true where id = (select max(id) from personal_access_tokens)',
  )
  const rows: (Pick<Someone, 'token'> | undefined)[] = [
    undefined,
    { token: 'glpat-unknown' },
    revoked,
    await bad({ expires_at: '2020-01-01' }),
    await bad({ scopes: ['read_api'] }),
  ]
  for (const as of rows) {
    const { code, told } = await clone(client.url(hidden.full_path, as))
    assert.equal(code, 128)
    if (as !== undefined) assert.equal(told.split('\n')[0], DENIED)
    assert.match(told, as ? /Authentication failed/ : /could not read Username/)
  }
})

test('hidden repositories answer like absent ones', async () => {
  const stranger = await world.make.user()
  const told = async (path: string, as?: Someone): Promise<string> =>
    (await clone(client.url(path, as))).told.replaceAll(/http\S+/g, 'URL')
  const absent = await told('no/such/project.git', stranger)
  assert.equal(
    absent,
    "remote: The project you were looking for could not be found or you don't have permission to view it.\nfatal: repository 'URL not found\n",
  )
  assert.equal(await told(`${hidden.full_path}.git`, stranger), absent)
  assert.equal(await told('no-such-alias.git', stranger), absent)
  assert.equal(await told('no/such/project.git'), await told(`${hidden.full_path}.git`))
})

test('a project without the right to read code answers 403', async () => {
  const guest = await world.make.memberOf('guest', { project: hidden })
  const off = await world.make.project({ visibility: 'public', repository: source })
  await world.make.sql(`update projects set repository_access_level = 'disabled' where id = ${off.id}`)
  for (const [path, as] of [
    [hidden.full_path, guest],
    [off.full_path, await world.make.admin()],
  ] as const) {
    const { code, told } = await clone(client.url(path, as))
    assert.equal(code, 128)
    assert.match(told, /^remote: You are not allowed to download code from this project\.\n/)
  }
  assert.match((await clone(client.url(off.full_path))).told, /could not read Username/)
})

test('a project without a repository says so', async () => {
  const bare = await world.make.project({ visibility: 'public' })
  const { told } = await clone(client.url(bare.full_path))
  assert.match(told, /^remote: A repository for this project does not exist yet\.\n/)
})

test('a renamed project is cloned from its new address and from the old one', async () => {
  const moved = await world.make.project({ visibility: 'public', repository: source })
  const old = moved.full_path
  await world.make.sql(`update projects set path = 'new', full_path = '${old}-new' where id = ${moved.id}`)
  assert.equal((await clone(client.url(`${old}-new.git`))).code, 0)
  assert.equal((await clone(client.url(`${old}.git`, reporter))).code, 0)
})

test('an archived project and an empty one are cloned', async () => {
  const empty = await world.make.project({ visibility: 'public', repository: 'empty' })
  assert.match((await clone(client.url(empty.full_path))).told, /cloned an empty repository/)
  assert.equal(await client.git(latest(), 'symbolic-ref', 'HEAD'), 'refs/heads/main')
  const archived = await world.make.project({ visibility: 'public', repository: source })
  await world.make.sql(`update projects set archived = true where id = ${archived.id}`)
  assert.equal((await clone(client.url(archived.full_path))).code, 0)
})

test('a clone is shallow when it is asked to be, and deepened later', async () => {
  for (const version of ['0', '2']) {
    const asks = ['-c', `protocol.version=${version}`]
    assert.equal((await clone(client.url(project.full_path), '--depth=1', ...asks)).code, 0)
    assert.equal(await client.git(latest(), 'rev-list', '--count', 'HEAD'), '1')
    await client.git(latest(), 'fetch', '--quiet', '--unshallow')
    assert.equal(
      await client.git(latest(), 'rev-list', '--count', 'HEAD'),
      gitText(source, ['rev-list', '--count', 'main']),
    )
  }
})

test('a partial clone leaves file contents out and fetches them when they are needed', async () => {
  assert.equal((await clone(client.url(project.full_path), '--filter=blob:none', '--no-checkout')).code, 0)
  const missing = (await client.git(latest(), 'rev-list', '--objects', '--missing=print', 'HEAD'))
    .split('\n')
    .filter((line) => line.startsWith('?'))
  assert.ok(missing.length > 10)
  await client.git(latest(), 'checkout', '--quiet', 'main')
  assert.equal(await client.git(latest(), 'status', '--porcelain'), '')
})

test('a fetch brings what is new, with many commits of its own to tell of', async () => {
  const moving = await world.make.project({ visibility: 'public', repository: source })
  await clone(client.url(moving.full_path))
  const directory = directoryOf(moving)
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const tip = gitText(directory, ['commit-tree', '-m', 'new', '-p', 'main', tree])
  gitText(directory, ['update-ref', 'refs/heads/main', tip])
  // Enough of them for the request to be worth compressing.
  for (let i = 0; i < 60; i++)
    await client.git(latest(), 'commit', '--quiet', '--allow-empty', '-m', `own ${i}`)
  for (const version of ['0', '2'])
    await client.git(latest(), '-c', `protocol.version=${version}`, 'fetch', '--quiet', 'origin')
  assert.equal(await client.git(latest(), 'rev-parse', 'origin/main'), tip)
})

test('refs of the server are neither listed nor fetched', async () => {
  const secret = await world.make.project({ visibility: 'public', repository: source })
  const directory = directoryOf(secret)
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const sha = gitText(directory, ['commit-tree', '-m', 'secret', tree])
  gitText(directory, ['update-ref', 'refs/keep-around/secret', sha])
  const listed = await client.git(client.place, 'ls-remote', client.url(secret.full_path))
  assert.deepEqual(
    listed.split('\n').filter((line) => /keep/.test(line)),
    [],
  )
  const asks = ['-c', 'protocol.version=0', 'fetch', client.url(secret.full_path), sha]
  await client.git(client.place, 'init', '--quiet', fresh())
  const { code, told } = await client.run(latest(), asks)
  assert.notEqual(code, 0, told)
})

test('heads of merge requests are listed to callers who may see merge requests, by every protocol', async () => {
  const { make } = world
  const shown = await make.project({ visibility: 'public', repository: source })
  const directory = directoryOf(shown)
  gitText(directory, ['update-ref', 'refs/merge-requests/1/head', 'main'])
  const listed = async (version: string): Promise<boolean> =>
    (
      await client.git(
        client.place,
        '-c',
        `protocol.version=${version}`,
        'ls-remote',
        client.url(shown.full_path),
      )
    ).includes('refs/merge-requests/1/head')
  for (const level of ['enabled', 'private', 'disabled']) {
    await make.sql(`
      update projects set settings = '{"merge_requests_access_level":"${level}"}' where id = ${shown.id}`)
    for (const version of ['0', '1', '2'])
      assert.equal(await listed(version), level === 'enabled', `${level} by protocol ${version}`)
  }
})

/** A public project with one file of 40 MB that cannot be compressed, and how many processes serve it. */
async function makeBig(): Promise<{ big: Project; tip: string; atWork: () => number }> {
  const big = await world.make.project({ visibility: 'public', repository: 'empty' })
  const directory = directoryOf(big)
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], randomBytes(40 * MB))
  const tree = gitText(directory, ['mktree'], `100644 blob ${blob}\tnoise\n`)
  const tip = gitText(directory, ['commit-tree', '-m', 'x', tree])
  gitText(directory, ['update-ref', 'refs/heads/main', tip])
  const atWork = (): number =>
    execFileSync('ps', ['-eo', 'args='])
      .toString()
      .split('\n')
      .filter((line) => line.includes(directory) && line.includes('upload-pack')).length
  return { big, tip, atWork }
}

test('a clone that is broken off leaves no process behind', async () => {
  const { big, atWork } = await makeBig()
  const abort = new AbortController()
  const cloning = client.run(client.place, ['clone', '--quiet', client.url(big.full_path), fresh()], {
    signal: abort.signal,
  })
  while (atWork() === 0) await sleep(5)
  abort.abort()
  await cloning
  while (atWork() > 0) await sleep(20)
  assert.equal((await clone(client.url(project.full_path))).code, 0)
})

test('a client that reads nothing holds git back, and no memory is spent on what it does not take', async () => {
  const { big, tip, atWork } = await makeBig()
  const body = [
    '0011command=fetch',
    '0001',
    '000fno-progress',
    `0032want ${tip}\n`,
    '0009done\n',
    '0000',
  ].join('')
  const head = {
    'Content-Type': 'application/x-git-upload-pack-request',
    'Git-Protocol': 'version=2',
    'Content-Length': String(body.length),
  }
  const before = process.memoryUsage().arrayBuffers
  const socket = connect(client.port, '127.0.0.1')
  socket.pause()
  socket.write(request(`POST /${big.full_path}.git/git-upload-pack`, head, body))
  while (atWork() === 0) await sleep(5)
  await sleep(1_500)
  assert.ok(atWork() > 0, 'git waits')
  const spent = process.memoryUsage().arrayBuffers - before
  assert.ok(spent < 10 * MB, `${spent} bytes were kept`)
  socket.destroy()
  while (atWork() > 0) await sleep(20)
})
