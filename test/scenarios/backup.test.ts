/* Backups of a server that is written to, and servers restored from them: the real program, database and git. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { killGroup, openPlace, openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const TOKEN = 'a-token-that-outlives-every-crash'
const ENV = { GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'error' }

let place: Place
let server: Running
let backups: string
before(async () => {
  backups = join(mkdtempSync(join(tmpdir(), 'guildhall-backups-')), 'backups')
  place = await openReadyPlace(ENV)
  server = await place.serve()
})
after(async () => {
  await place.clear()
  rmSync(join(backups, '..'), { recursive: true })
})

async function call(at: Running, wanted: string, body?: object | string): Promise<[number, string]> {
  const [method = '', path = ''] = wanted.split(' ')
  const answer = await fetch(at.api + path, {
    method,
    headers: {
      'private-token': TOKEN,
      ...(typeof body === 'object' && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return [answer.status, await answer.text()]
}

const commit = (name: string): object => ({
  branch: 'main',
  commit_message: name,
  actions: [{ action: 'create', file_path: name, content: `${name}\n`.repeat(200) }],
})

async function makeProject(name: string): Promise<number> {
  const [, text] = await call(server, 'POST /projects', { name, initialize_with_readme: true })
  const { id } = JSON.parse(text) as { id: number }
  for (const each of ['one', 'two'])
    await call(server, `POST /projects/${id}/repository/commits`, commit(each))
  await call(server, `POST /projects/${id}/issues`, { title: 'an issue', description: 'with a text' })
  await call(server, `POST /projects/${id}/repository/branches`, { branch: 'topic', ref: 'main' })
  const file = `PUT /projects/${id}/packages/maven/a/b/${id}/b-${id}.jar`
  assert.equal((await call(server, file, `jar ${id} `.repeat(1_000)))[0], 200)
  return id
}

/** All that pages of the interface answer, ids of requests apart. */
async function crawl(at: Running, ids: readonly number[]): Promise<Record<string, [number, string]>> {
  const paths = [
    '/projects?per_page=100',
    '/users',
    '/groups',
    '/application/settings',
    '/personal_access_tokens',
  ]
  for (const id of ids)
    for (const rest of [
      '',
      '/issues',
      '/repository/branches',
      '/repository/tree?recursive=true',
      '/repository/commits',
      '/repository/files/one?ref=main',
      '/packages',
      `/packages/maven/a/b/${id}/b-${id}.jar`,
      '/members/all',
      '/protected_branches',
    ])
      paths.push(`/projects/${id}${rest}`)
  const all: Record<string, [number, string]> = {}
  for (const path of paths) {
    const [status, text] = await call(at, `GET ${path}`)
    // Reading with a token moves the date of its last use; addresses hold the port.
    all[path] = [status, text.replaceAll(at.url, '').replaceAll(/"last_used_at":"[^"]*"/g, '')]
  }
  return all
}

function assertSound(dataDir: string): void {
  const root = join(dataDir, 'repositories')
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((one) =>
    /^..\/\d+\.git$/.test(one),
  )) {
    const { status, stderr } = spawnSync('git', ['fsck', '--full', '--strict'], {
      cwd: join(root, name),
      encoding: 'utf8',
    })
    assert.equal(status, 0, `${name}: ${stderr}`)
  }
}

const newest = (): string => join(backups, readdirSync(backups).toSorted().at(-1) ?? '')

