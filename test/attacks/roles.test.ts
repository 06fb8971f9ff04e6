import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { operations } from '../../src/areas/index.ts'
import type { Namespace, Project } from '../../src/db/schema.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import { scratch, writeHistory } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

// AUTH-08. Who may call what, written down from the contract before it is asked of the code: one line for each
// operation, one column for each level there is on the group, then an administrator and nobody.
const CALLERS = [
  ...(['none', 'no_access', 'minimal_access', 'guest', 'planner', 'reporter'] as const),
  ...(['developer', 'maintainer', 'owner', 'admin', 'nobody'] as const),
]
const IN_PRIVATE = `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listCommits                404 404 404 403 403 200 200 200 200 200 404
  getCommit                  404 404 404 403 403 200 200 200 200 200 404
  listNamespaces             200 200 200 200 200 200 200 200 200 200 401
  getNamespace               404 404 200 200 200 200 200 200 200 200 401
  checkNamespaceExists       200 200 200 200 200 200 200 200 200 200 401
  listProjectAliases         403 403 403 403 403 403 403 403 403 200 401
  getProjectAlias            403 403 403 403 403 403 403 403 403 200 401
  createProjectAlias         403 403 403 403 403 403 403 403 403 201 401
  deleteProjectAlias         403 403 403 403 403 403 403 403 403 204 401
  getPlanLimits              403 403 403 403 403 403 403 403 403 200 401
  updatePlanLimits           403 403 403 403 403 403 403 403 403 200 401
  listGroupLabels            404 404 200 200 200 200 200 200 200 200 401
  getGroupLabel              404 404 200 200 200 200 200 200 200 200 401
  createGroupLabel           404 404 403 403 403 201 201 201 201 201 401
  updateGroupLabel           404 404 403 403 403 200 200 200 200 200 401
  updateGroupLabelByName     404 404 403 403 403 200 200 200 200 200 401
  deleteGroupLabel           404 404 403 403 403 204 204 204 204 204 401
  deleteGroupLabelByName     404 404 403 403 403 204 204 204 204 204 401
  subscribeToGroupLabel      404 404 201 201 201 201 201 201 201 201 401
  unsubscribeFromGroupLabel  404 404 201 201 201 201 201 201 201 201 401
  listGroups                 200 200 200 200 200 200 200 200 200 200 200
  getGroup                   404 404 200 200 200 200 200 200 200 200 404
  listGroupProjects          404 404 200 200 200 200 200 200 200 200 404
`
/** What is otherwise where group and project are public. */
const IN_PUBLIC = `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listCommits                200 200 200 200 200 200 200 200 200 200 200
  getCommit                  200 200 200 200 200 200 200 200 200 200 200
  listGroupLabels            200 200 200 200 200 200 200 200 200 200 401
  getGroupLabel              200 200 200 200 200 200 200 200 200 200 401
  createGroupLabel           403 403 403 403 403 201 201 201 201 201 401
  updateGroupLabel           403 403 403 403 403 200 200 200 200 200 401
  updateGroupLabelByName     403 403 403 403 403 200 200 200 200 200 401
  deleteGroupLabel           403 403 403 403 403 204 204 204 204 204 401
  deleteGroupLabelByName     403 403 403 403 403 204 204 204 204 204 401
  subscribeToGroupLabel      201 201 201 201 201 201 201 201 201 201 401
  unsubscribeFromGroupLabel  201 201 201 201 201 201 201 201 201 201 401
  getGroup                   200 200 200 200 200 200 200 200 200 200 200
  listGroupProjects          200 200 200 200 200 200 200 200 200 200 200
`
const tableOf = (text: string): Map<string, number[]> =>
  new Map(
    text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .map(([name = '', ...cells]) => [name, cells.map(Number)]),
  )
const inPrivate = tableOf(IN_PRIVATE)
const tables = { private: inPrivate, public: new Map([...inPrivate, ...tableOf(IN_PUBLIC)]) } as const

/** What every operation needs to succeed for whoever may call it. */
const BODIES: Readonly<Record<string, object>> = {
  createProjectAlias: { name: 'fresh' },
  updatePlanLimits: { plan_name: 'default', dotenv_size: 1 },
  createGroupLabel: { name: 'fresh', color: 'red' },
  updateGroupLabel: { color: 'red' },
  updateGroupLabelByName: { name: 'bug', color: 'red' },
  deleteGroupLabelByName: { name: 'bug' },
}

interface Place {
  readonly group: Namespace
  readonly project: Project
  readonly callers: ReadonlyMap<string, Someone | undefined>
}
const places = new Map<string, Place>()

