import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import { openWorld, type Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

let project: Project
let maintainer: Someone
let path: string
before(async () => {
  const { make } = world()
  project = await make.project({ visibility: 'private' })
  maintainer = await make.memberOf('maintainer', { project })
  path = `/projects/${project.id}/packages/protection/rules`
})

type Rule = Record<string, unknown> & { readonly id: number }
const RULE = { package_name_pattern: '@scope/*', package_type: 'npm', minimum_access_level_for_push: 'owner' }
const send = (
  method: 'POST' | 'PATCH' | 'DELETE',
  at: string,
  body?: object,
  as: Someone | undefined = maintainer,
): Promise<Answered> => world().call(method, at, { as, ...(body && { body }) })
async function made(body: object, at = path): Promise<Rule> {
  const answer = await send('POST', at, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Rule
}
const fresh = (() => {
  let count = 0
  return (): string => `pattern-${(count += 1)}-*`
})()
const refused = ({ status, body }: Answered): unknown => [status, body]
const faulty = (...texts: string[]): unknown => [
  422,
  { message: { error: texts.map((text) => `Package name pattern ${text}`) } },
]

test('a rule is made, shown, changed and removed', async () => {
  const rule = await made(RULE)
  assert.deepEqual(rule, { id: rule.id, project_id: project.id, ...RULE })
  assert.deepEqual(Object.keys(rule), [
    'id',
    'project_id',
    'package_name_pattern',
    'package_type',
    'minimum_access_level_for_push',
  ])
  assert.deepEqual((await world().get(path, maintainer)).body, [rule])
  const changed = await send('PATCH', `${path}/${rule.id}`, { minimum_access_level_for_push: 'admin' })
  assert.deepEqual(refused(changed), [200, { ...rule, minimum_access_level_for_push: 'admin' }])
  const same = await send('PATCH', `${path}/${rule.id}`, {})
  assert.deepEqual(refused(same), refused(changed))
  const gone = await send('DELETE', `${path}/${rule.id}`)
  assert.deepEqual([gone.status, gone.text], [204, ''])
  assert.deepEqual((await world().get(path, maintainer)).body, [])
  const again = await send('DELETE', `${path}/${rule.id}`)
  assert.deepEqual(refused(again), [404, { message: '404 Not found' }])
})

test('rules are listed in pages, in the order in which they were made', async () => {
  const other = await world().make.project()
  const as = await world().make.memberOf('maintainer', { project: other })
  const at = `/projects/${other.id}/packages/protection/rules`
  for (const name of ['c', 'a', 'b'])
    assert.equal((await send('POST', at, { ...RULE, package_name_pattern: name }, as)).status, 201)
  const page = await world().get(`${at}?per_page=2&page=1`, as)
  const patterns = (page.body as Rule[]).map((rule) => rule['package_name_pattern'])
  assert.deepEqual(patterns, ['c', 'a'])
  assert.equal(page.headers['x-total'], '3')
  assert.equal(page.headers['x-next-page'], '2')
})

test('a pattern is unique in its project and type, on creation and on change', async () => {
  const pattern = fresh()
  const rule = await made({ ...RULE, package_name_pattern: pattern })
  const taken = faulty('has already been taken')
  assert.deepEqual(refused(await send('POST', path, { ...RULE, package_name_pattern: pattern })), taken)
  const other = await made({ ...RULE, package_name_pattern: pattern, package_type: 'generic' })
  assert.deepEqual(refused(await send('PATCH', `${path}/${other.id}`, { package_type: 'npm' })), taken)
  const own = await send('PATCH', `${path}/${rule.id}`, { package_name_pattern: pattern })
  assert.equal(own.status, 200)
})

test('two equal rules asked for at once become one', async () => {
  const body = { ...RULE, package_name_pattern: fresh() }
  const answers = await Promise.all(Array.from({ length: 10 }, () => send('POST', path, body)))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, ...Array.from({ length: 9 }, () => 422)],
  )
})