test('a backup under writes and pushes restores every write acknowledged before it', async (t) => {
  const ids = [await makeProject('first'), await makeProject('second')]
  const acknowledged: string[] = []
  let writing = true
  const writers = ids.map(async (id) => {
    for (let i = 0; writing; i += 1) {
      const name = `written-${id}-${i}`
      const [status] = await call(server, `POST /projects/${id}/repository/commits`, commit(name))
      const [said] = await call(server, `POST /projects/${id}/issues`, { title: name })
      assert.deepEqual([status, said], [201, 201])
      acknowledged.push(name)
      if (i % 5 === 4)
        execFileSync('git', ['gc', '-q', '--prune=now'], { cwd: repository(place, id), stdio: 'ignore' })
    }
  })
  await until('some are written', () => acknowledged.length >= 6)
  const before = [...acknowledged]
  const made = await place.json(['backup', backups])
  writing = false
  await Promise.all(writers)
  assert.equal(made['projects'], 2)
  assert.equal(made['folder'], newest())

  const other = await openPlace({ ...ENV })
  t.after(() => other.clear())
  await other.json(['restore', backups])
  assertSound(other.dataDir)
  const restored = await other.serve()
  for (const id of ids) {
    const [, issues] = await call(restored, `GET /projects/${id}/issues?per_page=100`)
    const [, files] = await call(restored, `GET /projects/${id}/repository/tree?per_page=100`)
    for (const name of before.filter((one) => one.startsWith(`written-${id}-`)))
      assert.ok(issues.includes(`"${name}"`) && files.includes(`"${name}"`), name)
  }
  // Ids go on where they were, and the restored server is written to like any other.
  const [status] = await call(restored, `POST /projects/${ids[0]}/issues`, { title: 'after' })
  assert.equal(status, 201)
  await restored.stop()
  const again = await other.run(['restore', backups])
  assert.deepEqual([again.code, again.stderr.includes('is not empty')], [1, true])
})

const repository = (at: Place, id: number): string =>
  join(at.dataDir, 'repositories', id.toString(16).padStart(2, '0'), `${id}.git`)

test('the next backup copies only what is new, and answers the same on a database of its own', async (t) => {
  const ids = [1, 2]
  const whole = Number((await place.json(['verify', backups]))['bytes'])
  const made = await place.json(['backup', backups])
  assert.ok(Number(made['linked']) > 0 && Number(made['copied']) < whole)
  const expected = await crawl(server, ids)
  assert.deepEqual(
    Object.entries(expected).filter(([, [status]]) => status !== 200),
    [],
  )
  const database = await createTestDatabase()
  const env = { ...ENV, DATABASE_URL: database.url }
  const other = await openPlace(env)
  t.after(async () => {
    await other.clear()
    await database.drop()
  })
  const refused = await other.run(['restore', backups])
  assert.deepEqual([refused.code, refused.stderr.includes('DATABASE_URL is not empty')], [1, true])
  await empty(database.url)
  await other.json(['restore', backups])
  const restored = await other.serve()
  const answers = await crawl(restored, ids)
  for (const [path, answer] of Object.entries(expected)) assert.deepEqual(answers[path], answer, path)
  await restored.stop()
})

async function empty(url: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  await client.connect()
  await client.query('drop schema public cascade; drop schema graphile_worker cascade; create schema public')
  await client.end()
}

test('a backup and a restore that are killed leave nothing half done', async (t) => {
  const complete = readdirSync(backups)
  const killed = place.start(['backup', backups])
  await until('it is under way', () => readdirSync(backups).some((name) => name.startsWith('.partial')))
  killGroup(killed.pid)
  await killed.ended
  assert.deepEqual(
    readdirSync(backups).filter((name) => !name.startsWith('.')),
    complete,
  )
  await place.json(['backup', backups])
  assert.deepEqual(
    readdirSync(backups).filter((name) => name.startsWith('.')),
    [],
  )

  const other = await openPlace(ENV)
  t.after(() => other.clear())
  const restoring = other.start(['restore', backups])
  await until('it is under way', () => existsSync(`${other.dataDir}.restoring/postgres`))
  await sleep(200)
  killGroup(restoring.pid)
  await restoring.ended
  assert.equal(existsSync(other.dataDir), false)
  await other.json(['restore', backups])
  assert.equal(existsSync(`${other.dataDir}.restoring`), false)
  assertSound(other.dataDir)
})

test('a byte that changed is found, and such a backup is not restored', async (t) => {
  const file = join(newest(), 'database/issues')
  const bytes = readFileSync(file)
  bytes.writeUInt8(bytes.readUInt8(3) ^ 1, 3)
  writeFileSync(file, bytes)
  const { code, stdout } = await place.run(['verify', backups, '--json'])
  assert.deepEqual(
    [code, (JSON.parse(stdout) as { faults: string[] }).faults],
    [1, ['database/issues has other bytes']],
  )
  const other = await openPlace(ENV)
  t.after(() => other.clear())
  const { code: refused, stderr } = await other.run(['restore', backups])
  assert.deepEqual([refused, stderr.includes('database/issues has other bytes')], [1, true])
  assert.equal(existsSync(other.dataDir), false)
})
