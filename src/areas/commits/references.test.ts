import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { processCommitMessages } from '../../core/pushes/commit_references.ts'
import { gitLines } from '../../../test/support/git_fixtures.ts'
import { openGitClient, type GitClient } from '../../../test/support/git_client.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { makeIssue, type Made } from '../../../test/support/noteables.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let shop: Workshop
let client: GitClient
let guest: Someone
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
  guest = await here.make.memberOf('guest', { project: shop.project })
  client = await openGitClient(here)
})

type Payload = Parameters<typeof processCommitMessages.run>[1]
/** Does the jobs that wait to hear of commits; gives how many there were. */
async function hear(again = false): Promise<number> {
  const found = await rowsOf<{ payload: Payload }>(
    world(),
    `delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
      where t.id = j.task_id and t.identifier = 'hear_commits' returning j.payload`,
  )
  for (const { payload } of found) {
    await processCommitMessages.run(world().opened.instance, payload)
    if (again) await processCommitMessages.run(world().opened.instance, payload)
  }
  return found.length
}
const wordsOn = async (about: Made, as = shop.owner): Promise<string[]> =>
  (
    (await world().get(`${about.path}/notes?activity_filter=only_activity&sort=asc`, as)).body as {
      body: string
    }[]
  ).map(({ body }) => body)
const stateOf = async (about: Made): Promise<string> =>
  ((await world().get(about.path, shop.owner)).body as { state: string }).state
let files = 0
const commit = (branch: string, message: string): Promise<string> =>
  shop.commit(branch, { [`file-${++files}`]: '' }, message)
const set = (settings: object): Promise<void> =>
  world().make.sql(
    `update projects set settings = settings || '${JSON.stringify(settings)}' where id = ${shop.project.id}`,
  )

test('a commit that names issues and merge requests says so under them, once, and to nobody who cannot read code', async () => {
  const issue = await makeIssue(world(), shop.project)
  const iid = await shop.open('offered')
  const mr = { path: `/projects/${shop.project.id}/merge_requests/${iid}`, iid, id: 0 }
  await hear()
  const other = await world().make.project({ visibility: 'private' })
  await world().make.member(shop.owner, 'guest', { project: other })
  const [far, secret] = [
    await makeIssue(world(), other),
    await makeIssue(world(), other, { confidential: true }),
  ]
  const unseen = await makeIssue(world(), await world().make.project({ visibility: 'private' }))
  const message = `Work on #${issue.iid}, !${mr.iid}, ${other.full_path}#${far.iid} and ${other.full_path}#${secret.iid}\n\nCloses #${issue.iid}`
  const sha = await commit('topic', message)
  assert.deepEqual([await hear(true), await wordsOn(issue)], [1, [`mentioned in commit ${sha}`]])
  assert.deepEqual(await wordsOn(mr), [`mentioned in commit ${sha}`])
  assert.deepEqual(await wordsOn(far), [`mentioned in commit ${shop.project.full_path}@${sha}`])
  assert.deepEqual(
    await rowsOf(world(), 'select id from notes where noteable_id = any($1)', [[secret.id, unseen.id]]),
    [],
  )
  assert.equal(await stateOf(issue), 'opened', 'no branch but the default one closes')
  assert.deepEqual(await wordsOn(issue, guest), [])
  await commit('other', `See #${issue.iid}`)
  await hear()
  assert.equal((await wordsOn(issue)).length, 2)
})

test('a commit that names nothing asks for no work', async () => {
  await commit('main', 'Nothing! # of it')
  await commit('quiet', 'a new branch')
  assert.equal(await hear(), 1, 'a new branch may bring more than the one commit')
})

test('a commit on the default branch closes the issues that it says are done, once, also elsewhere', async () => {
  const next = (): Promise<Made> => makeIssue(world(), shop.project)
  const [a, b, c, d] = [await next(), await next(), await next(), await next()]
  const other = await world().make.project({ visibility: 'private' })
  await world().make.member(shop.owner, 'guest', { project: other })
  const mine = await makeIssue(world(), other, { author_id: shop.owner.id })
  const theirs = await makeIssue(world(), other)
  const [ours, not] = [`${other.full_path}#${mine.iid}`, `${other.full_path}#${theirs.iid}`]
  const sha = await commit(
    'main',
    `Fixes #${a.iid}, #${b.iid} and ${ours}; see #${d.iid}\n\nImplements: #${c.iid}\nResolves ${not}`,
  )
  await hear(true)
  for (const issue of [a, b, c])
    assert.deepEqual([await stateOf(issue), await wordsOn(issue)], ['closed', [`closed via commit ${sha}`]])
  assert.deepEqual(
    [await stateOf(mine), await stateOf(theirs), await stateOf(d)],
    ['closed', 'opened', 'opened'],
  )
  assert.deepEqual(await wordsOn(mine), [`closed via commit ${shop.project.full_path}@${sha}`])
  assert.deepEqual(await wordsOn(theirs), [`mentioned in commit ${shop.project.full_path}@${sha}`])
  assert.deepEqual(await wordsOn(a, guest), [], 'a word about code')
  const events = await world().get(`${a.path}/resource_state_events`, shop.owner)
  assert.deepEqual(
    (events.body as { state: string; user: { id: number } }[]).map(({ state, user }) => [state, user.id]),
    [['closed', shop.owner.id]],
  )
  const row = (await world().get(a.path, shop.owner)).body as { closed_by: { id: number } }
  assert.equal(row.closed_by.id, shop.owner.id)
})

