import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SCOPES, type Scope } from '../../src/access/tokens.ts'
import { operations } from '../../src/areas/index.ts'
import type { Namespace, Project } from '../../src/db/schema/tables.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import type { Someone } from '../support/makers.ts'
import { contents, makeLabel, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

let admin: Someone
let owner: Someone
let group: Namespace
let project: Project
let label: { id: number }
const tokens = new Map<string, string>()

const world = sharedWorld(async (here) => {
  const { make } = here
  admin = await make.admin()
  group = await make.group()
  project = await make.project({ group, repository: 'empty' })
  owner = await make.memberOf('owner', { group })
  label = await makeLabel(here, group, owner)
  for (const scope of SCOPES) tokens.set(scope, await make.token(admin, { scopes: [scope] }))
  tokens.set(
    'all but api',
    await make.token(admin, { scopes: SCOPES.filter((scope) => !scope.endsWith('api')) }),
  )
})

const refusalOf = ({ scopes = [] }: Pick<NamedOperation, 'scopes'>): object => ({
  error: 'insufficient_scope',
  error_description: 'The request requires higher privileges than provided by the access token.',
  scope: [...new Set(['api', 'read_api', ...scopes])].join(' '),
})
const insufficient = refusalOf({})
/** Whether a token with these scopes gets past the look at its scopes. */
const opens = ({ scopes = [] }: NamedOperation, held: readonly string[]): boolean =>
  held.some((scope) => scopes.includes(scope))
const addressOf = (path: string): string =>
  path
    .replace('/projects/:id', `/projects/${project.id}`)
    .replace(':id', String(group.id))
    .replace(':label_id', String(label.id))
    .replaceAll(/:\w+/g, 'x')
const call = (op: Pick<NamedOperation, 'method' | 'path'>, token: string, body?: object): Promise<Answered> =>
  world().call(op.method, addressOf(op.path), {
    headers: { 'private-token': token },
    ...(body && { body }),
  })
const tokenOf = (scope: string): string => tokens.get(scope) ?? ''

suite('operations whose credential is a parameter', () => {
  for (const op of operations.filter(({ ownToken }) => ownToken))
    test(`${op.name} is 403 without that credential, for an administrator’s token of scope api too`, async () => {
      const before = await contents(world())
      const answer = await call(op, tokenOf('api'), { token: tokenOf('api') })
      assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }])
      assert.deepEqual(await contents(world()), before)
    })
})

suite('tokens that may only read', () => {
  // The routes are many and the check was forgotten on one. These read no token of a user.
  const reads = ({ inbound, ownToken }: NamedOperation): boolean => inbound === undefined && !ownToken
  for (const op of operations.filter((one) => one.method !== 'GET' && reads(one)))
    test(`AUTH-01: ${op.name} is 403 for an administrator’s token of scope read_api`, async () => {
      const before = await contents(world())
      const most = SCOPES.filter((scope) => !scope.endsWith('api'))
      for (const [held, token] of [
        [['read_api'], tokenOf('read_api')],
        [['read_repository'], tokenOf('read_repository')],
        [most, tokenOf('all but api')],
      ] as const) {
        if (opens(op, held)) continue
        const answer = await call(op, token, {
          name: 'x',
          color: 'red',
          new_name: 'y',
          plan_name: 'default',
          project_id: project.id,
        })
        assert.deepEqual([answer.status, answer.body], [403, refusalOf(op)])
      }
      assert.equal(await contents(world()), before)
    })
  for (const op of operations.filter(({ method }) => method === 'GET'))
    test(`AUTH-01: ${op.name} is open to scope read_api, and to no lesser one`, async () => {
      const full = await call(op, tokenOf('api'))
      const reading = await call(op, tokenOf('read_api'))
      assert.equal(reading.status, full.status)
      if (op.name !== 'getPresentedToken') assert.equal(reading.text, full.text)
      for (const scope of SCOPES.filter(
        (one): one is Exclude<Scope, 'api' | 'read_api'> => !one.endsWith('api'),
      )) {
        if (opens(op, [scope])) continue
        const answer = await call(op, tokenOf(scope))
        assert.deepEqual([answer.status, answer.body], [403, refusalOf(op)], scope)
      }
    })

  // A verb that reads, with a name that a list of reading verbs forgot.
  test('AUTH-01: HEAD counts as reading', async () => {
    const headers = { 'private-token': tokenOf('read_api') }
    assert.equal((await world().call('HEAD', '/groups', { headers })).status, 200)
  })

  // The scope is looked at before anything the request names.
  test('AUTH-01: a small scope learns nothing of what exists', async () => {
    const headers = { 'private-token': tokenOf('read_user') }
    for (const path of [`/groups/${group.id}`, '/groups/9999999', '/groups?page=x', '/project_aliases/none'])
      assert.deepEqual((await world().call('GET', path, { headers })).body, insufficient, path)
  })
  test('AUTH-01: a token’s scope is read_api under sudo too', async () => {
    const token = await world().make.token(admin, { scopes: ['read_api', 'sudo'] })
    const headers = { 'private-token': token, sudo: String(owner.id) }
    const path = `/groups/${group.id}/labels`
    assert.equal((await world().call('GET', path, { headers })).status, 200)
    const write = await world().call('POST', path, { headers, body: { name: 'x', color: 'red' } })
    assert.deepEqual([write.status, write.body], [403, insufficient])
  })
})

suite('operations of administrators', () => {
  const closed = [
    'listProjectAliases',
    'getProjectAlias',
    'createProjectAlias',
    'deleteProjectAlias',
    'getPlanLimits',
    'updatePlanLimits',
  ]

  // Owning all groups there are is not running the instance.
  for (const name of closed)
    test(`AUTH-10: ${name} is 403 for the owner of everything`, async () => {
      const op = operations.find((one) => one.name === name)
      if (op === undefined) throw new Error(`there is no ${name}`)
      const before = await contents(world())
      const body = { name: 'alias', project_id: project.id, plan_name: 'default', dotenv_size: 1 }
      for (const sent of op.method === 'GET' ? [undefined] : [undefined, body]) {
        const answer = await call(op, owner.token, sent)
        assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }])
      }
      assert.equal(await contents(world()), before)
    })

  // Fields for administrators are left out silently for others.
  test('AUTH-10: administrators’ parameters have no effect for others', async () => {
    for (const path of [`/groups/${group.id}`, '/groups']) {
      const wished = await world().get(
        `${path}?statistics=true&with_custom_attributes=true&repository_storage=none`,
        owner,
      )
      const plain = await world().get(path, owner)
      assert.equal(wished.text, plain.text, path)
    }
  })
})