test('a pattern is filled, of at most 255 characters, and a name of its type with wildcards', async () => {
  const npm = 'should be a valid NPM package name with optional wildcard characters.'
  const pypi = 'should be a valid PyPI package name with optional wildcard characters.'
  const rows: [string, string, unknown][] = [
    ['generic', '', faulty("can't be blank")],
    ['generic', '   ', faulty("can't be blank")],
    ['npm', '', faulty("can't be blank", npm)],
    ['generic', 'a'.repeat(256), faulty('is too long (maximum is 255 characters)')],
    ['npm', '*@scope/name', faulty(npm)],
    ['npm', '@scope/name%', faulty(npm)],
    ['npm', '@scope/a/b', faulty(npm)],
    ['npm', 'a b', faulty(npm)],
    ['pypi', '@scope/name', faulty(pypi)],
    ['pypi', 'a b', faulty(pypi)],
  ]
  const before = await contents(world())
  for (const [package_type, package_name_pattern, expected] of rows) {
    const answer = await send('POST', path, { ...RULE, package_type, package_name_pattern })
    assert.deepEqual(refused(answer), expected, package_name_pattern)
  }
  assert.equal(await contents(world()), before)
  for (const package_name_pattern of ['@s.c-o_pe/*-mid-*', '*', 'plain', 'a'.repeat(255)])
    await made({ ...RULE, package_name_pattern })
  for (const package_name_pattern of ['My_Package.*', '*'])
    await made({ ...RULE, package_type: 'pypi', package_name_pattern })
  await made({ ...RULE, package_type: 'maven', package_name_pattern: 'com/example/*' })
})

test('every published type and level is taken, and no other', async () => {
  for (const package_type of ['conan', 'generic', 'helm', 'maven', 'npm', 'nuget', 'pypi'])
    for (const minimum_access_level_for_push of ['maintainer', 'owner', 'admin'])
      await made({ package_type, minimum_access_level_for_push, package_name_pattern: fresh() })
  for (const [name, value] of [
    ['package_type', 'golang'],
    ['package_type', ''],
    ['minimum_access_level_for_push', 'developer'],
    ['minimum_access_level_for_push', 'Owner'],
    ['minimum_access_level_for_delete', 'developer'],
  ] as const) {
    const error = { error: `${name} does not have a valid value` }
    const body = { ...RULE, package_name_pattern: fresh(), [name]: value }
    assert.deepEqual(refused(await send('POST', path, body)), [400, error])
  }
})

test('a rule can protect deletion too, and shows that where it does', async () => {
  const body = { ...RULE, package_name_pattern: fresh(), minimum_access_level_for_delete: 'admin' }
  const rule = await made(body)
  assert.deepEqual(rule, { id: rule.id, project_id: project.id, ...body })
  const kept = await send('PATCH', `${path}/${rule.id}`, { minimum_access_level_for_push: 'admin' })
  assert.equal((kept.body as Rule)['minimum_access_level_for_delete'], 'admin')
  const open = await send('PATCH', `${path}/${rule.id}`, { minimum_access_level_for_delete: null })
  assert.ok(!('minimum_access_level_for_delete' in (open.body as Rule)))
})

test('a rule id that is no number is refused before anybody is asked for', async () => {
  const guest = await world().make.memberOf('guest', { project })
  for (const as of [undefined, guest, maintainer])
    for (const method of ['PATCH', 'DELETE'] as const) {
      const answer = await world().call(method, `${path}/invalid`, { as })
      assert.deepEqual(refused(answer), [400, { error: 'package_protection_rule_id is invalid' }])
    }
  const bad = await world().call('POST', path, { body: { ...RULE, package_type: 'x' } })
  assert.deepEqual(refused(bad), [400, { error: 'package_type does not have a valid value' }])
})

test('a rule of another project is not found, and neither is a project that is none', async () => {
  const other = await world().make.project()
  await world().make.member(maintainer, 'maintainer', { project: other })
  const rule = await made({ ...RULE, package_name_pattern: fresh() })
  const elsewhere = `/projects/${other.id}/packages/protection/rules/${rule.id}`
  for (const method of ['PATCH', 'DELETE'] as const)
    assert.deepEqual(refused(await send(method, elsewhere, {})), [404, { message: '404 Not found' }])
  for (const id of ['invalid', '99999999']) {
    const answer = await world().get(`/projects/${id}/packages/protection/rules`, maintainer)
    assert.deepEqual(refused(answer), [404, { message: '404 Project Not Found' }])
  }
})

test('a rule that changed since the stated moment is not removed', async () => {
  const rule = await made({ ...RULE, package_name_pattern: fresh() })
  const headers = { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' }
  const kept = await world().call('DELETE', `${path}/${rule.id}`, { as: maintainer, headers })
  assert.deepEqual(refused(kept), [412, { message: '412 Precondition Failed' }])
})

test('a hosted offering has no package protection rules', async () => {
  const hosted = await openWorld({ env: { GUILDHALL_OFFERING: 'hosted' } })
  try {
    const home = await hosted.make.project()
    const as = await hosted.make.memberOf('owner', { project: home })
    const answer = await hosted.get(`/projects/${home.id}/packages/protection/rules`, as)
    assert.deepEqual(refused(answer), [404, { error: '404 Not Found' }])
  } finally {
    await hosted.close()
  }
})
