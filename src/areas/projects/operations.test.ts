import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Someone } from '../../../test/support/makers.ts'

const at = sharedWorld()
type Body = Record<string, unknown>

async function created(as: Someone, body: object): Promise<Body & { id: number }> {
  const answer = await at().call('POST', '/projects', { as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body & { id: number }
}

test('a project is made in its creator’s own namespace, and read back as it was answered', async () => {
  const user = await at().make.user()
  const project = await created(user, { name: 'Harbour Works', description: 'Cranes & <quays>' })
  assert.equal(project['path_with_namespace'], `${user.username}/harbour-works`)
  assert.deepEqual((await at().get(`/projects/${project.id}`, user)).body, project)
})
