import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { makeEpic, makeIssue, makeMergeRequest, type Made } from '../../../test/support/noteables.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import { issueByCommand } from '../issues/commanded.ts'

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
/** Every command of the text is named that was not applied. */
const assertFailed = (body: unknown, text = ''): void =>
  assert.match(
    String((body as { message?: unknown }).message),
    /^400 Bad request - Failed to apply commands\. Could not apply \w+ command\./,
    text,
  )
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
    assertFailed((await say(about, body)).body, body)
  for (const body of [`/epic &${low.iid}`, '/remove_epic'])
    assertFailed((await say(about, body, guest)).body, body)
  assert.equal(await contents(world()), before)
  assert.deepEqual(await told(about, '/remove_epic'), [['Removed an issue from an epic.'], { epic_id: null }])
  assert.equal(await epicOf(about), null)
  assertFailed((await say(about, '/remove_epic')).body)
  const [summary] = await told(about, `/epic &999\n/epic &${low.iid}\n/epic &${low.iid}`)
  assert.deepEqual(summary, [
    "Could not apply epic command. This epic does not exist or you don't have sufficient permission.",
    added,
    `Could not apply epic command. Issue #${about.iid} has already been added to epic &${low.iid}.`,
  ])
  await rowsOf(world(), 'update issues set epic_id = $1 where id = $2', [hidden.id, about.id])
  assertFailed((await say(about, '/remove_epic')).body, 'what is not seen is not told of')
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
    assertFailed((await say(about, body, as)).body, body)
  await rowsOf(world(), 'delete from merge_requests where id = $1', [request.id])
  assert.equal(await contents(world()), before)

  assert.deepEqual(await told(again, `/duplicate #${first.iid}`, guest), [
    [`Closed this issue. Marked as a duplicate of #${first.iid}.`],
    { state_event: 'close' },
  ])
  assert.deepEqual(await words(again), [`marked this issue as a duplicate of #${first.iid}`, 'closed'])
  assert.deepEqual(await words(first), [`marked #${again.iid} as a duplicate of this issue`])
  assertFailed((await say(again, `/duplicate #${first.iid}`)).body, 'it is closed')
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

test('labels and milestone are copied from another record of the project', async () => {
  const { make } = world()
  const from = await makeIssue(world(), project)
  const milestone = await rowOf<{ id: number }>(
    world(),
    `insert into milestones (iid, project_id, title) values (77, $1, 'Copied') returning id`,
    [project.id],
  )
  await make.sql(`update issues set milestone_id = ${milestone.id} where id = ${from.id}`)
  for (const title of ['copied', 'also copied'])
    await world().call('POST', `/projects/${project.id}/labels`, {
      as: await make.admin(),
      body: { name: title, color: '#aabbcc' },
    })
  await say(from, '/label ~copied ~"also copied"')
  const { iid } = await rowOf<{ iid: number }>(world(), 'select iid from issues where id = $1', [from.id])
  for (const about of [await makeIssue(world(), project)]) {
    const [summary, changes] = await told(about, `/copy_metadata #${iid}`)
    assert.deepEqual(summary, [`Copied labels and milestone from #${iid}.`])
    assert.deepEqual(Object.keys(changes), ['add_label_ids', 'milestone_id'])
    const shown = (await world().get(about.path, planner)).body as {
      labels: string[]
      milestone: { id: number }
    }
    assert.deepEqual([shown.labels, shown.milestone.id], [['also copied', 'copied'], milestone.id])
    assertFailed((await say(about, '/copy_metadata #99999')).body)
  }
})

test('a line that calls people with /cc is a comment like any other', async () => {
  const about = await makeIssue(world(), project)
  const answer = await say(about, `/cc @${guest?.username}`)
  assert.equal(answer.status, 201, answer.text)
  assert.equal((answer.body as { body: string }).body, `/cc @${guest?.username}`)
  const todos = (await world().get('/todos', guest)).body as { target: { id: number } }[]
  assert.ok(todos.some(({ target }) => target.id === about.id))
})

test('an issue is moved by a job, when a comment that says so is written', async () => {
  const { make } = world()
  const target = await make.project({ visibility: 'private' })
  const about = await makeIssue(world(), project)
  assertFailed((await say(about, `/move ${target.full_path}`)).body, 'what is not seen is not there')
  assertFailed((await say(about, '/move nowhere/at-all')).body)
  assertFailed((await say(about, `/move ${project.full_path}`)).body)
  if (planner) await make.member(planner, 'planner', { project: target })
  const [summary, changes] = await told(about, `/move ${target.full_path}`)
  assert.deepEqual(summary, [`Moved this item to ${target.full_path}.`])
  assert.deepEqual(changes, { target_container: target.full_path })
  const wanted = { issue_id: about.id, user_id: Number(planner?.id), to_project_id: target.id }
  await issueByCommand.run(world().opened.instance, wanted)
  await issueByCommand.run(world().opened.instance, wanted)
  const moved = (await world().get(`/projects/${target.id}/issues`, planner)).body as { title: string }[]
  assert.equal(moved.length, 1)
  assert.equal(((await world().get(about.path, planner)).body as { state: string }).state, 'closed')
})
