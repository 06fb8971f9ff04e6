import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { initRepository, openTestGit, scratch, writeProgram } from '../../../test/support/git_fixtures.ts'
import { Serving } from './serving.ts'

const root = scratch()
const called = join(root, 'called')
const program = writeProgram(root, 'git', `echo . >> ${called}; exec git "$@"`)
const serving = new Serving(openTestGit(root, { gitBinary: program }).spawner)
const calls = (): number => (existsSync(called) ? readFileSync(called, 'utf8').split('\n').length - 1 : 0)

const [one, other] = ['one.git', 'other.git'].map((name) => join(root, name)) as [string, string]
for (const path of [one, other]) initRepository(path)

test('the capabilities of version 2 are read from git once', async () => {
  const first = await serving.advertise(one, 'upload-pack', 2)
  assert.match(first.toString(), /^001e# service=git-upload-pack\n0000000eversion 2\n/)
  assert.match(first.toString(), /fetch=shallow[a-z -]* filter/)
  assert.equal(calls(), 1)
  assert.deepEqual(await serving.advertise(other, 'upload-pack', 2), first)
  assert.equal(calls(), 1)
})

test('it is asked anew for a repository that is configured otherwise', async () => {
  const before = calls()
  appendFileSync(join(other, 'config'), '[uploadpack]\n\tallowRefInWant = true\n')
  assert.match((await serving.advertise(other, 'upload-pack', 2)).toString(), /ref-in-want/)
  assert.doesNotMatch((await serving.advertise(one, 'upload-pack', 2)).toString(), /ref-in-want/)
  assert.equal(calls(), before + 1)
})

test('ref advertisements are read for each request', async () => {
  const before = calls()
  for (const version of [0, 1] as const) await serving.advertise(one, 'upload-pack', version)
  for (const version of [0, 2] as const) {
    const text = (await serving.advertise(one, 'receive-pack', version)).toString()
    assert.match(text, /report-status-v2 .*atomic .*push-options/)
  }
  assert.equal(calls(), before + 4)
})

test('where there is no repository nothing is offered', async () => {
  const before = calls()
  await assert.rejects(serving.advertise(join(root, 'none.git'), 'upload-pack', 2), { code: 'ENOENT' })
  assert.equal(calls(), before)
})
