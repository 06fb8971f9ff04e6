import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { makeEpic, makeIssue, makeMergeRequest, type Made } from '../../../test/support/noteables.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let [planner, developer, guest, outsider]: Someone[] = []
let group: Namespace
let project: Project
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'public' })
  project = await make.project({ group, visibility: 'public' })
  outsider = await make.user()
  guest = await make.memberOf('guest', { group })
  planner = await make.memberOf('planner', { group })
  developer = await make.memberOf('developer', { group })
  await make.sql(`
    insert into labels (project_id, title, color) values (${project.id}, 'bug', '#111111');
    insert into labels (group_id, title, color) values (${group.id}, 'in review', '#222222');
    insert into milestones (iid, project_id, title) values (1, ${project.id}, 'v 1.0');`)
})
/** Every command of the text is named that was not applied. */
const assertFailed = (body: unknown, text = ''): void =>
  assert.match(
    String((body as { message?: unknown }).message),
    /^400 Bad request - Failed to apply commands\. Could not apply \w+ command\./,
    text,
  )
/** No test asks for tomorrow: a day may end meanwhile. */
const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const say = (about: Made, as: Someone | undefined, body: string): Promise<Answered> =>
  world().call('POST', `${about.path}/notes`, { as, body: { body } })
interface Told {
  readonly commands_changes: Record<string, unknown>
  readonly summary: string[]
}
async function told(about: Made, as: Someone | undefined, body: string): Promise<Told> {
  const answer = await say(about, as, body)
  assert.equal(answer.status, 202, `${body}: ${answer.text}`)
  return answer.body as Told
}
const issueRow = (about: Made): Promise<Record<string, unknown>> =>
  rowOf(
    world(),
    `select state, title, confidential, discussion_locked, weight, due_date::text, time_estimate,
            total_time_spent, (select title from milestones m where m.id = milestone_id) as milestone,
            array(select l.title from label_links k join labels l on l.id = k.label_id
                   where k.noteable_id = i.id order by l.title) as labels,
            array(select user_id::int from issue_assignees a where a.issue_id = i.id order by user_id) as assignees
       from issues i where id = $1`,
    [about.id],
  )

