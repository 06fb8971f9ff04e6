import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let project: Project
let owner: Someone
const world = sharedWorld(async ({ make }) => {
  project = await make.project({ visibility: 'public' })
  owner = await make.memberOf('owner', { project })
})

type Event = Record<string, unknown> & { id: number }
interface Shown {
  readonly id: number
  readonly iid: number
}

test('labels, states, milestones and weights of an issue are told event by event, each one by itself too', async () => {
  const { call, get } = world()
  const at = `/projects/${project.id}/issues`
  const issue = (await call('POST', at, { as: owner, body: { title: 't', labels: 'bug' } })).body as Shown
  const path = `${at}/${issue.iid}`
  const milestone = await rowOf<{ id: number }>(
    world(),
    `insert into milestones (iid, project_id, title) values (1, $1, 'v1') returning id`,
    [project.id],
  )
  const bodies = [
    { labels: 'ui', milestone_id: milestone.id, weight: 3 },
    { state_event: 'close', milestone_id: 0 },
    { state_event: 'reopen', weight: null },
  ]
  for (const body of bodies) await call('PUT', path, { as: owner, body })
  const user = {
    id: owner.id,
    username: owner.username,
    name: owner.username,
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `https://guild.example/${owner.username}`,
  }
  const events = async (kind: string): Promise<Record<string, unknown>[]> => {
    const { body, headers } = await get(`${path}/resource_${kind}_events`, owner)
    assert.equal(headers['x-total'], String((body as Event[]).length))
    for (const event of body as Event[])
      assert.deepEqual((await get(`${path}/resource_${kind}_events/${event.id}`, owner)).body, event)
    return (body as Event[]).map(({ id: _id, created_at, user: who, ...rest }) => {
      assert.match(String(created_at), /Z$/)
      assert.deepEqual(who, user)
      return rest
    })
  }
  const of = { resource_type: 'Issue', resource_id: issue.id }
  const label = (name: string): unknown => ({
    name,
    color: '#6699cc',
    text_color: '#FFFFFF',
    description: null,
    description_html: null,
  })
  const labels = (await events('label')).map((event) => {
    const { id: _id, ...label } = event['label'] as Event
    return { ...event, label }
  })
  assert.deepEqual(labels, [
    { ...of, action: 'add', label: label('bug') },
    { ...of, action: 'add', label: label('ui') },
    { ...of, action: 'remove', label: label('bug') },
  ])
  assert.deepEqual(await events('state'), [
    { ...of, state: 'closed' },
    { ...of, state: 'reopened' },
  ])
  const milestones = await events('milestone')
  assert.deepEqual(
    milestones.map(({ milestone, ...rest }) => ({
      ...rest,
      milestone: (milestone as { title: string }).title,
    })),
    [
      { ...of, action: 'add', state: 'opened', milestone: 'v1' },
      { ...of, action: 'remove', state: 'closed', milestone: 'v1' },
    ],
  )
  assert.deepEqual(await events('weight'), [
    { issue_id: issue.id, weight: 3 },
    { issue_id: issue.id, weight: null },
  ])
  assert.deepEqual(await events('iteration'), [])
})

test('events of another issue are not reached, and a label that is gone leaves its event', async () => {
  const { call, get, make } = world()
  const at = `/projects/${project.id}/issues`
  const [one, two] = [
    (await call('POST', at, { as: owner, body: { title: 'one', labels: 'short' } })).body as Shown,
    (await call('POST', at, { as: owner, body: { title: 'two' } })).body as Shown,
  ]
  const [event] = (await get(`${at}/${one.iid}/resource_label_events`, owner)).body as Event[]
  const elsewhere = await get(`${at}/${two.iid}/resource_label_events/${event?.id}`, owner)
  assert.deepEqual([elsewhere.status, elsewhere.body], [404, { message: '404 Not found' }])
  await make.sql(`delete from labels where title = 'short'`)
  const [left] = (await get(`${at}/${one.iid}/resource_label_events`, owner)).body as Event[]
  assert.deepEqual([left?.id, left?.['label']], [event?.id, null])
  const nobody = await get(`${at}/${one.iid}/resource_state_events`)
  assert.deepEqual([nobody.status, nobody.body], [401, { message: '401 Unauthorized' }])
})
