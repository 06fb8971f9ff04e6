/* `bin/guildhall doctor` beside servers in which one thing after another is broken. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase } from '../support/database.ts'
import { openPlace, type Place, type Running } from '../support/program.ts'

const TOKEN = 'a-token-that-outlives-every-crash'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let place: Place
let server: Running
let client: pg.Client
let repository: string
before(async () => {
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url, GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'error' })
  server = await place.serve({}, ['--no-worker'])
  client = new pg.Client(database.url)
  await client.connect()
  const made = await fetch(`${server.api}/projects`, {
    method: 'POST',
    headers: { 'private-token': TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'one', initialize_with_readme: true }),
  })
  const { id } = (await made.json()) as { id: number }
  repository = join(place.dataDir, 'repositories', id.toString(16).padStart(2, '0'), `${id}.git`)
})
after(async () => {
  await server.stop()
  await place.clear()
  await client.end()
  await database.drop()
})

interface Checked {
  readonly check: string
  readonly status: string
  readonly text: string
  readonly fixed: boolean
}
interface Examined {
  readonly code: number | null
  readonly of: (check: string) => Checked
  readonly unwell: readonly string[]
}

async function examine(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Examined> {
  const { code, stdout, stderr } = await place.run(['doctor', '--json', ...args], env)
  assert.ok(stdout.startsWith('{'), stderr)
  const { checks } = JSON.parse(stdout) as { checks: Checked[] }
  const of = (name: string): Checked => {
    const found = checks.find(({ check }) => check === name)
    assert.ok(found, name)
    return found
  }
  const unwell = checks.filter(({ status }) => status !== 'ok').map(({ check }) => check)
  return { code, of, unwell }
}

test('a server that is well passes every check', async () => {
  const { code, unwell, of } = await examine()
  assert.deepEqual([code, unwell], [0, []])
  assert.equal(of('repositories').text, 'all 1 are there; 1 of them, by chance, are whole')
})

test('each thing that --fix heals is found, healed and well again', async () => {
  const lock = join(repository, 'packed-refs.lock')
  writeFileSync(lock, '')
  utimesSync(lock, 1_000_000_000, 1_000_000_000)
  chmodSync(place.dataDir, 0o755)
  chmodSync(join(place.dataDir, 'secret'), 0o644)
  await client.query(
    `select graphile_worker.add_job('measure_repository', '{"project_id": 1}', max_attempts => 1)`,
  )
  await client.query(
    `update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'the planted error'`,
  )
  await client.query(`update pg_index set indisvalid = false where indexrelid = 'labels_pkey'::regclass`)
  const broken = ['data directory', 'secret', 'indexes', 'jobs', 'git locks']
  const found = await examine()
  assert.deepEqual([found.code, found.unwell], [1, broken])
  assert.match(found.of('jobs').text, /the planted error/)
  assert.match(found.of('indexes').text, /labels_pkey/)
  const fixed = await examine(['--fix'])
  assert.deepEqual([fixed.code, broken.map((check) => fixed.of(check).fixed)], [0, broken.map(() => true)])
  const again = await examine()
  assert.deepEqual([again.code, again.unwell], [0, []])
  assert.equal(statSync(place.dataDir).mode & 0o777, 0o700)
})

test('a repository that is damaged or missing is named', async () => {
  const folder = readdirSync(join(repository, 'objects')).find((name) => /^[0-9a-f]{2}$/.test(name)) ?? ''
  const [object = ''] = readdirSync(join(repository, 'objects', folder))
  const file = join(repository, 'objects', folder, object)
  const aside = join(place.dataDir, 'aside')
  renameSync(file, aside)
  writeFileSync(file, 'no object')
  const damaged = await examine()
  unlinkSync(file)
  renameSync(aside, file)
  assert.deepEqual([damaged.code, damaged.unwell], [1, ['repositories']])
  renameSync(repository, aside)
  const missing = await examine()
  renameSync(aside, repository)
  assert.deepEqual([missing.code, missing.of('repositories').status], [1, 'fault'])
  assert.match(missing.of('repositories').text, /^that of project \d+ is missing/)
})

test('a late queue, a forgotten schema and a clock that went back are faults', async () => {
  await client.query(
    `select graphile_worker.add_job('measure_repository', '{}', run_at => now() - interval '1 hour')`,
  )
  await client.query(`update schema_migrations set applied_at = now() + interval '1 hour' where version = 1`)
  await client.query('insert into schema_migrations (version, name) values (9999, $1)', ['9999_later.sql'])
  const { code, unwell, of } = await examine()
  assert.deepEqual([code, unwell], [1, ['migrations', 'clock', 'jobs']])
  assert.match(of('migrations').text, /9999, newer than this program/)
  assert.match(of('jobs').text, /does a server or worker run/)
  await client.query('delete from graphile_worker._private_jobs')
  await client.query('delete from schema_migrations where version = 9999')
  await client.query('update schema_migrations set applied_at = now()')
})

test('a lost secret, an old git and a database that is away are explained, and nothing is made anew', async () => {
  const secret = join(place.dataDir, 'secret')
  renameSync(secret, `${secret}.aside`)
  const lost = await examine()
  assert.deepEqual(
    readdirSync(place.dataDir).filter((name) => name === 'secret'),
    [],
  )
  renameSync(`${secret}.aside`, secret)
  assert.deepEqual([lost.code, lost.unwell], [1, ['secret', 'sealed values']])
  const folder = join(place.dataDir, 'programs')
  mkdirSync(folder)
  writeFileSync(join(folder, 'git'), '#!/bin/sh\necho git version 2.20.1\n', { mode: 0o755 })
  const old = await examine(['--sample', '0'], { PATH: `${folder}:${process.env['PATH']}` })
  assert.deepEqual([old.code, old.unwell], [1, ['git']])
  const away = await examine([], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  assert.deepEqual([away.code, away.unwell], [1, ['database']])
})
