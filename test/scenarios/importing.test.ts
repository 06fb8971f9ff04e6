/* Projects from repositories, by the real program, alone and beside a running server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { gitText, initRepository, scratch, writeHistory } from '../support/git_fixtures.ts'
import { killGroup, openReadyPlace, type Place } from '../support/program.ts'

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
      place = await openReadyPlace({ LOG_LEVEL: 'warn' })
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
      const local = await place.run(create('harbour/broken', 'http://u:secret@127.0.0.1:1/x.git'))
      assert.deepEqual(
        [local.code, local.stderr],
        [
          1,
          'guildhall: the import failed: 127.0.0.1 is a private address, and the setting ' +
            'allow_local_requests_from_web_hooks_and_services is off\n',
        ],
      )
      await place.json(['setting', 'set', 'allow_local_requests_from_web_hooks_and_services', 'true'])
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
