import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { sharedWorld } from '../support/stand.ts'

// A number tells of what is hidden as well as a list does.

const at = sharedWorld()

test('issues that are for members alone are counted for nobody else', async () => {
  const { make, call, get } = at()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const owner = await make.memberOf('owner', { group })
  const stranger = await make.user()
  await call('POST', `/groups/${group.id}/labels`, { as: owner, body: { name: 'leak', color: '#111111' } })
  const body = { title: 'one', labels: 'leak' }
  assert.equal((await call('POST', `/projects/${project.id}/issues`, { as: owner, body })).status, 201)
  const shut = { issues_access_level: 'private' }
  assert.equal((await call('PUT', `/projects/${project.id}`, { as: owner, body: shut })).status, 200)

  const counts = async (as: Someone): Promise<unknown[]> => {
    const count = async (path: string): Promise<unknown> => {
      const { body } = await get(path, as)
      const row = (Array.isArray(body) ? body[0] : body) as { open_issues_count?: number }
      return row.open_issues_count
    }
    return [
      await count(`/projects/${project.id}`),
      await count(`/projects?search=${project.path}`),
      await count(`/projects/${project.id}/labels?with_counts=true`),
      await count(`/projects/${project.id}/labels/leak`),
      await count(`/groups/${group.id}/labels?with_counts=true`),
      await count(`/groups/${group.id}/labels/leak`),
    ]
  }
  assert.deepEqual(await counts(owner), [1, 1, 1, 1, 1, 1])
  assert.deepEqual(await counts(stranger), [undefined, undefined, 0, 0, 0, 0])
  const listed = (await get(`/groups/${group.id}/projects`, stranger)).body as object[]
  assert.deepEqual(
    listed.map((row) => 'open_issues_count' in row),
    [false],
  )
})

test('merge requests are counted for those alone who may read the code', async () => {
  const { make, call, get } = at()
  const group = await make.group({ visibility: 'private' })
  const project = await make.project({ group })
  const owner = await make.memberOf('owner', { group })
  const guest = await make.memberOf('guest', { group })
  await call('POST', `/groups/${group.id}/labels`, { as: owner, body: { name: 'leak', color: '#111111' } })
  await make.sql(`
    with m as (
      insert into merge_requests (project_id, iid, title, source_project_id, source_branch, target_branch)
      values (${project.id}, 1, 'one', ${project.id}, 'a', 'main') returning id)
    insert into label_links (label_id, noteable_id) select l.id, m.id from m, labels l where l.group_id = ${group.id}`)
  const counts = async (as: Someone): Promise<unknown[]> => {
    const found = [`/projects/${project.id}/labels?with_counts=true`, `/groups/${group.id}/labels`]
    const rows = await Promise.all(found.map((path) => get(path, as)))
    return rows.map(
      ({ body }) => (body as { open_merge_requests_count: number }[])[0]?.open_merge_requests_count,
    )
  }
  assert.deepEqual(await counts(owner), [1, 1])
  assert.deepEqual(await counts(guest), [0, 0])
})
