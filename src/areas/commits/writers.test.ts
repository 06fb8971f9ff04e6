import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCode, stored, type Another, type Code } from '../../../test/support/code.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Visibility } from '../../db/schema/columns.ts'

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

type Outcome = string
const NO_PROJECT = '404 {"message":"404 Project Not Found"}'
const NO_REPOSITORY = '404 {"message":"404 Repository Not Found"}'
const UNAUTHORIZED = '401 {"message":"401 Unauthorized"}'
const BLOCKED = '403 {"message":"403 Forbidden - Your account has been blocked."}'
const NO_READING = '403 {"message":"403 Forbidden"}'
const NO_PUSHING = '403 {"message":"403 Forbidden - You are not allowed to push into this branch"}'
const NOT_INTO = '400 {"message":"You are not allowed to push into this branch"}'
const DONE = 'done'

/**
 * The answer of each operation on `main`, which is protected, and on an unprotected branch; a refusal writes nothing.
 */
async function meets(
  { project, directory }: Pick<Another, 'project' | 'directory'>,
  as: Someone | undefined,
): Promise<Record<string, Outcome>> {
  const root = `/projects/${project.id}/repository`
  const { sha } = code.history
  const outcomes: Record<string, Outcome> = {}
  const say = async (name: string, method: 'POST' | 'PUT', path: string, body: object): Promise<void> => {
    const before = stored(directory)
    const answer = await code.world.call(method, root + path, { as, body })
    const written = stored(directory) !== before
    assert.equal(written, answer.status === 201, `${name} wrote, or did not`)
    // Requests that reach this rule passed every gate.
    const through = [201, 200].includes(answer.status) || answer.text.includes('Invalid submodule path')
    outcomes[name] = through ? DONE : `${answer.status} ${answer.text}`
  }
  const actions = [{ action: 'create', file_path: `of-${as?.id ?? 'nobody'}`, content: '' }]
  const free = 'feature/login'
  await say('create on main', 'POST', '/commits', { branch: 'main', commit_message: 'm', actions })
  await say('create', 'POST', '/commits', { branch: free, commit_message: 'm', actions })
  const trial = { dry_run: true }
  await say('pick on main', 'POST', `/commits/${sha.root}/cherry_pick`, { branch: 'main', ...trial })
  await say('revert on main', 'POST', `/commits/${sha.readme}/revert`, { branch: 'main', ...trial })
  await say('revert', 'POST', `/commits/${sha.readme}/revert`, { branch: free, ...trial })
  await say('submodule on main', 'PUT', '/submodules/README', { branch: 'main', commit_sha: sha.root })
  await say('submodule', 'PUT', '/submodules/README', { branch: free, commit_sha: sha.root })
  // A pick of the root is empty, which again is beyond every gate.
  const picked = outcomes['pick on main']
  if (picked?.includes('"error_code"')) outcomes['pick on main'] = DONE
  return outcomes
}

const everywhere = (outcome: Outcome, submodule = outcome): Record<string, Outcome> => ({
  'create on main': outcome,
  create: outcome,
  'pick on main': outcome,
  'revert on main': outcome,
  revert: outcome,
  'submodule on main': submodule,
  submodule,
})
const asDeveloper: Record<string, Outcome> = {
  ...everywhere(DONE),
  'create on main': NO_PUSHING,
  'pick on main': NO_PUSHING,
  'revert on main': NO_PUSHING,
  'submodule on main': NOT_INTO,
}