test('commands alone are obeyed and leave no note; what they did is told', async () => {
  const about = await makeIssue(world(), project)
  const rows: [string, string, Record<string, unknown>][] = [
    ['/close', 'Closed this issue.', { state: 'closed' }],
    ['/reopen', 'Reopened this issue.', { state: 'opened' }],
    ['/label ~bug ~"in review"', 'Added ~bug ~"in review" labels.', { labels: ['bug', 'in review'] }],
    ['/unlabel bug', 'Removed ~bug label.', { labels: ['in review'] }],
    ['/relabel ~bug', 'Replaced all labels with ~bug label.', { labels: ['bug'] }],
    ['/unlabel', 'Removed all labels.', { labels: [] }],
    ['/milestone %"v 1.0"', 'Set the milestone to %"v 1.0".', { milestone: 'v 1.0' }],
    ['/remove_milestone', 'Removed %"v 1.0" milestone.', { milestone: null }],
    ['/assign me', `Assigned @${planner?.username}.`, { assignees: [planner?.id] }],
    [
      `/assign @${guest?.username.toUpperCase()}`,
      `Assigned @${guest?.username}.`,
      { assignees: [guest?.id, planner?.id] },
    ],
    [`/unassign @${guest?.username}`, `Removed assignee @${guest?.username}.`, { assignees: [planner?.id] }],
    [`/reassign @${guest?.username}`, `Changed assignee to @${guest?.username}.`, { assignees: [guest?.id] }],
    ['/unassign', `Removed assignee @${guest?.username}.`, { assignees: [] }],
    ['/due 2030-12-31', 'Set the due date to Dec 31, 2030.', { due_date: '2030-12-31' }],
    ['/remove_due_date', 'Removed the due date.', { due_date: null }],
    ['/estimate 1w 2h', 'Set time estimate to 1w 2h.', { time_estimate: 151_200 }],
    ['/remove_estimate', 'Removed time estimate.', { time_estimate: 0 }],
    ['/spend 90m', 'Added 1h 30m spent time.', { total_time_spent: 5400 }],
    ['/spend -30m 2026-01-02', 'Subtracted 30m spent time.', { total_time_spent: 3600 }],
    [`/spend 1h ${dayFromNow(0)}`, 'Added 1h spent time.', { total_time_spent: 7200 }],
    ['/remove_time_spent', 'Removed spent time.', { total_time_spent: 0 }],
    ['/confidential', 'Made this issue confidential.', { confidential: true }],
    ['/title A better title', 'Changed the title to "A better title".', { title: 'A better title' }],
    ['/lock', 'Locked the discussion.', { discussion_locked: true }],
    ['/unlock', 'Unlocked the discussion.', { discussion_locked: false }],
    ['/weight 7', 'Set weight to 7.', { weight: 7 }],
    ['/clear_weight', 'Removed weight.', { weight: null }],
  ]
  for (const [body, sentence, expected] of rows) {
    const { summary, commands_changes } = await told(about, planner, body)
    assert.deepEqual(summary, [sentence])
    assert.equal(Object.keys(commands_changes).length, 1, body)
    const row = await issueRow(about)
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(row[name], value, body)
  }
  const events = await rowsOf(world(), 'select action from resource_label_events where noteable_id = $1', [
    about.id,
  ])
  assert.equal(events.length, 6, 'what commands do is written down as if it were done by hand')
  const words = await world().get(`${about.path}/notes?sort=asc&per_page=100`, planner)
  assert.deepEqual(
    (words.body as { body: string }[]).map(({ body }) => body),
    [
      'closed',
      'reopened',
      'changed milestone to %"v 1.0"',
      'removed milestone %"v 1.0"',
      `assigned to @${planner?.username}`,
      `assigned to @${guest?.username}`,
      `unassigned @${guest?.username}`,
      `assigned to @${guest?.username} and unassigned @${planner?.username}`,
      `unassigned @${guest?.username}`,
      'changed due date to December 31, 2030',
      'removed due date December 31, 2030',
      'changed time estimate to 1w 2h',
      'removed time estimate',
      'added 1h 30m of time spent',
      'subtracted 30m of time spent',
      'added 1h of time spent',
      'removed time spent',
      'made the issue confidential',
      'changed title from **{-Issue 1-}** to **{+A better title+}**',
      'locked the discussion in this issue',
      'unlocked the discussion in this issue',
      'changed weight to **7**',
      'removed the weight',
    ],
    'and of labels no note tells',
  )
})

test('a command is known however it is written, and told of as it is called', async () => {
  const about = await makeIssue(world(), project)
  assert.deepEqual((await told(about, planner, '/CLOSE')).summary, ['Closed this issue.'])
  assert.deepEqual((await told(about, planner, '/Reopen\n/Title Not SHOUTED\n/REOPEN')).summary, [
    'Reopened this issue.',
    'Changed the title to "Not SHOUTED".',
    'Could not apply reopen command.',
  ])
  assert.deepEqual((await world().get(`${about.path}/notes?activity_filter=only_comments`, planner)).body, [])
  const body = { description: 'Words\n/Weight 4' }
  const changed = await world().call('PUT', about.path, { as: planner, body })
  const { description, weight } = changed.body as { description: string; weight: number }
  assert.deepEqual([description, weight], ['Words', 4])
})

