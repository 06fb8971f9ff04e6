import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type World } from '../../../test/support/world.ts'
import { setSetting } from '../settings/settings.ts'
import {
  matches,
  mayMerge,
  mayPush,
  protectDefaultBranch,
  pushRules,
  ruleWhileEmpty,
  type PushRule,
} from './protected_branches.ts'

const NOBODY = { pushers: [], mergers: [] }
let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

test('a name means itself, and with wildcards whatever they stand for', () => {
  const rows: [string, string, boolean][] = [
    ['main', 'main', true],
    ['main', 'mainly', false],
    ['main', 'Main', false],
    ['*', 'anything/at/all', true],
    ['release/*', 'release/1/2', true],
    ['release/*', 'release', false],
    ['*-stable', '1-stable', true],
    ['*-stable', '1-stable-not', false],
    ['a*b', 'ab', true],
    ['ab*ba', 'aba', false],
    ['a*b*c', 'a.b.b.c', true],
    ['a*b*c', 'acb', false],
    ['a.c', 'abc', false],
    ['**', '', true],
  ]
  for (const [name, branch, expected] of rows)
    assert.equal(matches(name, branch), expected, `${name} ${branch}`)
})

test('a name of a thousand wildcards is matched in one pass', () =>
  assert.equal(matches('*a'.repeat(120) + 'b', 'a'.repeat(100_000)), false))

test('of the protections that match a branch the most permissive holds', async () => {
  const project = await world.make.project()
  const other = await world.make.project()
  await world.make.sql(`
    insert into protected_branches (project_id, name, allow_force_push) values
      (${project.id}, 'main', false), (${project.id}, 'm*', true), (${project.id}, 'none', false), (${other.id}, 'x', true);
    insert into protected_branch_levels (protected_branch_id, action, access_level)
      select id, action, level from protected_branches b, (values
        ('main', 'push', 40), ('main', 'merge', 0), ('m*', 'push', 0), ('m*', 'push', 60), ('m*', 'merge', 30),
        ('none', 'push', 0), ('x', 'push', 30)) l (name, action, level) where l.name = b.name`)
  const rule = await pushRules(world.opened.instance.db, project)
  assert.deepEqual(rule('main'), { push: 40, merge: 30, ...NOBODY, allowForcePush: true })
  assert.deepEqual(rule('mist'), { push: 60, merge: 30, ...NOBODY, allowForcePush: true })
  assert.deepEqual(rule('none'), { push: 0, merge: 0, ...NOBODY, allowForcePush: false })
  assert.equal(rule('x'), undefined)
})

test('rules are read in one statement', async () => {
  const project = await world.make.project()
  const sent = await world.statements(() => pushRules(world.opened.instance.db, project))
  assert.equal(sent.length, 1)
})

test('the right to push follows the level, the role and administrator status', () => {
  const rule = (push: number): PushRule => ({ push, merge: push, ...NOBODY, allowForcePush: false })
  const rows: [PushRule | undefined, number, boolean, boolean][] = [
    [undefined, 20, false, false],
    [undefined, 30, false, true],
    [undefined, 0, true, true],
    [rule(30), 20, false, false],
    [rule(30), 30, false, true],
    [rule(40), 30, false, false],
    [rule(40), 40, false, true],
    [rule(40), 0, true, true],
    [rule(60), 50, false, false],
    [rule(60), 0, true, true],
    [rule(0), 50, false, false],
    [rule(0), 50, true, false],
  ]
  for (const [given, role, admin, expected] of rows)
    for (const may of [mayPush, mayMerge])
      assert.equal(may(given, { id: 1, role, admin }), expected, `${given?.push} ${role}`)
})

test('each kind of protection gives its levels to a default branch, once', async () => {
  const { db, settings } = world.opened.instance
  const rows: [number, { push: number; merge: number } | undefined, string[]][] = [
    [0, undefined, []],
    [1, { push: 30, merge: 40 }, ['push 30', 'merge 40']],
    [2, { push: 40, merge: 40 }, ['push 40', 'merge 40']],
    [3, { push: 40, merge: 30 }, ['push 40', 'merge 30']],
    [4, undefined, ['push 40', 'merge 40']],
  ]
  for (const [kind, whileEmpty, levels] of rows) {
    await setSetting(db, 'default_branch_protection', kind)
    await settings.reload()
    const { id } = await world.make.project()
    assert.deepEqual(
      ruleWhileEmpty(settings),
      whileEmpty && { ...whileEmpty, ...NOBODY, allowForcePush: false },
    )
    for (let i = 0; i < 2; i++) await protectDefaultBranch(db, settings, { id, default_branch: 'trunk' })
    const stored = await rowsOf<{ level: string }>(
      world,
      `select action || ' ' || access_level as level from protected_branch_levels l
         join protected_branches b on b.id = l.protected_branch_id where b.project_id = $1 order by l.id`,
      [id],
    )
    assert.deepEqual(
      stored.map(({ level }) => level),
      levels,
    )
  }
})
