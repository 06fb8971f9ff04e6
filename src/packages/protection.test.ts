import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalName } from './names.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import { isProtected, matchesPattern } from './protection.ts'

const world = sharedWorld()

test('a pattern matches the whole name, and * any characters', () => {
  const rows: [string, string, boolean][] = [
    ['a', 'a', true],
    ['a', 'ab', false],
    ['*', '', true],
    ['*', 'anything/at.all', true],
    ['a*', 'a', true],
    ['a*', 'ba', false],
    ['*a', 'ba', true],
    ['*a', 'ab', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['@scope/*', '@scope/name', true],
    ['@scope/*', '@scopes/name', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*b*c', 'a-b-c', false],
    ['a**b', 'ab', true],
    ['*b*', 'abc', true],
    ['*d*', 'abc', false],
    ['a.c', 'abc', false],
    ['a%', 'ab', false],
  ]
  for (const [pattern, name, expected] of rows)
    assert.equal(matchesPattern(pattern, name), expected, `${pattern} ${name}`)
})

test('a pattern of many wildcards is answered without trying combinations', () => {
  const steps = '*a'.repeat(127)
  assert.equal(matchesPattern(`${steps}b`, 'a'.repeat(5_000)), false)
  assert.equal(matchesPattern(`${steps}*`, 'a'.repeat(5_000)), true)
})

test('all spellings of a name have one canonical form', () => {
  for (const name of ['My.Package', 'my-package', 'MY_package', 'my-_.package'])
    assert.equal(canonicalName('pypi', name), 'my-package')
  assert.equal(canonicalName('npm', '@Scope/My.Package'), '@scope/my.package')
})

test('a rule keeps out whoever has less than it asks for, by any spelling of the name, in its project and type', async () => {
  const { make, opened } = world()
  const project = await make.project()
  await make.sql(`
    insert into package_protection_rules
      (project_id, package_name_pattern, package_type, minimum_access_level_for_push, minimum_access_level_for_delete)
    values (${project.id}, 'My_Pkg*', 'pypi', 'owner', 'admin'), (${project.id}, 'tool', 'generic', 'maintainer', null)`)
  const { db } = opened.instance
  type Asked = readonly [action: 'push' | 'delete', type: 'pypi' | 'generic', name: string]
  const asks = ([action, type, name]: Asked, role: number, admin = false): Promise<boolean> =>
    isProtected(db, action, { project: { id: project.id, role }, actor: { admin }, type, name })
  assert.equal(await asks(['push', 'pypi', 'my-pkg.two'], 40), true)
  assert.equal(await asks(['push', 'pypi', 'my-pkg.two'], 50), false)
  assert.equal(await asks(['delete', 'pypi', 'MY.PKG'], 50), true)
  assert.equal(await asks(['delete', 'pypi', 'MY.PKG'], 0, true), false)
  assert.equal(await asks(['push', 'generic', 'Tool'], 30), true)
  assert.equal(await asks(['push', 'generic', 'Tool'], 40), false)
  assert.equal(await asks(['delete', 'generic', 'tool'], 40), false)
  assert.equal(await asks(['push', 'generic', 'tools'], 30), false)
  assert.equal(await asks(['push', 'pypi', 'tool'], 30), false)
  const other = { id: project.id + 1_000_000, role: 30 }
  const elsewhere = { project: other, actor: null, type: 'generic', name: 'tool' } as const
  assert.equal(await isProtected(db, 'push', elsewhere), false)
})
