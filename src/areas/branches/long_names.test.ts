import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { writeSmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Project } from '../../db/schema/tables.ts'

let owner: Someone
let project: Project
const world = sharedWorld(async ({ make }) => {
  project = await make.project({ visibility: 'public', repository: writeSmallHistory().directory })
  owner = await make.memberOf('owner', { project })
})
const actions = [{ action: 'create', file_path: 'new', content: '' }]
const below = (path: string): string => `/projects/${project.id}/repository/${path}`
const post = async (path: string, body: Record<string, unknown>): Promise<[number, unknown]> => {
  const answer = await world().call('POST', below(path), { as: owner, body })
  return [answer.status, answer.body]
}

for (const size of [251, 255, 256])
  test(`a ref name with a part of ${size} bytes is refused as an invalid one`, async () => {
    for (const name of ['n'.repeat(size), `n/${'n'.repeat(size)}/n`]) {
      assert.deepEqual(await post('branches', { branch: name, ref: 'main' }), [
        400,
        { message: 'Branch name is invalid' },
      ])
      assert.deepEqual(await post('tags', { tag_name: name, ref: 'main' }), [
        400,
        { message: 'Tag name invalid' },
      ])
      assert.deepEqual(
        await post('commits', { branch: name, start_branch: 'main', commit_message: 'x', actions }),
        [
          400,
          {
            message: `Something went wrong when we tried to create '${name}' for you: Branch name is invalid`,
          },
        ],
      )
      const reads = [`branches/${encodeURIComponent(name)}`, `tags/${encodeURIComponent(name)}`]
      for (const [at, status] of [400, 404].entries())
        assert.equal((await world().get(below(reads[at] ?? ''))).status, status)
      for (const path of [`commits?ref_name=${name}`, `tree?ref=${name}`, `files/README?ref=${name}`])
        assert.ok([200, 404].includes((await world().get(below(path))).status), path)
    }
  })

test('a branch whose name has a part of 250 bytes is made and read', async () => {
  const name = 'n'.repeat(250)
  assert.equal((await post('branches', { branch: name, ref: 'main' }))[0], 201)
  assert.equal((await world().get(below(`branches/${name}`))).status, 200)
})
