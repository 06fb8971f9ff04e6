import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { writeSmallHistory } from '../../../test/support/small_history.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Project } from '../../db/schema/tables.ts'

interface Level {
  readonly id: number
  readonly access_level: number
}
interface Branch {
  readonly id: number
  readonly push_access_levels: readonly Level[]
  readonly unprotect_access_levels: readonly Level[]
}

let world: World
let project: Project
let maintainer: Someone
before(async () => {
  world = await openWorld()
  project = await world.make.project({ repository: 'empty' })
  maintainer = await world.make.memberOf('maintainer', { project })
})
beforeEach(() => world.make.sql('delete from protected_branches'))
after(() => world.close())

const at = (name?: string): string =>
  `/projects/${project.id}/protected_branches${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
const post = (body: object, as = maintainer): Promise<Answered> => world.call('POST', at(), { as, body })
const patch = (name: string, body: object, as = maintainer): Promise<Answered> =>
  world.call('PATCH', at(name), { as, body })
const stored = (): Promise<unknown[]> =>
  rowsOf(
    world,
    `select name, allow_force_push, array(select action || ' ' || access_level from protected_branch_levels
        where protected_branch_id = b.id order by id) as levels from protected_branches b order by name`,
  )

const level = (id: number, access_level: number, access_level_description: string): object => ({
  id,
  access_level,
  access_level_description,
  user_id: null,
  group_id: null,
})

test('a protected branch lets Maintainers push and merge until it is told otherwise', async () => {
  const answer = await post({ name: 'release/*' })
  assert.equal(answer.status, 201, answer.text)
  const body = answer.body as Record<
    'push_access_levels' | 'merge_access_levels' | 'unprotect_access_levels',
    Level[]
  >
  const idOf = (of: Level[]): number => of[0]?.id ?? 0
  const push = level(idOf(body.push_access_levels), 40, 'Maintainers')
  assert.deepEqual(answer.body, {
    id: (answer.body as Branch).id,
    name: 'release/*',
    push_access_levels: [{ ...push, deploy_key_id: null }],
    merge_access_levels: [level(idOf(body.merge_access_levels), 40, 'Maintainers')],
    allow_force_push: false,
    unprotect_access_levels: [level(idOf(body.unprotect_access_levels), 40, 'Maintainers')],
    code_owner_approval_required: false,
    inherited: false,
  })
  const found = await world.get(at('release/*'), maintainer)
  assert.deepEqual([found.status, found.body], [200, answer.body])
  const list = await world.get(at(), maintainer)
  assert.deepEqual([list.status, list.body, list.headers['x-total']], [200, [answer.body], '1'])
})

test('every published level is taken, each with its words', async () => {
  const rows: [number, string][] = [
    [0, 'No one'],
    [30, 'Developers + Maintainers'],
    [40, 'Maintainers'],
    [60, 'Administrators'],
  ]
  for (const [access_level, words] of rows) {
    const { body } = await post({ name: `b${access_level}`, push_access_level: access_level })
    const [push] = (body as Branch).push_access_levels
    assert.deepEqual(push, { ...level(push?.id ?? 0, access_level, words), deploy_key_id: null })
  }
  assert.equal((await stored()).length, 4)
})

test('several levels are given at once, and no Maintainers beside them', async () => {
  await post({
    name: 'x',
    allow_force_push: true,
    allowed_to_push: [{ access_level: 30 }, { access_level: 60 }, { access_level: 30 }],
    merge_access_level: 0,
  })
  assert.deepEqual(await stored(), [
    { name: 'x', allow_force_push: true, levels: ['push 30', 'push 60', 'merge 0', 'unprotect 40'] },
  ])
})

test('a name is protected once', async () => {
  await post({ name: 'once' })
  const answer = await post({ name: 'once', push_access_level: 30 })
  assert.deepEqual([answer.status, answer.body], [409, { message: "Protected branch 'once' already exists" }])
  assert.deepEqual(await stored(), [
    { name: 'once', allow_force_push: false, levels: ['push 40', 'merge 40', 'unprotect 40'] },
  ])
})

test('of ten who protect one name at once one does', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => post({ name: 'wanted' })))
  const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
  assert.deepEqual([count(201), count(409)], [1, 9])
  assert.equal((await stored()).length, 1)
})

test('an invalid protection is refused and stores nothing', async () => {
  const rows: [object, number, object][] = [
    [{}, 400, { error: 'name is missing' }],
    [{ name: ' ' }, 422, { message: ["Name can't be blank"] }],
    [{ name: 'x'.repeat(256) }, 422, { message: ['Name is too long (maximum is 255 characters)'] }],
    [{ name: 'x', push_access_level: 20 }, 400, { error: 'push_access_level does not have a valid value' }],
    [{ name: 'x', merge_access_level: 'x' }, 400, { error: 'merge_access_level is invalid' }],
    [
      { name: 'x', unprotect_access_level: 0 },
      400,
      { error: 'unprotect_access_level does not have a valid value' },
    ],
    [
      { name: 'x', allowed_to_push: [{ group_id: 1 }] },
      400,
      { error: 'allowed_to_push[0][access_level] is missing' },
    ],
  ]
  for (const [body, status, refusal] of rows) {
    const answer = await post(body)
    assert.deepEqual([answer.status, answer.body], [status, refusal])
  }
  assert.deepEqual(await stored(), [])
})

test('branches are listed by name, and found by a part of it in any case', async () => {
  for (const name of ['main', 'Release/1', 'release/*']) await post({ name })
  const names = async (query: string): Promise<string[]> =>
    ((await world.get(`${at()}?${query}`, maintainer)).body as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(await names(''), ['Release/1', 'main', 'release/*'])
  assert.deepEqual(await names('search=RELEASE'), ['Release/1', 'release/*'])
  assert.deepEqual(await names('search=%25'), [])
  assert.deepEqual(await names('per_page=1&page=2'), ['main'])
})

test('a level is added, changed and taken away, and other branches keep theirs', async () => {
  const other = (await post({ name: 'other' })).body as Branch
  const {
    push_access_levels: [push],
  } = (await post({ name: 'x' })).body as Branch
  const added = await patch('x', { allow_force_push: true, allowed_to_push: [{ access_level: 30 }] })
  assert.equal(added.status, 200, added.text)
  await patch('x', { allowed_to_push: [{ id: push?.id, access_level: 60 }] })
  const last = (await world.get(at('x'), maintainer)).body as Branch
  assert.deepEqual(
    last.push_access_levels.map(({ access_level }) => access_level),
    [30, 60],
  )
  const foreign = other.push_access_levels[0]?.id
  await patch('x', {
    allowed_to_push: [
      { id: last.push_access_levels[1]?.id, _destroy: true },
      { id: foreign, _destroy: true },
    ],
  })
  assert.deepEqual(await stored(), [
    { name: 'other', allow_force_push: false, levels: ['push 40', 'merge 40', 'unprotect 40'] },
    { name: 'x', allow_force_push: true, levels: ['merge 40', 'unprotect 40', 'push 30'] },
  ])
})

test('a branch is unprotected, and only that one', async () => {
  for (const name of ['kept', 'feature/*']) await post({ name })
  const answer = await world.call('DELETE', at('feature/*'), { as: maintainer })
  assert.deepEqual([answer.status, answer.text], [204, ''])
  assert.deepEqual(await stored(), [
    { name: 'kept', allow_force_push: false, levels: ['push 40', 'merge 40', 'unprotect 40'] },
  ])
  const again = await world.call('DELETE', at('feature/*'), { as: maintainer })
  assert.deepEqual([again.status, again.body], [404, { message: '404 Not found' }])
})

test('Developers see protections, and Maintainers alone make, change and lift them', async () => {
  await post({ name: 'main' })
  const before = await stored()
  const rows: [RoleName, number][] = [
    ['guest', 403],
    ['reporter', 403],
    ['developer', 200],
  ]
  for (const [role, status] of rows) {
    const as = await world.make.memberOf(role, { project })
    assert.deepEqual((await world.get(at(), as)).status, status, role)
    assert.deepEqual((await world.get(at('main'), as)).status, status, role)
    for (const answer of [
      await post({ name: 'other' }, as),
      await patch('main', { allow_force_push: true }, as),
      await world.call('DELETE', at('main'), { as }),
    ])
      assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }], role)
  }
  assert.deepEqual(await stored(), before)
})

test('a protection that only administrators may lift is safe from Maintainers', async () => {
  await post({ name: 'main', unprotect_access_level: 60 })
  const before = await stored()
  assert.equal((await patch('main', { allow_force_push: true })).status, 403)
  assert.equal((await world.call('DELETE', at('main'), { as: maintainer })).status, 403)
  assert.deepEqual(await stored(), before)
  const admin = await world.make.admin()
  assert.equal((await world.call('DELETE', at('main'), { as: admin })).status, 204)
})

test('the default branch of an imported project is protected, of an empty one not yet', async () => {
  await world.make.project({ repository: writeSmallHistory().directory })
  await world.make.project({ repository: 'empty' })
  assert.deepEqual(await stored(), [
    { name: 'main', allow_force_push: false, levels: ['push 40', 'merge 40'] },
  ])
})

test('a branch is open to users by name, who push, merge and are shown in place of a level', async () => {
  const own = await world.make.project({ repository: writeSmallHistory().directory })
  const owner = await world.make.memberOf('maintainer', { project: own })
  const [named, other] = [
    await world.make.memberOf('developer', { project: own }),
    await world.make.memberOf('maintainer', { project: own }),
  ]
  const path = `/projects/${own.id}/protected_branches`
  const name = 'main'
  await world.call('DELETE', `${path}/${name}`, { as: owner })
  const list = [{ user_id: named.id }]
  const made = await world.call('POST', path, {
    as: owner,
    body: { name, allowed_to_push: list, allowed_to_merge: [...list, { access_level: 0 }] },
  })
  assert.equal(made.status, 201, made.text)
  const { push_access_levels: push, merge_access_levels: merge } = made.body as Record<string, Level[]>
  const shown = {
    id: push?.[0]?.id,
    access_level: 40,
    access_level_description: named.name,
    user_id: named.id,
    group_id: null,
    deploy_key_id: null,
  }
  assert.deepEqual(push, [shown])
  assert.equal(merge?.length, 2)
  const commit = async (as: Someone): Promise<number> => {
    const actions = [{ action: 'create', file_path: `by-${as.id}`, content: 'x' }]
    const body = { branch: name, commit_message: 'm', actions }
    return (await world.call('POST', `/projects/${own.id}/repository/commits`, { as, body })).status
  }
  assert.deepEqual([await commit(named), await commit(other)], [201, 403])
  const branch = async (as: Someone): Promise<unknown> =>
    ((await world.get(`/projects/${own.id}/repository/branches/${name}`, as)).body as { can_push: boolean })
      .can_push
  assert.deepEqual([await branch(named), await branch(other)], [true, false])
  // A user without write access is not admitted by name, then or later.
  const outsider = await world.make.memberOf('reporter', { project: own })
  const refused = await world.call('PATCH', `${path}/${name}`, {
    as: owner,
    body: { allowed_to_push: [{ user_id: outsider.id }] },
  })
  const REFUSED = { message: ['Cannot add users or groups unless they have access to the project'] }
  assert.deepEqual([refused.status, refused.body], [422, REFUSED])
  await world.make.member(named, 'reporter', { project: own })
  assert.equal(await commit(named), 403)
  const gone = await world.call('PATCH', `${path}/${name}`, {
    as: owner,
    body: { allowed_to_push: [{ id: shown.id, _destroy: true }, { user_id: other.id }] },
  })
  assert.deepEqual(
    (gone.body as Record<string, { user_id: number }[]>)['push_access_levels']?.map(({ user_id }) => user_id),
    [other.id],
  )
  assert.equal(await commit(other), 201)
})
