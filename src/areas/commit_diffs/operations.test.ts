import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let project: Project
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  project = await make.project({ visibility: 'public', repository: history.directory })
})
const get = (rev: string, query = '', of = project): Promise<Answered> =>
  world().get(`/projects/${of.id}/repository/commits/${encodeURIComponent(rev)}/diff${query}`)

const DIFF = {
  diff: '@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n',
  collapsed: false,
  too_large: false,
  new_path: 'src/a.ts',
  old_path: 'src/a.ts',
  a_mode: '100644',
  b_mode: '100644',
  new_file: false,
  renamed_file: false,
  deleted_file: false,
  generated_file: false,
}

test('the diffs of a commit are listed file by file', async () => {
  const { sha } = history
  const answer = await get(sha.change)
  assert.deepEqual([answer.status, answer.body], [200, [DIFF]])
  assert.deepEqual((await get('v1.0', '?unidiff=true')).body, [
    { ...DIFF, diff: `--- a/src/a.ts\n+++ b/src/a.ts\n${DIFF.diff}` },
  ])
  assert.deepEqual((await get(sha.root, '?unidiff=1')).body, [
    {
      ...DIFF,
      diff: '--- /dev/null\n+++ b/README\n@@ -0,0 +1,2 @@\n+one\n+two\n',
      new_path: 'README',
      old_path: 'README',
      a_mode: '0',
      new_file: true,
    },
  ])
  assert.deepEqual((await get('main')).body, [], 'an empty commit')
})

test('a merge is compared with its first parent, and files come by pages', async () => {
  const all = await get(history.sha.merge)
  const paths = (answer: Answered): string[] =>
    (answer.body as { new_path: string }[]).map((one) => one.new_path)
  assert.deepEqual(paths(all), ['README', 'docs/ümläut.md'])
  const page = await get(history.sha.merge, '?per_page=1&page=2')
  assert.deepEqual(paths(page), ['docs/ümläut.md'])
  assert.deepEqual([page.headers['x-total'], page.headers['x-prev-page']], ['2', '1'])
  assert.deepEqual(paths(await get(history.sha.merge, '?page=3')), [])
})

test('it takes what it takes to read the code', async () => {
  const { make } = world()
  const hidden = await make.project({ visibility: 'private', repository: history.directory })
  const rows: [RoleName, number][] = [
    ['guest', 403],
    ['planner', 403],
    ['reporter', 200],
    ['developer', 200],
  ]
  for (const [role, status] of rows) {
    const as = await make.memberOf(role, { project: hidden })
    for (const what of ['diff', 'comments', 'statuses'])
      assert.equal(
        (await world().get(`/projects/${hidden.id}/repository/commits/main/${what}`, as)).status,
        status,
      )
  }
  assert.deepEqual((await get('main', '', hidden)).body, { message: '404 Project Not Found' })
  assert.deepEqual((await get('gone')).body, { message: '404 Commit Not Found' })
  const empty = await make.project({ visibility: 'public', repository: 'empty' })
  assert.deepEqual((await get('main', '', empty)).body, { message: '404 Commit Not Found' })
})

test('a commit that nobody signed has no signature, and an unknown one is no commit', async () => {
  const signature = (rev: string): Promise<Answered> =>
    world().get(`/projects/${project.id}/repository/commits/${rev}/signature`)
  const answer = await signature('main')
  assert.deepEqual([answer.status, answer.body], [404, { message: '404 Signature Not Found' }])
  assert.deepEqual((await signature('gone')).body, { message: '404 Commit Not Found' })
})