test('reactions, subscriptions and to-do items are for everybody', async () => {
  const about = await makeIssue(world(), project)
  for (const [body, sentence] of [
    ['/award :+1:', 'Toggled :thumbsup: emoji award.'],
    ['/todo', 'Added a to-do item.'],
    ['/done', 'Marked to-do item as done.'],
    ['/subscribe', 'Subscribed to notifications.'],
    ['/unsubscribe', 'Unsubscribed from notifications.'],
  ] as const)
    assert.deepEqual((await told(about, outsider, body)).summary, [sentence])
  const awards = (await world().get(`${about.path}/award_emoji`)).body as { name: string }[]
  assert.deepEqual(
    awards.map(({ name }) => name),
    ['thumbsup'],
  )
  await told(about, outsider, '/award thumbsup')
  assert.deepEqual((await world().get(`${about.path}/award_emoji`)).body, [])
})

test('many commands make one change, and those that fail say so', async () => {
  const about = await makeIssue(world(), project)
  const { summary, commands_changes } = await told(
    about,
    planner,
    '/label ~bug\n/close\n/close\n/estimate banana\n/unknown\n/weight 3',
  )
  assert.deepEqual(summary, [
    'Added ~bug label.',
    'Closed this issue.',
    'Could not apply close command.',
    'Could not apply estimate command.',
    'Set weight to 3.',
  ])
  assert.deepEqual(Object.keys(commands_changes).sort(), ['add_label_ids', 'state_event', 'weight'])
})

test('a text keeps what is no command', async () => {
  const about = await makeIssue(world(), project)
  const text = 'Look:\n```\n/close\n```\n>>>\n/close\n>>>\n /close\n/usr/bin\n/unknown thing'
  const answer = await say(about, planner, `/weight 2\n${text}\n/reopen\n/shrug well`)
  assert.equal(answer.status, 201, answer.text)
  const { body, commands_changes } = answer.body as { body: string; commands_changes: object }
  assert.equal(body, `${text}\nwell ¯\\_(ツ)_/¯`)
  assert.deepEqual(commands_changes, { weight: 2 })
  const row = await issueRow(about)
  assert.deepEqual([row['state'], row['weight']], ['opened', 2])
})

test('commands of which none can be obeyed are refused, and change nothing', async () => {
  const about = await makeIssue(world(), project, { author_id: guest?.id })
  const others = await makeIssue(world(), project)
  const before = await contents(world())
  const rows: [Made, Someone | undefined, string][] = [
    [about, planner, '/reopen'],
    [about, planner, '/unknown'],
    [about, planner, '/label ~nothing'],
    [about, planner, '/milestone %none'],
    [about, planner, '/assign @nobody-at-all'],
    [about, planner, '/due someday'],
    [about, planner, '/due 2026-02-30'],
    [about, planner, '/spend -1h'],
    [about, planner, '/spend 1h 2999-01-01'],
    [about, planner, `/spend 1h ${dayFromNow(2)}`],
    [about, planner, '/spend 1h 2026-02-30'],
    [about, planner, '/weight -1'],
    [about, planner, `/title ${'x'.repeat(256)}`],
    [about, planner, '/award nothing'],
    [about, planner, '/done'],
    [about, guest, '/label ~bug'],
    [about, guest, '/confidential'],
    [about, guest, '/lock'],
    [others, guest, '/close'],
    [others, outsider, '/title Mine now'],
    [others, outsider, '/assign me'],
  ]
  for (const [where, as, body] of rows) {
    const answer = await say(where, as, body)
    assert.equal(answer.status, 400)
    assertFailed(answer.body, body)
  }
  assert.equal(await contents(world()), before)
  assert.deepEqual((await told(about, guest, '/close')).summary, ['Closed this issue.'], 'but one’s own')
})

test('a confidential issue is not assigned to users who cannot see it', async () => {
  const about = await makeIssue(world(), project, { confidential: true })
  await told(about, planner, `/assign @${outsider?.username} me`)
  assert.deepEqual((await issueRow(about))['assignees'], [planner?.id])
})

