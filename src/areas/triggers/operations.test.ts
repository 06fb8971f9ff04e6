import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { listOf } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let project: Project
let owner: Someone
let other: Someone
before(async () => {
  const { make } = world()
  project = await make.project()
  owner = await make.memberOf('maintainer', { project })
  other = await make.memberOf('maintainer', { project })
})

interface Token {
  readonly id: number
  readonly token: string
  readonly description: string
  readonly updated_at: string
}
const path = (id?: number): string => `/projects/${project.id}/triggers${id === undefined ? '' : `/${id}`}`
const send = (method: 'POST' | 'PUT' | 'DELETE', to: string, as: Someone, body?: object): Promise<Answered> =>
  world().call(method, to, { as, ...(body && { body }) })
async function makeToken(description: string, as = owner): Promise<Token> {
  const answer = await send('POST', path(), as, { description })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Token
}

test('a trigger token has the specified fields and its creator as owner', async () => {
  const made = await makeToken('nightly')
  const { id, token, ...rest } = made as Token & Record<string, unknown>
  assert.match(token, /^glptt-[0-9a-f]{40}$/)
  const { created_at, updated_at, owner: shown, ...plain } = rest
  assert.deepEqual(plain, { description: 'nightly', last_used: null })
  assert.equal(created_at, updated_at)
  assert.equal((shown as { id: number }).id, owner.id)
  assert.deepEqual((await world().get(path(id), owner)).body, made)
})

test('the token is whole for its owner and four characters for other maintainers', async () => {
  const { id, token } = await makeToken('mine')
  const seen = async (as: Someone): Promise<unknown[]> => [
    ((await world().get(path(id), as)).body as Token).token,
    listOf(await world().get(path(), as)).find((one) => one['id'] === id)?.['token'],
  ]
  assert.deepEqual(await seen(owner), [token, token])
  assert.deepEqual(await seen(other), ['glpt', 'glpt'])
  assert.deepEqual(await seen(await world().make.admin()), ['glpt', 'glpt'])
})

test('the database holds no token as text', async () => {
  const { id, token } = await makeToken('secret')
  const { row } = await rowOf<{ row: string }>(
    world(),
    'select row_to_json(t)::text as row from trigger_tokens t where id = $1',
    [id],
  )
  assert.ok(!row.includes(token.slice(6)) && !row.includes(Buffer.from(token).toString('hex')))
})

test('trigger tokens are listed in the order they were made, page by page', async () => {
  await rowsOf(world(), 'delete from trigger_tokens where project_id = $1', [project.id])
  const ids = []
  for (const name of ['c', 'a', 'b']) ids.push((await makeToken(name)).id)
  const page = await world().get(`${path()}?per_page=2&page=2`, owner)
  assert.deepEqual(
    listOf(page).map(({ id }) => id),
    ids.slice(2),
  )
  assert.deepEqual([page.headers['x-total'], page.headers['x-prev-page']], ['3', '1'])
})

test('a token without description is refused, before the role', async () => {
  for (const as of [owner, await world().make.memberOf('developer', { project })]) {
    const answer = await send('POST', path(), as, {})
    assert.deepEqual([answer.status, answer.body], [400, { error: 'description is missing' }])
  }
})

test('only the owner of a token changes it; any maintainer deletes it', async () => {
  const { id } = await makeToken('before')
  const refused = await send('PUT', path(id), other, { description: 'after' })
  assert.deepEqual(
    [refused.status, refused.body],
    [
      403,
      {
        message: '403 Forbidden - The current user is not authorized to update the pipeline trigger token',
      },
    ],
  )
  const changed = await send('PUT', path(id), owner, { description: 'after' })
  assert.deepEqual([changed.status, (changed.body as Token).description], [200, 'after'])
  assert.equal(((await send('PUT', path(id), owner, {})).body as Token).description, 'after')
  assert.equal((await send('DELETE', path(id), other)).status, 204)
  const gone = await world().get(path(id), owner)
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }])
})

test('a developer changes not even the own token', async () => {
  const fallen = await world().make.memberOf('maintainer', { project })
  const { id } = await makeToken('mine', fallen)
  await world().make.member(fallen, 'developer', { project })
  const answer = await send('PUT', path(id), fallen, { description: 'x' })
  assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }])
})

test('a token that changed since If-Unmodified-Since is not deleted', async () => {
  const { id, updated_at } = await makeToken('guarded')
  const since = (offset: number): Record<string, string> => ({
    'if-unmodified-since': new Date(Date.parse(updated_at) + offset).toUTCString(),
  })
  const remove = async (offset: number): Promise<number> =>
    (await world().call('DELETE', path(id), { as: owner, headers: since(offset) })).status
  assert.deepEqual([await remove(-5_000), await remove(0)], [412, 204])
})

test('a negative id is a token that is not there', async () => {
  assert.equal((await world().get(path(-5), owner)).status, 404)
})
