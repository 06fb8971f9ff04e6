import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()
const create = (as: Someone, body: object): Promise<Answered> =>
  world().call('POST', '/user/runners', { as, body })

test('a runner is created by who manages its place, and its token is verified', async () => {
  const { make } = world()
  const group = await make.group()
  const project = await make.project({ group })
  const [owner, maintainer, admin] = [
    await make.memberOf('owner', { group }),
    await make.memberOf('maintainer', { project }),
    await make.admin(),
  ]
  const rows: [Someone, object, number][] = [
    [admin, { runner_type: 'instance_type' }, 201],
    [owner, { runner_type: 'instance_type' }, 403],
    [owner, { runner_type: 'group_type', group_id: group.id }, 201],
    [maintainer, { runner_type: 'group_type', group_id: group.id }, 403],
    [maintainer, { runner_type: 'project_type', project_id: project.id }, 201],
    [maintainer, { runner_type: 'project_type', project_id: 987654321 }, 403],
    [maintainer, { runner_type: 'project_type' }, 400],
    [owner, { runner_type: 'group_type' }, 400],
  ]
  for (const [as, body, status] of rows) {
    const answer = await create(as, { ...body, tag_list: ['b', 'a', 'b'] })
    assert.equal(answer.status, status, JSON.stringify(body))
    if (status !== 201) continue
    const { id, token, token_expires_at } = answer.body as {
      id: number
      token: string
      token_expires_at: null
    }
    assert.match(token, /^glrt-/)
    assert.equal(token_expires_at, null)
    const row = await rowOf<{ tag_list: string[] }>(
      world(),
      'select tag_list from ci_runners where id = $1',
      [id],
    )
    assert.deepEqual(row.tag_list, ['a', 'b'])
    const verified = await world().call('POST', '/runners/verify', { body: { token } })
    assert.deepEqual(verified.body, { id, token, token_expires_at: null })
  }
})

test('a runner without tags must take untagged jobs', async () => {
  const admin = await world().make.admin()
  const answer = await create(admin, { runner_type: 'instance_type', run_untagged: false })
  assert.deepEqual(
    [answer.status, answer.body],
    [400, { message: { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] } }],
  )
})

test('a token with the scope create_runner is enough', async () => {
  const admin = await world().make.admin()
  const token = await world().make.token(admin, { scopes: ['create_runner'] })
  assert.equal((await create({ ...admin, token }, { runner_type: 'instance_type' })).status, 201)
})
