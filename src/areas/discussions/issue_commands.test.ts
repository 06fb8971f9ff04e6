import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { makeEpic, makeIssue, makeMergeRequest, type Made } from '../../../test/support/noteables.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema.ts'

let [planner, guest]: Someone[] = []
let [top, near, apart]: Namespace[] = []
let project: Project
const world = sharedWorld(async ({ make }) => {
  top = await make.group({ visibility: 'public' })
  near = await make.group({ parent: top, visibility: 'public' })
  apart = await make.group({ visibility: 'public' })
  project = await make.project({ group: near, visibility: 'public' })
  guest = await make.memberOf('guest', { project })
  planner = await make.memberOf('planner', { project })
})
const FAILED = { message: '400 Bad request - Failed to apply commands.' }
const say = (about: Made, body: string, as = planner): Promise<Answered> =>
  world().call('POST', `${about.path}/notes`, { as, body: { body } })
async function told(about: Made, body: string, as = planner): Promise<[string[], object]> {
  const answer = await say(about, body, as)
  assert.equal(answer.status, 202, `${body}: ${answer.text}`)
  const { summary, commands_changes } = answer.body as { summary: string[]; commands_changes: object }
  return [summary, commands_changes]
}
const epicOf = async ({ id }: Made): Promise<number | null> =>
  (await rowOf<{ epic_id: number | null }>(world(), 'select epic_id from issues where id = $1', [id])).epic_id

test('an issue goes into an epic of a group above, however that is named, and out of it', async () => {
  assert.ok(top && near && apart)
  const [high, low] = [await makeEpic(world(), top), await makeEpic(world(), near)]
  const foreign = await makeEpic(world(), apart)
  const hidden = await makeEpic(world(), top, { confidential: true })
  const about = await makeIssue(world(), project)
  const added = 'Added an issue to an epic.'
  for (const [named, epic] of [
    [`&${low.iid}`, low],
    [`${top.full_path.toUpperCase()}&${high.iid}`, high],
    [`${near.full_path}&${low.iid}`, low],
    [`http://localhost/groups/${top.full_path}/-/epics/${high.iid}`, high],
  ] as const) {
    assert.deepEqual(await told(about, `/epic ${named}`), [[added], { epic_id: epic.id }], named)
    assert.equal(await epicOf(about), epic.id)
  }
  const before = await contents(world())
  for (const body of [
    '/epic',
    '/epic &999',
    `/epic ${high.iid}`,
    `/epic ${apart.full_path}&${foreign.iid}`,
    `/epic ${top.full_path}&${hidden.iid}`,
    `/epic http://localhost/groups/${top.full_path}/-/epics/${high.iid}`,
  ])
    assert.deepEqual((await say(about, body)).body, FAILED, body)
  for (const body of [`/epic &${low.iid}`, '/remove_epic'])
    assert.deepEqual((await say(about, body, guest)).body, FAILED, body)
  assert.equal(await contents(world()), before)
  assert.deepEqual(await told(about, '/remove_epic'), [['Removed an issue from an epic.'], { epic_id: null }])
  assert.equal(await epicOf(about), null)
  assert.deepEqual((await say(about, '/remove_epic')).body, FAILED)
  const [summary] = await told(about, `/epic &999\n/epic &${low.iid}\n/epic &${low.iid}`)
  assert.deepEqual(summary, [
    "Could not apply epic command. This epic does not exist or you don't have sufficient permission.",
    added,
    `Could not apply epic command. Issue #${about.iid} has already been added to epic &${low.iid}.`,
  ])
  await rowsOf(world(), 'update issues set epic_id = $1 where id = $2', [hidden.id, about.id])
  assert.deepEqual((await say(about, '/remove_epic')).body, FAILED, 'what is not seen is not told of')
})

test('a duplicate is closed, and both say what they are', async () => {
  const [first, again, secret] = [
    await makeIssue(world(), project),
    await makeIssue(world(), project, { author_id: guest?.id }),
    await makeIssue(world(), project, { confidential: true }),
  ]
  const words = async ({ id }: Made): Promise<string[]> =>
    (
      await rowsOf<{ body: string }>(world(), 'select body from notes where noteable_id = $1 order by id', [
        id,
      ])
    ).map(({ body }) => body)
  const before = await contents(world())
  const request = await makeMergeRequest(world(), project)
  for (const [body, about, as] of [
    ['/duplicate', first, planner],
    ['/duplicate #999', first, planner],
    [`/duplicate #${first.iid}`, first, planner],
    [`/duplicate !${request.iid}`, first, planner],
    [`/duplicate #${secret.iid}`, again, guest],
    [`/duplicate #${again.iid}`, first, guest],
    [`/duplicate #${again.iid}`, request, planner],
  ] as const)
    assert.deepEqual((await say(about, body, as)).body, FAILED, body)
  await rowsOf(world(), 'delete from merge_requests where id = $1', [request.id])
  assert.equal(await contents(world()), before)

  assert.deepEqual(await told(again, `/duplicate #${first.iid}`, guest), [
    [`Closed this issue. Marked as a duplicate of #${first.iid}.`],
    { state_event: 'close' },
  ])
  assert.deepEqual(await words(again), [`marked this issue as a duplicate of #${first.iid}`, 'closed'])
  assert.deepEqual(await words(first), [`marked #${again.iid} as a duplicate of this issue`])
  assert.deepEqual((await say(again, `/duplicate #${first.iid}`)).body, FAILED, 'it is closed')
  await told(secret, `/duplicate ${project.full_path}#${first.iid}`)
  assert.equal((await words(first)).length, 1, 'of what is confidential nothing is said elsewhere')
})

test('a duplicate may be of an issue elsewhere, which is told of to whoever sees that', async () => {
  const elsewhere = await world().make.project({ visibility: 'private' })
  await world().make.sql(`insert into members (project_id, user_id, access_level)
    values (${elsewhere.id}, ${Number(planner?.id)}, 20)`)
  const [first, again] = [await makeIssue(world(), elsewhere), await makeIssue(world(), project)]
  const [summary] = await told(again, `/duplicate ${elsewhere.full_path}#${first.iid}`)
  assert.deepEqual(summary, [
    `Closed this issue. Marked as a duplicate of ${elsewhere.full_path}#${first.iid}.`,
  ])
  const seenBy = async (as: Someone | undefined): Promise<string[]> =>
    ((await world().get(`${again.path}/notes?sort=asc`, as)).body as { body: string }[]).map(
      ({ body }) => body,
    )
  assert.deepEqual(await seenBy(planner), [
    `marked this issue as a duplicate of ${elsewhere.full_path}#${first.iid}`,
    'closed',
  ])
  assert.deepEqual(await seenBy(guest), ['closed'])
  const there = (await world().get(`${first.path}/notes`, planner)).body as { body: string }[]
  assert.deepEqual(
    there.map(({ body }) => body),
    [`marked ${project.full_path}#${again.iid} as a duplicate of this issue`],
  )
})
