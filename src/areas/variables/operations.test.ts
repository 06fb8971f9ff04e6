import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { matchesScope, variablesFor } from '../../ci/creation/variables.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { pick } from '../../../test/support/shares.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

let top: Namespace
let group: Namespace
let project: Project
let owner: Someone
let admin: Someone
before(async () => {
  const { make } = world()
  top = await make.group()
  group = await make.group({ parent: top })
  project = await make.project({ group })
  owner = await make.memberOf('owner', { group: top })
  admin = await make.user({ admin: true })
})

type Where = 'project' | 'group' | 'top' | 'instance'
const pathOf = (where: Where, key?: string): string => {
  const paths = {
    project: `/projects/${project.id}/variables`,
    group: `/groups/${group.id}/variables`,
    top: `/groups/${top.id}/variables`,
    instance: '/admin/ci/variables',
  }
  return key === undefined ? paths[where] : `${paths[where]}/${key}`
}
type Query = Record<string, string>
const send = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  { body, query }: { body?: object; query?: Query } = {},
): Promise<Answered> =>
  world().call(method, path, {
    as: path.startsWith('/admin') ? admin : owner,
    ...(body && { body }),
    ...(query && { query }),
  })
const add = async (where: Where, body: object): Promise<void> => {
  const answer = await send('POST', pathOf(where), { body })
  assert.equal(answer.status, 201, answer.text)
}
const clear = (): Promise<unknown> => world().make.sql('delete from ci_variables')

test('a variable has its published fields and defaults, and its value lies sealed', async () => {
  await clear()
  const created = await send('POST', pathOf('project'), { body: { key: 'TOKEN', value: 'sesame-open' } })
  assert.equal(created.status, 201)
  const expected = {
    variable_type: 'env_var',
    key: 'TOKEN',
    value: 'sesame-open',
    protected: false,
    masked: false,
    raw: false,
    description: null,
    hidden: false,
    environment_scope: '*',
  }
  assert.deepEqual(created.body, expected)
  assert.deepEqual((await send('GET', pathOf('project', 'TOKEN'))).body, expected)
  assert.ok(!(await contents(world())).includes(Buffer.from('sesame-open').toString('hex')))
  await add('instance', { key: 'TOKEN', value: 'x' })
  const { hidden: _, environment_scope: __, ...plain } = expected
  assert.deepEqual((await send('GET', pathOf('instance', 'TOKEN'))).body, { ...plain, value: 'x' })
})

test('an unknown key is not found, in the words of its owner', async () => {
  for (const [where, name] of [
    ['project', 'Variable'],
    ['group', 'GroupVariable'],
    ['instance', 'InstanceVariable'],
  ] as const)
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const answer = await send(method, pathOf(where, 'NONE'))
      assert.deepEqual([answer.status, answer.body], [404, { message: `404 ${name} Not Found` }])
    }
})

test('a key has several scopes; without a filter it is ambiguous', async () => {
  await clear()
  for (const environment_scope of ['production', 'review/*'])
    await add('group', { key: 'URL', value: environment_scope, environment_scope })
  const path = pathOf('group', 'URL')
  const ambiguous = await send('GET', path)
  assert.deepEqual(
    [ambiguous.status, ambiguous.body],
    [
      409,
      {
        message:
          "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
      },
    ],
  )
  const query = { 'filter[environment_scope]': 'review/*' }
  assert.equal(((await send('GET', path, { query })).body as { value: string }).value, 'review/*')
  const body = { value: 'changed', filter: { environment_scope: 'production' } }
  assert.equal((await send('PUT', path, { body })).status, 200)
  assert.equal((await send('DELETE', path)).status, 409)
  assert.equal((await send('DELETE', path, { query })).status, 204)
  assert.equal(((await send('GET', path)).body as { value: string }).value, 'changed')
})

test('a key with a scope is taken once for each owner', async () => {
  await clear()
  const taken = { message: { key: ['(KEY) has already been taken'] } }
  for (const where of ['project', 'group', 'instance'] as const) {
    await add(where, { key: 'KEY', value: 'a' })
    const again = await send('POST', pathOf(where), { body: { key: 'KEY', value: 'b' } })
    assert.deepEqual([again.status, again.body], [400, taken], where)
  }
  await add('project', { key: 'KEY', value: 'a', environment_scope: 'x' })
  const moved = await send('PUT', pathOf('project', 'KEY'), {
    body: { environment_scope: '*' },
    query: { 'filter[environment_scope]': 'x' },
  })
  assert.deepEqual([moved.status, moved.body], [400, taken])
})

