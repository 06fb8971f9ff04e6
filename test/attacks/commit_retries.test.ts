import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertSound, openCode, post, type Code } from '../support/code.ts'
import { gitText } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'

// COM-29. A caller that never heard the answer asks again under the same key, and must not commit twice.

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

const tip = (): string => gitText(code.directory, ['rev-parse', 'main']).trim()
const behind = (): string => gitText(code.directory, ['rev-parse', 'main~1']).trim()
async function commit(key: string, as: Someone = code.maintainer, file = key): Promise<string> {
  const actions = [{ action: 'create', file_path: `retry-${file}`, content: 'x' }]
  const body = { branch: 'main', commit_message: 'm', actions }
  const answer = await post(code, as, body, { 'idempotency-key': key })
  assert.equal(answer.status, 201, answer.text)
  return (answer.body as { id: string }).id
}

test('COM-29: the same key answers the same commit, one after another and all at once', async () => {
  const before = tip()
  const first = await commit('one')
  assert.equal(await commit('one'), first)
  const many = await Promise.all(Array.from({ length: 10 }, () => commit('two')))
  assert.equal(new Set(many).size, 1)
  assert.deepEqual([behind(), tip()], [first, many[0]])
  assert.equal(gitText(code.directory, ['rev-list', '--count', `${before}..main`]).trim(), '2')
  assertSound(code.directory)
})

test('COM-29: a key whose commit was written and never became the tip stands for nothing', async () => {
  const [before, lost] = [tip(), 'f'.repeat(40)]
  await rowsOf(
    code.world,
    `insert into commit_keys (project_id, user_id, key, branch, sha) values ($1, $2, 'killed', 'main', $3)`,
    [code.project.id, code.maintainer.id, lost],
  )
  const made = await commit('killed')
  assert.deepEqual([behind(), tip()], [before, made])
  assert.equal(await commit('killed'), made)
})

test("COM-29: another's key, another key and a key of yesterday are others", async () => {
  const mine = await commit('mine')
  const other = await code.world.make.memberOf('maintainer', { project: code.project })
  assert.notEqual(await commit('mine', other, 'other'), mine)
  await rowsOf(
    code.world,
    `update commit_keys set created_at = now() - interval '25 hours' where key = 'mine'`,
  )
  await rowsOf(
    code.world,
    `update idempotency_keys set created_at = now() - interval '25 hours' where key = 'mine'`,
  )
  assert.notEqual(await commit('mine', code.maintainer, 'later'), mine)
})

// COM-22. What no ref holds any more is found by its full hash, by whoever may read the code, and by nobody else.
test('COM-22: a commit of a deleted branch is hidden from whoever may not read the code', async () => {
  const { world, project, maintainer } = code
  const sha = await commit('branch')
  await rowsOf(world, 'delete from protected_branches where project_id = $1', [project.id])
  gitText(code.directory, ['update-ref', 'refs/heads/main', `${sha}~1`])
  const path = `/projects/${project.id}/repository/commits/${sha}`
  const status = async (as?: Someone): Promise<number> => (await world.get(path, as)).status
  assert.equal(await status(maintainer), 200)
  assert.equal(await status(await world.make.memberOf('guest', { project })), 403)
  assert.equal(await status(await world.make.user()), 404)
  assert.equal(await status(), 404)
})
