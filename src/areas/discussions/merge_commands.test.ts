import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { branchByCommand } from '../merge_requests/merging/commanded.ts'

let shop: Workshop
let [developer, reporter]: Someone[] = []
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
  developer = await here.make.memberOf('developer', { project: shop.project })
  reporter = await here.make.memberOf('reporter', { project: shop.project })
  await shop.commit('release', { 'release.txt': 'soon\n' })
})
/** Every command of the text is named that was not applied. */
const assertFailed = (body: unknown, text = ''): void =>
  assert.match(
    String((body as { message?: unknown }).message),
    /^400 Bad request - Failed to apply commands\. Could not apply \w+ command\./,
    text,
  )
type Row = Readonly<Record<string, unknown>>
const say = (iid: number, body: string, as = developer): Promise<Answered> =>
  shop.ask('POST', `/${iid}/notes`, { body: { body }, ...(as && { as }) })
async function told(iid: number, body: string, as = developer): Promise<[string[], Row]> {
  const answer = await say(iid, body, as)
  assert.equal(answer.status, 202, `${body}: ${answer.text}`)
  const { summary, commands_changes } = answer.body as { summary: string[]; commands_changes: Row }
  return [summary, commands_changes]
}
const shown = async (iid: number): Promise<Row> => (await shop.ask('GET', `/${iid}`)).body as Row
const namesOf = (people: unknown): string[] =>
  (people as { username: string }[]).map(({ username }) => username)
const words = async (iid: number): Promise<string[]> =>
  (
    await rowsOf<{ body: string }>(
      world(),
      `select n.body from notes n join merge_requests m on m.id = n.noteable_id
        where m.iid = $1 and m.project_id = $2 and n.system_action <> 'commit' order by n.id`,
      [iid, shop.project.id],
    )
  ).map(({ body }) => body)

test('a merge request is marked as a draft and as ready, and what is so already is told', async () => {
  const iid = await shop.open('marked', { title: 'Soon' })
  const unchanged = "No change to this merge request's draft status."
  const rows: [string, string, Row, string][] = [
    ['/draft', 'Marked this merge request as a draft.', { wip_event: 'draft' }, 'Draft: Soon'],
    ['/draft', unchanged, { wip_event: 'draft' }, 'Draft: Soon'],
    ['/ready', 'Marked this merge request as ready.', { wip_event: 'ready' }, 'Soon'],
    ['/ready', unchanged, { wip_event: 'ready' }, 'Soon'],
  ]
  for (const [body, sentence, changes, title] of rows) {
    assert.deepEqual(await told(iid, body), [[sentence], changes])
    const now = await shown(iid)
    assert.deepEqual([now['title'], now['draft']], [title, title !== 'Soon'])
  }
  for (const title of ['draft:Draft: Soon', '[DRAFT] (draft) Soon', ' Draft - Soon']) {
    await shop.ask('PUT', `/${iid}`, { body: { title } })
    assert.equal((await shown(iid))['draft'], true, title)
    await told(iid, '/ready')
    const now = await shown(iid)
    assert.deepEqual([now['title'], now['draft']], ['Soon', false], title)
  }
  for (const title of ['Draft:', 'x'.repeat(250)]) {
    await shop.ask('PUT', `/${iid}`, { body: { title } })
    const answer = await say(iid, title === 'Draft:' ? '/ready' : '/draft')
    assert.equal(answer.status, 400)
    assertFailed(answer.body, 'no title is left, or too long a one')
  }
})

test('a merge request is approved and the approval taken back, once each, by whoever may', async () => {
  const iid = await shop.open('approved')
  const approved = async (): Promise<string[]> =>
    (
      (await shop.ask('GET', `/${iid}/approvals`)).body as {
        approved_by: { user: { username: string } }[]
      }
    ).approved_by.map(({ user }) => user.username)
  assert.deepEqual(await told(iid, '/approve'), [['Approved the current merge request.'], {}])
  assert.deepEqual(await approved(), [developer?.username])
  assertFailed((await say(iid, '/approve')).body)
  assertFailed((await say(iid, '/approve', reporter)).body)
  assert.deepEqual(await told(iid, '/unapprove'), [['Unapproved the current merge request.'], {}])
  assert.deepEqual(await approved(), [])
  assertFailed((await say(iid, '/unapprove')).body)
  assert.deepEqual(await words(iid), ['approved this merge request', 'unapproved this merge request'])
  assert.deepEqual((await told(iid, '/close\n/approve'))[0].at(-1), 'Could not apply approve command.')
  assert.deepEqual(await approved(), [], 'what is closed is not approved')
})

test('reviewers are asked, taken away and replaced', async () => {
  const iid = await shop.open('reviewed')
  const [one, other] = [shop.owner, reporter]
  const rows: [string, string, (Someone | undefined)[]][] = [
    ['/reviewer me', `Assigned @${developer?.username} as reviewer.`, [developer]],
    [`/assign_reviewer @${one.username}`, `Assigned @${one.username} as reviewer.`, [one, developer]],
    ['/remove_reviewer me', `Removed reviewer @${developer?.username}.`, [one]],
    [`/reassign_reviewer @${other?.username}`, `Changed reviewer to @${other?.username}.`, [other]],
    [`/request_review me`, `Assigned @${developer?.username} as reviewer.`, [other, developer]],
    ['/unassign_reviewer me', `Removed reviewer @${developer?.username}.`, [other]],
    ['/unassign_reviewer', `Removed reviewer @${other?.username}.`, []],
  ]
  for (const [body, sentence, reviewers] of rows) {
    const [summary, changes] = await told(iid, body)
    const ids = reviewers.map((user) => user?.id)
    assert.deepEqual([summary, new Set(changes['reviewer_ids'] as number[])], [[sentence], new Set(ids)])
    assert.deepEqual(
      new Set(namesOf((await shown(iid))['reviewers'])),
      new Set(reviewers.map((user) => user?.username)),
    )
  }
  for (const [body, as] of [
    ['/unassign_reviewer', developer],
    ['/reviewer @nobody-at-all', developer],
    ['/reviewer me', reporter],
  ] as const)
    assertFailed((await say(iid, body, as)).body, body)
  assert.deepEqual((await shown(iid))['assignees'], [], 'whose it is stays')
})

