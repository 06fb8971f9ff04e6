import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../support/merge_makers.ts'
import { rowsOf } from '../support/rows.ts'
import { sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

// Conditional writes of records whose representation comes from git. In tests git fails inside a transaction.

let shop: Workshop
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
})

async function tagOf(path: string): Promise<string> {
  const answer = await world().get(path, shop.owner)
  assert.equal(answer.status, 200, answer.text)
  return String(answer.headers['etag'])
}
const write = (method: 'PUT' | 'DELETE', path: string, tag: string, body?: object): Promise<Answered> =>
  world().call(method, path, { as: shop.owner, headers: { 'if-match': tag }, ...(body && { body }) })
const made = async (path: string, body: object): Promise<number> => {
  const answer = await world().call('POST', path, { as: shop.owner, body })
  assert.equal(answer.status, 201, answer.text)
  return (answer.body as { id: number }).id
}

test('conditional writes read git outside their transaction', async () => {
  const at = `/projects/${shop.project.id}`
  await shop.commit('fresh', { new: 'a\n' })
  const request = `${at}/merge_requests/${await shop.open('fresh')}`
  const urls = { link_url: 'https://x.example/%{commit_sha}', image_url: 'https://x.example/b' }
  const records: [path: string, change: object][] = [
    [`${at}/badges/${await made(`${at}/badges`, urls)}`, { name: 'New' }],
    [`${request}/notes/${await made(`${request}/notes`, { body: 'Said' })}`, { body: 'Changed' }],
    [request, { title: 'Changed' }],
    [at, { description: 'Changed' }],
  ]
  for (const [path, change] of records) {
    const first = await tagOf(path)
    const changed = await write('PUT', path, first, change)
    assert.equal(changed.status, 200, `${path} ${changed.text}`)
    for (const method of ['PUT', 'DELETE'] as const)
      assert.equal(
        (await write(method, path, first, method === 'PUT' ? change : undefined)).status,
        412,
        path,
      )
    const removed = await write('DELETE', path, await tagOf(path))
    assert.ok([202, 204].includes(removed.status), `${path} ${removed.text}`)
  }
})

test('a record that changes between its comparison and its transaction is not written over', async () => {
  const project = await world().make.project({ visibility: 'public' })
  await world().make.member(shop.owner, 'owner', { project })
  const badges = `/projects/${project.id}/badges`
  const path = `${badges}/${await made(badges, { link_url: 'https://x.example/a', image_url: 'https://x.example/b' })}`
  const tag = await tagOf(path)
  const writes = await Promise.all(
    Array.from({ length: 8 }, (_, index) => write('PUT', path, tag, { name: `Name ${index}` })),
  )
  const taken = writes.filter(({ status }) => status === 200)
  assert.equal(taken.length, 1, JSON.stringify(writes.map(({ status }) => status)))
  assert.ok(writes.every(({ status }) => status === 200 || status === 412))
  const [row] = await rowsOf(world(), 'select name from badges where project_id = $1', [project.id])
  const [winner] = taken
  assert.ok(winner)
  assert.equal((winner.body as { name: string }).name, row?.['name'])
})