test('a project may say that commits close nothing', async () => {
  const issue = await makeIssue(world(), shop.project)
  await set({ autoclose_referenced_issues: false })
  const sha = await commit('main', `Closes #${issue.iid}`)
  await hear()
  assert.deepEqual([await stateOf(issue), await wordsOn(issue)], ['opened', [`mentioned in commit ${sha}`]])
  await set({ autoclose_referenced_issues: true })
})

test('cherry-picks, reverts and merges are heard as commits are', async () => {
  const issue = await makeIssue(world(), shop.project)
  const sha = await commit('picked', `About #${issue.iid}`)
  await hear()
  const at = `/projects/${shop.project.id}/repository/commits/${sha}`
  const picked = await world().call('POST', `${at}/cherry_pick`, { as: shop.owner, body: { branch: 'main' } })
  assert.equal(picked.status, 201, picked.text)
  const iid = await shop.open('merged', { title: `For #${issue.iid}` })
  const merged = (
    await shop.ask('PUT', `/${iid}/merge`, { body: { merge_commit_message: `So #${issue.iid}` } })
  ).body as { merge_commit_sha: string }
  await hear()
  assert.deepEqual(
    (await wordsOn(issue)).filter((word) => word.includes('commit')),
    [sha, (picked.body as { id: string }).id, merged.merge_commit_sha].map(
      (one) => `mentioned in commit ${one}`,
    ),
  )
})

test('a push is heard: its hundred newest commits, the oldest of them first', async () => {
  const issue = await makeIssue(world(), shop.project)
  const place = join(client.place, 'pushing')
  await client.git(
    client.place,
    'clone',
    '--quiet',
    client.url(`${shop.project.full_path}.git`, shop.owner),
    place,
  )
  await client.git(place, 'checkout', '--quiet', '-b', 'many')
  const base = await client.git(place, 'rev-parse', 'HEAD')
  const stream = Array.from({ length: 120 }, (_, i) => {
    const text = `Step ${i} of #${issue.iid}`
    const from = i === 0 ? `from ${base}\n` : ''
    return `commit refs/heads/many\ncommitter A <a@b.example> ${1_700_000_000 + i} +0000\ndata ${text.length}\n${text}\n${from}\n`
  })
  writeFileSync(join(place, 'stream'), stream.join(''))
  const imported = await client.run(place, [
    '-c',
    'alias.feed=!git fast-import --quiet --force < stream',
    'feed',
  ])
  assert.equal(imported.code, 0, imported.told)
  await client.git(place, 'push', '--quiet', 'origin', 'many')
  assert.equal(await hear(true), 1)
  const shas = gitLines(shop.directory, ['rev-list', '--max-count=100', 'many']).toReversed()
  const { body, headers } = await world().get(`${issue.path}/notes?per_page=100&sort=asc`, shop.owner)
  assert.equal(headers['x-total'], '100')
  assert.deepEqual(
    (body as { body: string }[]).map((note) => note.body),
    shas.map((sha) => `mentioned in commit ${sha}`),
  )
  await client.git(place, 'push', '--quiet', 'origin', '--delete', 'many')
  await client.git(place, 'push', '--quiet', 'origin', `${shas.at(-1)}:refs/heads/again`)
  await hear()
  assert.equal((await world().get(`${issue.path}/notes`, shop.owner)).headers['x-total'], '100', 'once')
})

test('messages of removed users and in archived projects close nothing', async () => {
  const issue = await makeIssue(world(), shop.project)
  await commit('main', `Closes #${issue.iid}`)
  await world().make.sql(`update projects set archived = true where id = ${shop.project.id}`)
  await hear()
  await world().make.sql(`update projects set archived = false where id = ${shop.project.id}`)
  await commit('main', `Still #${issue.iid}`)
  await world().make.sql(`update users set state = 'blocked' where id = ${shop.owner.id}`)
  await hear()
  await world().make.sql(`update users set state = 'active' where id = ${shop.owner.id}`)
  assert.deepEqual([await stateOf(issue), await wordsOn(issue)], ['opened', []])
})