test('merge requests hear commands too, of developers, and so do answers in threads', async () => {
  const about = await makeMergeRequest(world(), project)
  assertFailed((await say(about, planner, '/close')).body)
  assert.deepEqual((await told(about, developer, '/label ~bug\n/assign me\n/close')).summary, [
    'Added ~bug label.',
    `Assigned @${developer?.username}.`,
    'Closed this merge request.',
  ])
  for (const body of ['/confidential', '/weight 1', '/due today'])
    assertFailed((await say(about, developer, body)).body, body)
  const issue = await makeIssue(world(), project)
  const begun = await world().call('POST', `${issue.path}/discussions`, { as: planner, body: { body: 'x' } })
  const { id, notes } = begun.body as { id: string; notes: [{ id: number }] }
  const path = `${issue.path}/discussions`
  for (const [method, where] of [
    ['POST', path],
    ['POST', `${path}/${id}/notes`],
    ['PUT', `${issue.path}/notes/${((await say(issue, planner, 'y')).body as { id: number }).id}`],
    ['PUT', `${path}/${id}/notes/${notes[0].id}`],
  ] as const) {
    const none = await world().call(method, where, {
      as: planner,
      body: { body: '/unknown\n/estimate banana' },
    })
    assert.equal(none.status, 400)
    assertFailed(none.body)
    const left = await world().call(method, where, { as: planner, body: { body: 'z\n/estimate banana' } })
    assert.deepEqual([left.status, /"body":"z"/.test(left.text)], [method === 'POST' ? 201 : 200, true])
    await rowsOf(world(), `update issues set state = 'opened' where id = $1`, [issue.id])
    const answer = await world().call(method, where, { as: planner, body: { body: '/close' } })
    assert.deepEqual(
      [answer.status, answer.body],
      [202, { commands_changes: { state_event: 'close' }, summary: ['Closed this issue.'] }],
    )
  }
  const gone = await world().get(`${path}/${id}/notes/${notes[0].id}`, planner)
  assert.equal(gone.status, 404, 'a note that is changed to nothing goes')
})

test('epics hear the commands that are for them, of those who plan', async () => {
  const about = await makeEpic(world(), group)
  const rows: [string, string, Record<string, unknown>][] = [
    ['/close', 'Closed this epic.', { state: 'closed' }],
    ['/reopen', 'Reopened this epic.', { state: 'opened' }],
    ['/label ~"in review" ~bug', 'Added ~"in review" label.', { labels: ['in review'] }],
    ['/relabel ~"in review"', 'Replaced all labels with ~"in review" label.', { labels: ['in review'] }],
    ['/unlabel', 'Removed all labels.', { labels: [] }],
    ['/title Better', 'Changed the title to "Better".', { title: 'Better' }],
    ['/award :rocket:', 'Toggled :rocket: emoji award.', {}],
    ['/subscribe', 'Subscribed to notifications.', {}],
    ['/todo', 'Added a to-do item.', {}],
    ['/confidential', 'Made this epic confidential.', { confidential: true }],
  ]
  const row = (): Promise<Record<string, unknown>> =>
    rowOf(
      world(),
      `select state, title, confidential, array(select l.title from label_links k join labels l on l.id = k.label_id
                                                 where k.noteable_id = e.id) as labels from epics e where id = $1`,
      [about.id],
    )
  for (const [body, sentence, expected] of rows) {
    assert.deepEqual((await told(about, planner, body)).summary, [sentence])
    const now = await row()
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(now[name], value, body)
  }
  const notes = await rowsOf<{ system_action: string }>(
    world(),
    'select system_action from notes where noteable_id = $1 order by id',
    [about.id],
  )
  assert.deepEqual(
    notes.map((note) => note.system_action),
    ['closed', 'reopened', 'title'],
  )
  const other = await makeEpic(world(), group, { author_id: guest?.id })
  const before = await contents(world())
  for (const body of [
    '/assign me',
    '/milestone %"v 1.0"',
    '/weight 1',
    '/due today',
    '/estimate 1h',
    '/lock',
  ])
    assertFailed((await say(other, planner, body)).body, body)
  for (const body of ['/close', '/title Mine', '/confidential'])
    assertFailed((await say(other, guest, body)).body, body)
  assert.equal(await contents(world()), before)
})