test('invalid variables are refused in the published words, and nothing changes', async () => {
  await clear()
  await add('project', { key: 'KEY', value: 'a' })
  const before = await contents(world())
  const cases = [
    [{ key: 'a-b', value: 'a' }, { key: ["can contain only letters, digits and '_'."] }],
    [{ key: 'k'.repeat(256), value: 'a' }, { key: ['is too long (maximum is 255 characters)'] }],
    [{ key: 'K', value: 'short', masked: true }, { value: ['is invalid'] }],
    [{ key: 'K', value: 'with blank inside', masked: true }, { value: ['is invalid'] }],
    [{ key: 'K', value: 'two\nlines!', masked: true, raw: true }, { value: ['is invalid'] }],
    [{ key: 'K', value: 'a'.repeat(10_001) }, { value: ['is too long (maximum is 10000 characters)'] }],
    [
      { key: 'K', value: 'a', description: 'd'.repeat(256) },
      { description: ['is too long (maximum is 255 characters)'] },
    ],
  ] as const
  for (const [body, message] of cases) {
    const answer = await send('POST', pathOf('project'), { body })
    assert.deepEqual([answer.status, answer.body], [400, { message }], JSON.stringify(body).slice(0, 100))
  }
  const masked = await send('PUT', pathOf('project', 'KEY'), { body: { masked: true } })
  assert.deepEqual([masked.status, masked.body], [400, { message: { value: ['is invalid'] } }])
  const missing = await send('POST', pathOf('project'), { body: { key: 'K' } })
  assert.deepEqual(missing.body, { error: 'value is missing' })
  assert.equal(await contents(world()), before)
  await add('project', { key: 'K', value: 'any$sign*here', masked: true, raw: true })
})

test('a hidden variable is masked, never shown again, and stays so', async () => {
  await clear()
  const path = pathOf('project', 'H')
  const created = await send('POST', pathOf('project'), {
    body: { key: 'H', value: 'sesame-open', masked_and_hidden: true },
  })
  for (const answer of [
    created,
    await send('GET', path),
    await send('PUT', path, { body: { protected: true } }),
  ]) {
    const { value, hidden, masked } = answer.body as Record<string, unknown>
    assert.deepEqual([value, hidden, masked], [null, true, true])
  }
  assert.equal((await send('PUT', path, { body: { masked: false } })).status, 400)
  const seen = await variablesFor(world().opened.instance, { project: await full(), protected: true }, null)
  assert.deepEqual(seen, [{ key: 'H', value: 'sesame-open', masked: true }])
})

const full = async (): Promise<{ id: number; traversal_ids: readonly number[] }> => ({
  id: project.id,
  traversal_ids: [top.id, group.id],
})

test('variables are listed in pages, each owner its own', async () => {
  await clear()
  for (const key of ['A', 'B', 'C']) await add('group', { key, value: 'a' })
  await add('project', { key: 'D', value: 'a' })
  assert.deepEqual(pick(await send('GET', pathOf('group')), 'key'), ['A', 'B', 'C'])
  const page = await send('GET', pathOf('group'), { query: { per_page: '2', page: '2' } })
  assert.deepEqual([pick(page, 'key'), page.headers['x-total']], [['C'], '3'])
  assert.deepEqual(pick(await send('GET', pathOf('top')), 'key'), [])
})

test('the plan limits variables of the instance, also under concurrent creation', async () => {
  await clear()
  const answers = await Promise.all(
    Array.from({ length: 28 }, (_, at) =>
      send('POST', pathOf('instance'), { body: { key: `K${at}`, value: 'a' } }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 25)
  const refused = answers.find(({ status }) => status !== 201)
  assert.deepEqual(
    [refused?.status, refused?.body],
    [400, { message: { base: ['Maximum number of ci instance level variables (25) exceeded'] } }],
  )
})

test('the nearest owner wins, then the most specific scope; protected ones need a protected ref', async () => {
  await clear()
  for (const where of ['instance', 'top', 'group', 'project'] as const) {
    await add(where, { key: where.toUpperCase(), value: where })
    await add(where, { key: 'ALL', value: where })
  }
  await add('top', { key: 'NEAR', value: 'top' })
  await add('group', { key: 'NEAR', value: 'group' })
  await add('project', { key: 'ENV', value: 'any' })
  await add('project', { key: 'ENV', value: 'review', environment_scope: 'review/*' })
  await add('project', { key: 'ENV', value: 'feature', environment_scope: 'review/feature*' })
  await add('project', { key: 'ENV', value: 'exact', environment_scope: 'review/feature-1' })
  await add('project', { key: 'SECRET', value: 'x', protected: true })
  await add('project', { key: 'FILE', value: 'x', variable_type: 'file', raw: true })
  const seen = async (environment: string | null, isProtected = false): Promise<Record<string, string>> => {
    const scope = { project: await full(), protected: isProtected }
    const found = await variablesFor(world().opened.instance, scope, environment)
    return Object.fromEntries(found.map(({ key, value }) => [key, value]))
  }
  assert.deepEqual(await seen(null), {
    INSTANCE: 'instance',
    ALL: 'project',
    TOP: 'top',
    GROUP: 'group',
    PROJECT: 'project',
    NEAR: 'group',
    ENV: 'any',
    FILE: 'x',
  })
  assert.equal((await seen('review/other'))['ENV'], 'review')
  assert.equal((await seen('review/feature-2/x'))['ENV'], 'feature')
  assert.equal((await seen('review/feature-1'))['ENV'], 'exact')
  assert.equal((await seen('production', true))['SECRET'], 'x')
})

test('a wildcard in a scope stands for any text', () => {
  const table: readonly (readonly [string, string | null, boolean])[] = [
    ['*', null, true],
    ['*', 'a', true],
    ['a', null, false],
    ['a', 'a', true],
    ['a', 'ab', false],
    ['a*', 'a', true],
    ['*/x', 'a/b/x', true],
    ['a*b*c', 'a1b2c', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    [`${'*a'.repeat(100)}b`, 'a'.repeat(1_000), false],
  ]
  for (const [scope, environment, expected] of table)
    assert.equal(matchesScope(scope, environment), expected, `${scope} ${environment}`)
})