const world = sharedWorld(async ({ make }) => {
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 1)
  const admin = await make.admin()
  for (const visibility of ['private', 'public'] as const) {
    const group = await make.group({ visibility })
    const project = await make.project({ group, visibility, repository: source })
    const callers = new Map<string, Someone | undefined>([
      ['admin', admin],
      ['none', await make.user()],
      ['nobody', undefined],
    ])
    for (const role of CALLERS)
      if (role !== 'admin' && role !== 'none' && role !== 'nobody')
        callers.set(role, await make.memberOf(role, { group }))
    places.set(visibility, { group, project, callers })
  }
})

/** The same records before every call, whatever the last one did. */
async function stage({ group, project }: Place, op: NamedOperation): Promise<void> {
  const subscribed =
    op.name === 'unsubscribeFromGroupLabel'
      ? `insert into label_subscriptions (label_id, user_id) select l.id, u.id from labels l, users u;`
      : ''
  await world().make.sql(`
    delete from labels; delete from project_aliases; update plan_limits set limits = '{}';
    insert into labels (group_id, title, color) values (${group.id}, 'bug', '#000000');
    insert into project_aliases (project_id, name) values (${project.id}, 'known'); ${subscribed}`)
}

function callAs(place: Place, op: NamedOperation, who: string): Promise<Answered> {
  const owner = op.path.startsWith('/projects/') ? place.project.id : place.group.id
  const path = op.path
    .replace(':id', String(owner))
    .replace(':label_id', 'bug')
    .replace(':sha', 'main')
    .replace(':name', 'known')
    .replace(':namespace', 'anything')
  const body = op.method === 'GET' ? {} : { body: { project_id: place.project.id, ...BODIES[op.name] } }
  return world().call(op.method, path, { as: place.callers.get(who), ...body })
}

suite('every operation for every role', () => {
  test('AUTH-08: every operation has its line, and every line an operation', () => {
    assert.deepEqual([...inPrivate.keys()].sort(), operations.map(({ name }) => name).sort())
    for (const table of Object.values(tables))
      for (const [name, cells] of table) assert.equal(cells.length, CALLERS.length, name)
  })

  for (const [visibility, table] of Object.entries(tables))
    for (const op of operations)
      test(`AUTH-08: ${op.name} where all is ${visibility}`, async () => {
        const place = places.get(visibility)
        if (place === undefined) throw new Error(`there is nothing ${visibility}`)
        const statuses: number[] = []
        for (const who of CALLERS) {
          await stage(place, op)
          const before = await contents(world())
          const answer = await callAs(place, op, who)
          statuses.push(answer.status)
          const changed = (await contents(world())) !== before
          assert.equal(changed, answer.status < 400 && op.method !== 'GET', `${who}: ${answer.text}`)
        }
        assert.deepEqual(statuses, table.get(op.name))
      })
})

// The published words, in full; which operation is asked does not matter.
suite('refusals', () => {
  const ask = async (name: string, who: string): Promise<string> => {
    const [place, op] = [places.get('private'), operations.find((one) => one.name === name)]
    if (place === undefined || op === undefined) throw new Error(`there is no ${name}`)
    await stage(place, op)
    return (await callAs(place, op, who)).text
  }
  for (const [name, who, text] of [
    ['createGroupLabel', 'nobody', '{"message":"401 Unauthorized"}'],
    ['getPlanLimits', 'nobody', '{"message":"401 Unauthorized"}'],
    ['getPlanLimits', 'owner', '{"message":"403 Forbidden"}'],
    ['createGroupLabel', 'guest', '{"message":"403 Forbidden"}'],
    ['createGroupLabel', 'none', '{"message":"404 Group Not Found"}'],
    ['listCommits', 'none', '{"message":"404 Project Not Found"}'],
    ['listCommits', 'guest', '{"message":"403 Forbidden"}'],
    ['getNamespace', 'none', '{"message":"404 Namespace Not Found"}'],
  ] as const)
    test(`AUTH-08: ${name} by ${who} answers ${text}`, async () => assert.equal(await ask(name, who), text))

  // Rights come from levels alone: what a name or a column elsewhere says gives none.
  test('AUTH-08: an external user sees no internal group, and what it is a member of', async () => {
    const { make } = world()
    const group = await make.group({ visibility: 'internal' })
    const user = await make.user()
    await make.sql(`update users set external = true where id = ${user.id}`)
    const status = async (): Promise<number> => (await world().get(`/groups/${group.id}`, user)).status
    assert.equal(await status(), 404)
    assert.equal((await world().get(`/groups/${group.id}`, await make.user())).status, 200)
    assert.equal((await world().get(`/groups/${group.id}`)).status, 404)
    await make.member(user, 'guest', { group })
    assert.equal(await status(), 200)
  })
})
