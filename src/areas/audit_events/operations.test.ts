import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import { relayBatch } from '../../hooks/relay.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

const world = sharedWorld()

let group: Namespace
let owner: Someone
let admin: Someone
before(async () => {
  const { make } = world()
  ;[group, admin] = [await make.group(), await make.admin()]
  owner = await make.memberOf('owner', { group })
})

interface Audited {
  readonly id: number
  readonly author_id: number | null
  readonly entity_type: string
  readonly event_type: string
  readonly details: Readonly<Record<string, unknown>>
}
const relay = async (): Promise<void> => {
  while ((await relayBatch(world().opened.instance.db)) > 0);
}
const list = async (path: string, as: Someone): Promise<Audited[]> => {
  const answer = await world().get(path, as)
  assert.equal(answer.status, 200, answer.text)
  return answer.body as Audited[]
}

test('roles, projects, groups and users that are made, changed and deleted are in the log, with their author', async () => {
  const { call, make } = world()
  const user = await make.user()
  const member = `/groups/${group.id}/members`
  await call('POST', member, { as: owner, body: { user_id: user.id, access_level: 30 } })
  await call('PUT', `${member}/${user.id}`, { as: owner, body: { access_level: 40 } })
  await call('DELETE', `${member}/${user.id}`, { as: owner })
  const project = { name: 'kept', path: 'kept', namespace_id: group.id }
  const made = (await call('POST', '/projects', { as: owner, body: project })).body as { id: number }
  await relay()
  const rows = (await list(`/groups/${group.id}/audit_events`, owner)).filter(
    ({ details }) => details['target_id'] === user.id,
  )
  assert.deepEqual(
    rows.map(({ event_type, author_id, details }) => [event_type, author_id, details['as'] ?? details['to']]),
    [
      ['member_destroyed', owner.id, undefined],
      ['member_updated', owner.id, 'Maintainer'],
      ['member_created', owner.id, 'Developer'],
    ],
  )
  const [created] = await list(`/projects/${made.id}/audit_events`, owner)
  assert.deepEqual(
    [created?.event_type, created?.details['add'], created?.details['entity_path']],
    ['project_created', 'project', `${group.full_path}/kept`],
  )
  await call('DELETE', `/projects/${made.id}`, { as: owner })
  await relay()
  const ofProjects = await list(`/audit_events?entity_type=Project&entity_id=${made.id}`, admin)
  assert.deepEqual(
    ofProjects.map(({ event_type }) => event_type),
    ['project_destroyed', 'project_created'],
  )
  assert.ok(
    (await list('/audit_events?entity_type=User', admin)).some((row) => row.event_type === 'user_created'),
  )
})

test('below Owner a member of a group sees own acts alone', async () => {
  const developer = await world().make.memberOf('developer', { group })
  await relay()
  await world().make.sql(`
    insert into audit_events (author_id, entity_type, entity_id, event_type, details)
    values (${developer.id}, 'Group', ${group.id}, 'own', '{}')`)
  const seen = await list(`/groups/${group.id}/audit_events`, developer)
  assert.deepEqual(
    seen.map(({ event_type }) => event_type),
    ['own'],
  )
})

test('a query spans at most 30 days, both ends included', async () => {
  const path = `/groups/${group.id}/audit_events`
  const range = (from: string, to: string): string => `${path}?created_after=${from}&created_before=${to}`
  const refused = await world().get(range('2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z'), owner)
  assert.equal(refused.status, 400)
  assert.deepEqual(await list(range('2020-01-01T00:00:00Z', '2020-01-30T00:00:00Z'), owner), [])
})
