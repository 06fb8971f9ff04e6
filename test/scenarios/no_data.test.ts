/* Commands where there is no data, servers without git, and the address that commands print. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { databaseProcesses, openPlace, openReadyPlace, type Place } from '../support/program.ts'

let empty: Place
let place: Place
before(async () => {
  empty = await openPlace()
  place = await openReadyPlace()
})
after(() => Promise.all([empty.clear(), place.clear()]))

test('a command where there is no data says so, and makes none', async () => {
  for (const args of [
    ['user', 'create', '--username', 'mira', '--name', 'Mira', '--email', 'mira@example.com'],
    ['feature', 'list'],
    ['worker'],
  ]) {
    const { code, stdout, stderr } = await empty.run(args)
    assert.deepEqual(
      [code, stdout, stderr],
      [
        1,
        '',
        `guildhall: there is no data in ${empty.dataDir}: set GUILDHALL_DATA_DIR to the server's, or begin with bin/guildhall serve\n`,
      ],
    )
    assert.equal(existsSync(empty.dataDir), false)
  }
})

test('a server without git, or with one that is too old, says so and does not start', async () => {
  const none = await empty.run(['serve'], { PATH: '/nonexistent' })
  assert.deepEqual(
    [none.code, none.stderr],
    [1, 'guildhall: git 2.38 or newer is needed: there is none in PATH (/nonexistent)\n'],
  )
  const old = join(place.dataDir, '..', 'old')
  mkdirSync(old)
  writeFileSync(join(old, 'git'), '#!/bin/sh\necho git version 2.37.9\n')
  chmodSync(join(old, 'git'), 0o755)
  const { code, stderr } = await empty.run(['serve'], { PATH: old })
  assert.deepEqual(
    [code, stderr],
    [1, 'guildhall: git 2.38 or newer is needed: the one in PATH is git version 2.37.9\n'],
  )
  assert.equal(existsSync(empty.dataDir), false)
})

test('commands print the address of the running server, and SIGHUP stops it in order', async () => {
  const server = await place.serve({ GUILDHALL_URL: 'https://git.example.com' })
  const invited = place.run(['demo'], { GUILDHALL_PORT: '8080' })
  assert.match((await invited).stdout, /https:\/\/git\.example\.com/)
  assert.doesNotMatch((await invited).stdout, /localhost/)
  server.child.kill('SIGHUP')
  const { code, signal } = await server.ended
  assert.deepEqual([code, signal], [0, null])
  assert.deepEqual(databaseProcesses(place.dataDir), [])
  assert.deepEqual(
    readdirSync(place.dataDir).filter((name) => name === 'address'),
    [],
  )
})
