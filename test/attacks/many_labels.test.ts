import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeEpic, makeIssue, makeMergeRequest } from '../support/noteables.ts'
import { rowsOf } from '../support/rows.ts'
import { sharedWorld } from '../support/stand.ts'

const at = sharedWorld()

test('a text creates a bounded number of labels', async () => {
  const { make, call } = at()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public', repository: 'empty' })
  const owner = await make.memberOf('owner', { group })
  const epic = await makeEpic(at(), group)
  const paths = [
    (await makeIssue(at(), project)).path,
    (await makeMergeRequest(at(), project)).path,
    `/groups/${group.id}/epics/${epic.iid}`,
  ]
  const many = Array.from({ length: 101 }, (_, i) => `l${i}`)
  for (const path of paths)
    for (const name of ['labels', 'add_labels'])
      for (const titles of [
        many.join(','),
        many,
        [many.slice(0, 60).join(','), many.slice(60).join(',')],
        'abc,'.repeat(40_000),
      ]) {
        const { status, body } = await call('PUT', path, { as: owner, body: { [name]: titles } })
        assert.deepEqual([status, body], [400, { error: `${name} is invalid` }], path)
      }
  assert.deepEqual(await rowsOf(at(), 'select title from labels'), [])
  for (const path of paths)
    assert.equal((await call('PUT', path, { as: owner, body: { labels: many.slice(1) } })).status, 200, path)
})
