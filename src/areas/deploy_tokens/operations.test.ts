import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { pick } from '../../../test/support/shares.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let [group, project, owner, admin] = [] as unknown as [Namespace, Project, Someone, Someone]
before(async () => {
  const { make } = world()
  group = await make.group()
  project = await make.project({ group })
  owner = await make.memberOf('owner', { group })
  admin = await make.admin()
})

interface Token {
  readonly id: number
  readonly token: string
}
const paths = (): string[] => [`/projects/${project.id}/deploy_tokens`, `/groups/${group.id}/deploy_tokens`]
const post = (path: string, body: object) => world().call('POST', path, { as: owner, body })

test('a deploy token is shown once, is named by its id and has the published fields', async () => {
  for (const path of paths()) {
    const made = await post(path, { name: 'ci', scopes: ['read_repository', 'read_package_registry'] })
    const { token, ...record } = made.body as Token
    assert.match(token, /^gldt-[\w-]{32}$/)
    assert.deepEqual(
      [made.status, record],
      [
        201,
        {
          id: record.id,
          name: 'ci',
          username: `gitlab+deploy-token-${record.id}`,
          expires_at: null,
          scopes: ['read_repository', 'read_package_registry'],
          revoked: false,
          expired: false,
        },
      ],
    )
    assert.deepEqual((await world().get(`${path}/${record.id}`, owner)).body, record)
    assert.equal((await world().call('DELETE', `${path}/${record.id}`, { as: owner })).status, 204)
    const gone = await world().get(`${path}/${record.id}`, owner)
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }])
  }
})

test('lists are by id in pages; active tokens are neither revoked nor expired', async () => {
  for (const path of paths()) {
    const make = async (more: object = {}): Promise<Token> =>
      (await post(path, { name: 'one', scopes: ['read_repository'], ...more })).body as Token
    const lasting = await make({ expires_at: '2099-01-02T03:04:05Z', username: 'a.b+c_d-1' })
    const expired = await make({ expires_at: '2001-01-01T00:00:00.000Z' })
    const revoked = await make()
    assert.equal(
      (await world().call('DELETE', '/admin/token', { as: admin, body: { token: revoked.token } })).status,
      204,
    )
    const list = await world().get(path, owner)
    assert.deepEqual(pick(list, 'id'), [lasting.id, expired.id, revoked.id])
    assert.deepEqual(pick(list, 'expired'), [false, true, false])
    assert.deepEqual(pick(list, 'revoked'), [false, false, true])
    assert.deepEqual(pick(list, 'expires_at').slice(0, 2), [
      '2099-01-02T03:04:05.000Z',
      '2001-01-01T00:00:00.000Z',
    ])
    assert.deepEqual(pick(await world().get(`${path}?active=true`, owner), 'id'), [lasting.id])
    assert.deepEqual(pick(await world().get(`${path}?active=false&per_page=1`, owner), 'id'), [expired.id])
    const all = pick(await world().get('/deploy_tokens?per_page=100&active=true', admin), 'id')
    assert.deepEqual([all.includes(lasting.id), all.includes(revoked.id)], [true, false])
  }
})

test('bad scopes, names, users and ids are refused, and nothing is kept', async () => {
  const before = await contents(world())
  const good = { name: 'one', scopes: ['read_repository'] }
  const cases = [
    [{ scopes: ['read_repository'] }, { error: 'name is missing' }],
    [{ name: 'one' }, { error: 'scopes is missing' }],
    [{ ...good, scopes: ['api'] }, { error: 'scopes does not have a valid value' }],
    [{ ...good, scopes: [] }, { message: { base: ["Scopes can't be blank"] } }],
    [
      { ...good, username: 'a:b' },
      { message: { username: ["can contain only letters, digits, '_', '-', '+', and '.'"] } },
    ],
    [{ ...good, expires_at: 'soon' }, { error: 'expires_at is invalid' }],
  ] as const
  for (const path of paths()) {
    for (const [body, refusal] of cases) {
      const answer = await post(path, body)
      assert.deepEqual([answer.status, answer.body], [400, refusal])
    }
    const bad = await world().get(`${path}/one`, owner)
    assert.deepEqual([bad.status, bad.body], [400, { error: 'token_id is invalid' }])
  }
  assert.equal(await contents(world()), before)
})
