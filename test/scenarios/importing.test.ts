/* Projects from repositories, the demo and the worker: the real program, alone and beside a running server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { gitLines, gitText, initRepository, scratch, writeHistory } from '../support/git_fixtures.ts'
import { killGroup, openPlace, until, type Place, type Running } from '../support/program.ts'

const bodyOf = async <Body>(answer: Response): Promise<Body> => JSON.parse(await answer.text()) as Body

/** Every repository on disk, finished or not, by its name. */
function repositories(place: Place): string[] {
  const top = join(place.dataDir, 'repositories')
  return readdirSync(top).flatMap((folder) => readdirSync(join(top, folder)))
}

for (const beside of [false, true])
  suite(beside ? 'beside a running server' : 'alone', () => {
    let place: Place
    let source: string
    let elsewhere: string
    before(async () => {
      place = await openPlace({ LOG_LEVEL: 'warn' })
      elsewhere = scratch()
      source = join(elsewhere, 'source.git')
      writeHistory(source, 80, 3)
      if (beside) await place.serve()
      await place.json(['group', 'create', '--path', 'harbour', '--visibility', 'public'])
    })
    after(() => place.clear())

    const create = (path: string, from: string): string[] => [
      'project',
      'create',
      '--visibility',
      'public',
      '--path',
      path,
      '--import',
      from,
    ]

    test('an import shows how far it is, and tells what it made', async () => {
      const { code, stdout, stderr } = await place.run(create('harbour/gateway', source))
      assert.equal(code, 0, stderr)
      assert.match(stdout, /^Created project harbour\/gateway \(id \d+\)\.\n$/)
      assert.match(stderr, /^(?:[A-Z][a-z ]+ …\n)*Indexing history …\n$/)
    })

    test('an import says nothing but its result when the result is JSON', async () => {
      gitText(source, ['symbolic-ref', 'HEAD', 'refs/heads/feature/x.1'])
      const ended = await place.run([...create('harbour/json', source), '--json'])
      const { id, ...rest } = JSON.parse(ended.stdout) as Record<string, unknown>
      assert.equal(typeof id, 'number')
      assert.deepEqual(rest, {
        full_path: 'harbour/json',
        visibility: 'public',
        default_branch: 'feature/x.1',
      })
      assert.equal(ended.stderr, '')
      gitText(source, ['symbolic-ref', 'HEAD', 'refs/heads/main'])
    })

    test('an import that fails says why on one line and leaves nothing behind', async () => {
      const empty = join(elsewhere, 'no-repository')
      mkdirSync(empty, { recursive: true })
      const present = repositories(place)
      const failures: [string, string][] = [
        [empty, `the import failed: '${empty}' does not appear to be a git repository`],
        [
          'ssh://git@example.com/x.git',
          'the import failed: Repositories are imported from http, https and git URLs and absolute local paths',
        ],
      ]
      for (const [from, line] of failures) {
        const { code, stdout, stderr } = await place.run(create('harbour/broken', from))
        assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: `guildhall: ${line}\n` })
      }
      const { code, stderr } = await place.run(create('harbour/broken', 'http://u:secret@127.0.0.1:1/x.git'))
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^guildhall: the import failed: unable to access 'http:\/\/127\.0\.0\.1:1\/x\.git\/': .+\n$/,
      )
      assert.deepEqual(repositories(place), present)
      assert.equal((await place.run(create('harbour/broken', source))).code, 0, 'the path is free')
    })

    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      test(`an import that ${signal} interrupts leaves nothing behind`, async () => {
        const silent = createServer(() => {}).listen(0, '127.0.0.1')
        await once(silent, 'listening')
        const present = repositories(place)
        const asked = once(silent, 'request')
        const path = `harbour/${signal.toLowerCase()}`
        const { port } = silent.address() as AddressInfo
        const started = place.start(create(path, `http://127.0.0.1:${port}/x.git`))
        await asked
        assert.equal(repositories(place).length, present.length + 1, 'something was begun')
        // To the whole group, as Ctrl-C does.
        killGroup(started.pid, signal)
        const { code, stdout, stderr } = await started.ended
        assert.deepEqual(
          { code, stdout, stderr },
          { code: 1, stdout: '', stderr: 'guildhall: the import was given up; nothing of it was kept\n' },
        )
        assert.deepEqual(repositories(place), present)
        silent.close()
        silent.closeAllConnections()
        assert.equal((await place.run(create(path, source))).code, 0, 'the path is free')
      })

    test('an empty repository can be imported', async () => {
      const bare = join(elsewhere, 'empty.git')
      initRepository(bare)
      const made = await place.json(create('harbour/empty', bare))
      assert.equal(made['default_branch'], 'main')
    })
  })

