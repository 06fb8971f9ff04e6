import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { operations } from '../../src/areas/index.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import { scratch, writeHistory } from '../support/git_fixtures.ts'
import { CALLERS, inRepository, openPlace, roleTables, type Place } from '../support/role_tables.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

/** What every operation needs to succeed for whoever may call it. */
const BODIES: Readonly<Record<string, object>> = {
  createProjectAlias: { name: 'fresh' },
  updatePlanLimits: { plan_name: 'default', dotenv_size: 1 },
  createGroupLabel: { name: 'fresh', color: 'red' },
  updateGroupLabel: { color: 'red' },
  updateGroupLabelByName: { name: 'bug', color: 'red' },
  deleteGroupLabelByName: { name: 'bug' },
}

const places = new Map<string, Place>()

const world = sharedWorld(async (here) => {
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 1)
  for (const visibility of ['private', 'public'] as const)
    places.set(visibility, await openPlace(here, visibility, source))
})

/** The same records before every call, whatever the last one did. */
async function stage({ group, project }: Place, op: NamedOperation): Promise<void> {
  const subscribed =
    op.name === 'unsubscribeFromGroupLabel'
      ? `insert into label_subscriptions (label_id, user_id) select l.id, u.id from labels l, users u;`
      : ''
  await world().make.sql(`
    update personal_access_tokens set revoked = false, updated_at = created_at;
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
    .replace(':token_id', String(place.ownersToken))
  const body = op.method === 'GET' ? {} : { body: { project_id: place.project.id, ...BODIES[op.name] } }
  return world().call(op.method, path, { as: place.callers.get(who), ...body })
}

suite('every operation for every role', () => {
  test('AUTH-08: every operation has its line, and every line an operation', () => {
    assert.deepEqual([...roleTables.private.keys()].sort(), operations.map(({ name }) => name).sort())
    for (const table of Object.values(roleTables))
      for (const [name, cells] of table) assert.equal(cells.length, CALLERS.length, name)
  })

  for (const [visibility, table] of Object.entries(roleTables))
    for (const op of operations.filter((one) => !inRepository(one)))
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