test('the right to write into a branch follows the role and the visibility of the project', async () => {
  const { world } = code
  const stranger = await world.make.user()
  const admin = await world.make.admin()
  const blocked = await world.make.user()
  for (const visibility of ['private', 'internal', 'public'] as const satisfies Visibility[]) {
    const place = await code.another({ visibility })
    const { project } = place
    const hidden = visibility === 'private'
    const low = hidden ? NO_READING : NO_PUSHING
    const below: Record<RoleName, Record<string, Outcome>> = {
      no_access: everywhere(hidden ? NO_PROJECT : NO_PUSHING, hidden ? NO_PROJECT : NO_READING),
      minimal_access: everywhere(hidden ? NO_PROJECT : NO_PUSHING, hidden ? NO_PROJECT : NO_READING),
      guest: everywhere(low, NO_READING),
      planner: everywhere(low, NO_READING),
      reporter: everywhere(NO_PUSHING, NO_READING),
      developer: asDeveloper,
      maintainer: everywhere(DONE),
      owner: everywhere(DONE),
    }
    for (const [role, expected] of Object.entries(below) as [RoleName, Record<string, Outcome>][])
      assert.deepEqual(
        await meets(place, await world.make.memberOf(role, { project })),
        expected,
        `${role}, ${visibility}`,
      )
    const unseen = hidden ? everywhere(NO_PROJECT) : everywhere(NO_PUSHING, NO_READING)
    assert.deepEqual(await meets(place, stranger), unseen, `a stranger, ${visibility}`)
    const nobody = visibility === 'public' ? UNAUTHORIZED : NO_PROJECT
    assert.deepEqual(await meets(place, undefined), everywhere(nobody, UNAUTHORIZED), `nobody, ${visibility}`)
    assert.deepEqual(await meets(place, admin), everywhere(DONE), `an administrator, ${visibility}`)
    await world.make.member(blocked, 'owner', { project })
    await rowsOf(world, `update users set state = 'blocked' where id = $1`, [blocked.id])
    assert.deepEqual(await meets(place, blocked), everywhere(BLOCKED), `somebody blocked, ${visibility}`)
  }
})

test('a repository that is switched off is written by nobody', async () => {
  const place = await code.another({ visibility: 'public' })
  await rowsOf(code.world, `update projects set repository_access_level = 'disabled' where id = $1`, [
    place.project.id,
  ])
  assert.deepEqual(await meets(place, place.maintainer), everywhere(NO_REPOSITORY))
})

test('the rules of a branch decide: nobody, Developers, by its name or a wildcard', async () => {
  const { world } = code
  const place = await code.another()
  const { project, maintainer } = place
  const developer = await world.make.memberOf('developer', { project })
  const protect = (name: string, push_access_level: number): Promise<unknown> =>
    world.call('POST', `/projects/${project.id}/protected_branches`, {
      as: maintainer,
      body: { name, push_access_level },
    })
  await world.make.sql(`delete from protected_branches where project_id = ${project.id}`)
  assert.deepEqual(await meets(place, developer), everywhere(DONE))
  await protect('feature/*', 0)
  await protect('ma*', 30)
  const closed = { create: NO_PUSHING, revert: NO_PUSHING, submodule: NOT_INTO }
  const other = await world.make.memberOf('developer', { project })
  assert.deepEqual(await meets(place, other), { ...everywhere(DONE), ...closed })
  assert.deepEqual(await meets(place, maintainer), { ...everywhere(DONE), ...closed })
})

test('in an empty repository the setting for default branches decides who begins', async () => {
  const { world } = code
  const body = (branch: string): object => ({
    branch,
    commit_message: 'm',
    actions: [{ action: 'create', file_path: 'x', content: '' }],
  })
  const begin = async (kind: number, role: RoleName): Promise<number> => {
    const { project } = await code.another({ repository: 'empty' })
    await world.make.sql(`insert into settings (name, value) values ('default_branch_protection', '${kind}')
      on conflict (name) do update set value = excluded.value`)
    await world.opened.instance.settings.reload()
    const as = await world.make.memberOf(role, { project })
    return (await world.call('POST', `/projects/${project.id}/repository/commits`, { as, body: body('any') }))
      .status
  }
  for (const [kind, developers] of [
    [2, 403],
    [3, 403],
    [4, 201],
    [1, 201],
    [0, 201],
  ] as const) {
    assert.equal(await begin(kind, 'developer'), developers, String(kind))
    assert.equal(await begin(kind, 'maintainer'), 201, String(kind))
    assert.equal(await begin(kind, 'reporter'), 403, String(kind))
  }
})
