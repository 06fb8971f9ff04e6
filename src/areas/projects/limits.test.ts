import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratch, writeHistory } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { resumeImports } from '../../core/pushes/import_watch.ts'

const at = sharedWorld()
type Body = Record<string, unknown> & { readonly id: number }

const post = async (as: Someone, path: string, body: object): Promise<{ status: number; body: Body }> =>
  (await at().call('POST', path, { as, body })) as { status: number; body: Body }
const history = (): string => {
  const source = join(scratch(), `history-${Math.random()}.git`)
  writeHistory(source, 60, 1)
  return source
}

test('the limit of personal projects holds under concurrency', async () => {
  const { make } = at()
  const source = await make.project({ visibility: 'public', repository: history() })
  const user = await make.user()
  const limit = (most: number): Promise<void> =>
    make.sql(`update users set projects_limit = ${most} where id = ${user.id}`)
  const reached = (text: string): object => ({ message: { limit_reached: [text] } })
  await limit(0)
  const none = await post(user, '/projects', { name: 'none' })
  const NONE = 'You cannot create projects in your personal namespace. Contact your administrator.'
  assert.deepEqual([none.status, none.body], [400, reached(NONE)])
  await limit(2)
  const made = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => post(user, '/projects', { name })))
  assert.deepEqual(
    made.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 201, 400, 400, 400],
  )
  const FULL = "You've reached your limit of 2 projects created. Contact your administrator."
  for (const { status, body } of made) if (status === 400) assert.deepEqual(body, reached(FULL))
  const fork = await post(user, `/projects/${source.id}/fork`, {})
  assert.deepEqual([fork.status, fork.body], [409, reached(FULL)])
  const admin = await make.admin()
  const given = await post(admin, `/projects/user/${user.id}`, { name: 'given' })
  assert.deepEqual([given.status, given.body], [400, reached(FULL)])
  const group = await make.group()
  await make.member(user, 'owner', { group })
  assert.equal((await post(user, '/projects', { name: 'in a group', namespace_id: group.id })).status, 201)
})

test('an import whose job was lost is asked for again, and one that failed for good says so', async () => {
  const { make, opened } = at()
  const admin = await make.admin()
  const { db } = opened.instance
  const url = 'http://127.0.0.1:9/gone.git'
  const local = { allow_local_requests_from_web_hooks_and_services: true }
  await at().call('PUT', '/application/settings', { as: admin, body: local })
  const { id } = (await post(admin, '/projects', { name: 'left', import_url: url })).body
  const job = `fill_repository ${id}`
  const status = async (): Promise<unknown> =>
    ((await at().get(`/projects/${id}`, admin)).body as Body)['import_status']
  assert.equal(await resumeImports(db), 0, 'it waits its turn')
  await make.sql(`
    update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead', attempts = 1 where key = '${job}'`)
  assert.equal(await resumeImports(db), 0, 'its job is taken over when its worker is dead')
  await make.sql(`delete from graphile_worker._private_jobs where key = '${job}'`)
  assert.equal(await resumeImports(db), 1)
  assert.equal(await resumeImports(db), 0)
  await make.sql(`update graphile_worker._private_jobs set attempts = max_attempts where key = '${job}'`)
  assert.equal(await resumeImports(db), 0)
  assert.equal(await status(), 'failed')
})
