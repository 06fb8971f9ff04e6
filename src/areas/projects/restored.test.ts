/* A database that was restored from before some projects were made, beside the repositories of these. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import { createEmpty } from '../../git/create.ts'

const at = sharedWorld()

test('a new project passes over the repositories of projects that the restored database does not know', async () => {
  const { make, opened, call } = at()
  const user = await make.user()
  const { git } = opened.instance
  const source = await call('POST', '/projects', {
    as: user,
    body: { name: 'source', initialize_with_readme: true },
  })
  const known = (source.body as { id: number }).id
  const left = [1, 2, 4].map((more) => known + more)
  for (const id of left) await createEmpty(git, repositoryPath(id), 'secret')
  const made = await call('POST', '/projects', { as: user, body: { name: 'made' } })
  assert.equal(made.status, 201, made.text)
  const fork = await call('POST', `/projects/${known}/fork`, {
    as: user,
    body: { path: 'fork', name: 'fork' },
  })
  assert.equal(fork.status, 201, fork.text)
  const ids = [made, fork].map(({ body }) => (body as { id: number }).id)
  assert.deepEqual(ids, [known + 3, known + 5])
  assert.deepEqual(await rowsOf(at(), 'select from projects where id = any($1)', [left]), [])
})