test('a merge request goes to another branch that is there, as it is told', async () => {
  const iid = await shop.open('going')
  const changes = { target_branch: 'release' }
  assert.deepEqual(await told(iid, '/target_branch release'), [['Set target branch to release.'], changes])
  const now = await shown(iid)
  assert.deepEqual([now['target_branch'], now['sha']], ['release', await shop.tip('going')])
  assert.deepEqual(await words(iid), ['changed target branch from `main` to `release`'])
  const twin = await shop.open('going')
  const before = await contents(world())
  for (const body of [
    '/target_branch',
    '/target_branch none',
    '/target_branch going',
    '/target_branch release',
    `/target_branch ${'x'.repeat(100_000)}`,
    '/target_branch ../../HEAD',
    '/target_branch main/',
    '/target_branch a b\tc',
  ])
    assertFailed((await say(twin, body)).body, body)
  assertFailed((await say(twin, '/target_branch main', reporter)).body)
  assert.equal(await contents(world()), before)
})

test('authors say what they may change by hand, and issues hear none of it', async () => {
  const iid = await shop.open('own')
  await rowsOf(world(), 'update merge_requests set author_id = $1 where iid = $2 and project_id = $3', [
    reporter?.id,
    iid,
    shop.project.id,
  ])
  assert.deepEqual((await told(iid, '/draft\n/target_branch release\n/approve\n/reviewer me', reporter))[0], [
    'Marked this merge request as a draft.',
    'Set target branch to release.',
    'Could not apply approve command.',
    'Could not apply reviewer command.',
  ])
  const now = await shown(iid)
  assert.deepEqual([now['draft'], now['target_branch'], now['reviewers']], [true, 'release', []])
  const issues = `/projects/${shop.project.id}/issues`
  const issue = await world().call('POST', issues, { as: shop.owner, body: { title: 'x' } })
  const path = `${issues}/${(issue.body as { iid: number }).iid}/notes`
  for (const body of ['/draft', '/ready', '/approve', '/unapprove', '/target_branch main', '/reviewer me']) {
    const answer = await world().call('POST', path, { as: shop.owner, body: { body } })
    assert.equal(answer.status, 400)
    assertFailed(answer.body, body)
  }
})

test('the description of a new merge request says where it goes and who looks at it, and approves nothing', async () => {
  const description = 'Look.\n/draft\n/target_branch release\n/reviewer me\n/approve'
  const now = await shown(await shop.open('described', { description, title: 'New' }))
  assert.deepEqual(
    [now['description'], now['title'], now['target_branch'], namesOf(now['reviewers'])],
    ['Look.', 'Draft: New', 'release', [shop.owner.username]],
  )
  const approvals = await shop.ask('GET', `/${Number(now['iid'])}/approvals`)
  assert.deepEqual((approvals.body as { approved_by: object[] }).approved_by, [])
})

test('a merge request is rebased and merged by a job, when a comment that says so is written', async () => {
  const { instance } = world().opened
  const iid = await shop.open('commanded')
  const moved = await shop.commit('main', { 'commanded-ahead.txt': 'x' })
  const id = Number((await shown(iid))['id'])
  const asked = async (body: string, user = developer): Promise<void> => {
    const command = body.slice(1) as 'merge' | 'rebase'
    assert.equal((await queued(id)).at(-1), command)
    await branchByCommand.run(instance, { command, merge_request_id: id, user_id: Number(user?.id) })
  }
  assertFailed((await say(iid, '/rebase', reporter)).body)
  assert.deepEqual(await told(iid, '/rebase'), [
    ['Scheduled a rebase of branch commanded.'],
    { rebase: true },
  ])
  await asked('/rebase')
  const head = await shop.tip('commanded')
  assert.equal(await shop.repository.mergeBase(moved, head), moved)
  await told(iid, '/draft')
  assertFailed((await say(iid, '/merge', shop.owner)).body)
  await told(iid, '/ready')
  assertFailed((await say(iid, '/merge')).body, 'a Developer does not merge into a protected branch')
  const merged = [['Merged this merge request.'], { merge: head }]
  assert.deepEqual(await told(iid, '/merge', shop.owner), merged)
  await asked('/merge', developer)
  assert.equal((await shown(iid))['state'], 'opened', 'the job judges the right once more')
  await asked('/merge', shop.owner)
  assert.equal((await shown(iid))['state'], 'merged')
  await asked('/merge', shop.owner)
})

/** The commands that wait for the job. */
const queued = async (id: number): Promise<string[]> =>
  (
    await rowsOf<{ command: string }>(
      world(),
      `select j.payload->>'command' as command from graphile_worker._private_jobs j
         join graphile_worker._private_tasks t on t.id = j.task_id
        where t.identifier = 'branch_by_command' and (j.payload->>'merge_request_id')::bigint = $1 order by j.id`,
      [id],
    )
  ).map(({ command }) => command)