suite('the demo', () => {
  let place: Place
  let server: Running
  let source: string
  before(async () => {
    place = await openPlace({ LOG_LEVEL: 'warn' })
    source = join(scratch(), 'source.git')
    writeHistory(source, 60, 5)
  })
  after(() => place.clear())

  test('an attempt whose import fails leaves nothing behind', async () => {
    const { code, stderr } = await place.run(['demo', '--import', place.dataDir.replace(/data$/, '')])
    assert.deepEqual([code, /^guildhall: the import failed: .+\n$/.test(stderr)], [1, true], stderr)
    assert.deepEqual(repositories(place), [])
    server = await place.serve()
    const headers = { 'private-token': String(server.told['root_token']) }
    const namespaces = await bodyOf<{ path: string }[]>(await server.get('/api/v4/namespaces', headers))
    assert.deepEqual(
      namespaces.map(({ path }) => path),
      ['root'],
    )
  })

  test('makes a world that can be looked at with the calls it prints', async () => {
    const { code, stdout } = await place.run(['demo', '--import', source])
    assert.equal(code, 0)
    assert.match(stdout, /^Made 3 groups, 3 projects, 3 people\./)
    const [token = ''] = /glpat-[\w-]+/.exec(stdout) ?? []
    const calls = [...stdout.matchAll(/^ {2}curl .*?(http[^' ]+)'?$/gm)].map(([, url = '']) => url)
    assert.equal(calls.length, 3)
    const shown = await Promise.all(
      calls.map(async (url) =>
        bodyOf<Record<string, unknown>[]>(await fetch(url, { headers: { 'private-token': token } })),
      ),
    )
    assert.deepEqual(
      shown.map(
        (list) =>
          new Set(list.map((item) => item['full_path'] ?? item['path_with_namespace'] ?? item['name'])),
      ),
      [
        ['harbour', 'harbour/finance', 'harbour/platform'],
        ['bug', 'feature', 'good first issue', 'security'],
        ['harbour/finance/ledger', 'harbour/platform/gateway', 'harbour/website'],
      ],
    )
    const commits = await server.get(
      '/api/v4/projects/harbour%2Fplatform%2Fgateway/repository/commits?per_page=100',
    )
    assert.deepEqual(
      (await bodyOf<{ id: string }[]>(commits)).map(({ id }) => id),
      gitLines(source, ['rev-list', 'main']),
    )
  })

  test('is made once', async () => {
    const { code, stdout, stderr } = await place.run(['demo', '--json'])
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 1, stdout: '', stderr: 'guildhall: the path harbour is taken: is the demo there already?\n' },
    )
  })
})

test('a worker beside a server does its jobs, outlives its restart and stops in order', async () => {
  const place = await openPlace()
  let server = await place.serve({}, ['--no-worker'])
  await place.json(['group', 'create', '--path', 'harbour'])
  const worker = place.start(['worker', '--json'])
  const jobsDone = (): number => worker.stderr().split('"a job is done"').length - 1
  await until('the worker runs', () => worker.stdout() === '{"worker":"running"}\n')
  await place.json(['project', 'create', '--path', 'harbour/one'])
  await until('the job of the first project is done', () => jobsDone() === 1)
  assert.equal((await server.stop()).code, 0)
  server = await place.serve({}, ['--no-worker'])
  await place.json(['project', 'create', '--path', 'harbour/two'])
  await until('the job of the second project is done', () => jobsDone() === 2)
  assert.ok(!server.stderr().includes('a job is done'), 'the server left the jobs alone')
  worker.child.kill('SIGTERM')
  const { code, stderr } = await worker.ended
  assert.equal(code, 0, stderr)
  await place.clear()
})
