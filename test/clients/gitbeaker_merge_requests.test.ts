/* The unmodified client @gitbeaker/rest and the real git work on merge requests and snippets, on the real program. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gitClientOf, type GitClient } from '../support/git_client.ts'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
let client: GitClient
let copy: string
before(async () => {
  harbour = await openHarbour()
  client = gitClientOf(Number(new URL(harbour.server.url).port))
  await client.git(
    client.place,
    'clone',
    '-q',
    client.url('harbour/gateway.x.git', { token: harbour.tokens.owner }),
    'copy',
  )
  copy = join(client.place, 'copy')
})
after(() => harbour.place.clear())

async function pushFile(branch: string, name: string): Promise<string> {
  writeFileSync(join(copy, name), `${name}\n`)
  await client.git(copy, 'add', '-A')
  await client.git(copy, 'commit', '-q', '-m', `Write ${name}`)
  await client.git(copy, 'push', '-q', 'origin', `HEAD:${branch}`)
  return client.git(copy, 'rev-parse', 'HEAD')
}
type Loose = Record<string, unknown>
const loose = (value: unknown): Loose => value as Loose
const pick = (value: unknown, ...names: string[]): unknown[] => names.map((name) => loose(value)[name])

test('a merge request follows what git pushes, and is merged', async () => {
  const { MergeRequests } = harbour.as('owner')
  const id = harbour.projectId
  await client.git(copy, 'checkout', '-q', '-B', 'topic', 'origin/main')
  const first = await pushFile('topic', 'first.txt')
  const made = await MergeRequests.create(id, 'topic', 'main', 'The topic', { labels: 'one,two' })
  assert.deepEqual(pick(made, 'iid', 'state', 'sha', 'changes_count', 'labels'), [
    1,
    'opened',
    first,
    '1',
    ['one', 'two'],
  ])
  const second = await pushFile('topic', 'second.txt')
  const shown = await MergeRequests.show(id, 1)
  assert.deepEqual(pick(shown, 'sha', 'changes_count', 'detailed_merge_status'), [second, '2', 'mergeable'])
  assert.deepEqual(
    (await MergeRequests.allCommits(id, 1)).map((commit) => commit.id),
    [second, first],
  )
  assert.deepEqual(
    (await MergeRequests.allDiffs(id, 1)).map((diff) => diff.new_path),
    ['first.txt', 'second.txt'],
  )
  const versions = await MergeRequests.allDiffVersions(id, 1)
  assert.deepEqual(
    versions.map((version) => version.head_commit_sha),
    [second, first],
  )
  const version = await MergeRequests.showDiffVersion(id, 1, versions[1]?.id ?? 0)
  assert.deepEqual([version.commits?.length, version.diffs?.length], [1, 1])
  assert.equal(
    await client.git(copy, 'ls-remote', 'origin', 'refs/merge-requests/1/head'),
    `${second}\trefs/merge-requests/1/head`,
  )

  const wrong = await errorOf(MergeRequests.merge(id, 1, { sha: first }))
  assert.deepEqual(wrong, {
    status: 409,
    message: `SHA does not match HEAD of source branch: ${second}`,
  })
  const merged = loose(await MergeRequests.merge(id, 1, { sha: second, shouldRemoveSourceBranch: true }))
  assert.equal(merged['state'], 'merged')
  await client.git(copy, 'fetch', '-q', '--prune')
  assert.equal(await client.git(copy, 'rev-parse', 'origin/main'), merged['merge_commit_sha'])
  assert.equal((await client.run(copy, ['rev-parse', '--verify', '-q', 'origin/topic'])).code, 1)
  const again = await errorOf(MergeRequests.merge(id, 1))
  assert.deepEqual(again, { status: 405, message: '405 Method Not Allowed' })
  const { Commits } = harbour.clientFor()
  const brought = await Commits.allMergeRequests(id, first)
  assert.deepEqual(
    brought.map((one) => one.iid),
    [1],
  )
})

test('a merge made by git and pushed merges the merge request', async () => {
  const { MergeRequests } = harbour.as('owner')
  const id = harbour.projectId
  await client.git(copy, 'checkout', '-q', '-B', 'by-hand', 'origin/main')
  await pushFile('by-hand', 'hand.txt')
  const { iid } = await MergeRequests.create(id, 'by-hand', 'main', 'By hand')
  await client.git(copy, 'checkout', '-q', '-B', 'main', 'origin/main')
  await client.git(copy, 'merge', '-q', '--no-ff', '-m', 'Merged by hand', 'by-hand')
  await client.git(copy, 'push', '-q', 'origin', 'main')
  const shown = await MergeRequests.show(id, iid)
  assert.deepEqual(pick(shown, 'state', 'merge_commit_sha'), [
    'merged',
    await client.git(copy, 'rev-parse', 'main'),
  ])
})

test('it is listed, changed, approved, followed, closed and deleted', async () => {
  const { MergeRequests, MergeRequestApprovals } = harbour.as('owner')
  const id = harbour.projectId
  await client.git(copy, 'checkout', '-q', '-B', 'changed', 'origin/main')
  await pushFile('changed', 'changed.txt')
  const { iid } = await MergeRequests.create(id, 'changed', 'main', 'Draft: to change')
  const twice = await errorOf(MergeRequests.create(id, 'changed', 'main', 'Again'))
  assert.equal(twice.status, 409)
  assert.match(twice.message, /Another open merge request already exists for this source branch: !\d+/)
  const missing = await errorOf(MergeRequests.create(id, 'nowhere', 'main', 'x'))
  assert.equal(missing.status, 422)

  const edited = await MergeRequests.edit(id, iid, { title: 'Ready', addLabels: 'late', squash: true })
  assert.deepEqual(pick(edited, 'title', 'draft', 'labels', 'squash'), ['Ready', false, ['late'], true])
  for (const options of [{ projectId: id }, { groupId: harbour.groupId }, {}])
    assert.ok(
      (await MergeRequests.all({ ...options, state: 'opened', labels: 'late' })).some(
        (one) => one.iid === iid,
      ),
    )
  assert.deepEqual(await MergeRequests.all({ projectId: id, search: 'nothing like it' }), [])
  await MergeRequestApprovals.approve(id, iid)
  const approvals = loose(await MergeRequestApprovals.showConfiguration(id, { mergerequestIId: iid }))
  assert.equal((approvals['approved_by'] as unknown[]).length, 1)
  await MergeRequestApprovals.unapprove(id, iid)
  assert.equal((await MergeRequests.allParticipants(id, iid)).length, 1)
  assert.equal(loose(await MergeRequests.unsubscribe(id, iid))['subscribed'], false)
  assert.equal(loose(await MergeRequests.subscribe(id, iid))['subscribed'], true)
  await MergeRequests.setTimeEstimate(id, iid, '1d')
  await MergeRequests.addSpentTime(id, iid, '2h30m')
  assert.deepEqual(
    pick(await MergeRequests.showTimeStats(id, iid), 'time_estimate', 'human_total_time_spent'),
    [28_800, '2h 30m'],
  )
  await MergeRequests.resetTimeEstimate(id, iid)
  await MergeRequests.resetSpentTime(id, iid)
  assert.deepEqual(
    pick(await MergeRequests.showTimeStats(id, iid), 'time_estimate', 'total_time_spent'),
    [0, 0],
  )
  assert.deepEqual(loose(await MergeRequests.rebase(id, iid)), { rebase_in_progress: true })
  assert.deepEqual(await MergeRequests.allPipelines(id, iid), [])
  assert.deepEqual(await MergeRequests.allIssuesClosed(id, iid), [])
  assert.equal((await MergeRequests.edit(id, iid, { stateEvent: 'close' })).state, 'closed')
  const stranger = await errorOf(harbour.as('stranger').MergeRequests.edit(id, iid, { title: 'x' }))
  assert.equal(stranger.status, 403)
  await MergeRequests.remove(id, iid)
  assert.equal((await errorOf(MergeRequests.show(id, iid))).message, '404 Not found')
})

test('snippets are made, read, changed and removed', async () => {
  const { ProjectSnippets } = harbour.as('owner')
  const id = harbour.projectId
  const made = await ProjectSnippets.create(id, 'Two files', {
    files: [
      { filePath: 'a.txt', content: 'a\n' },
      { filePath: 'deep/b.txt', content: 'b\n' },
    ],
    visibility: 'public',
  })
  assert.deepEqual(pick(made, 'title', 'file_name', 'visibility', 'project_id'), [
    'Two files',
    'a.txt',
    'public',
    id,
  ])
  assert.equal(await ProjectSnippets.showContent(id, made.id), 'a\n')
  assert.equal(await ProjectSnippets.showRepositoryFileContent(id, made.id, 'main', 'deep/b.txt'), 'b\n')
  await ProjectSnippets.edit(id, made.id, {
    files: [
      { action: 'update', filePath: 'a.txt', content: 'changed\n' },
      { action: 'delete', filePath: 'deep/b.txt' },
    ],
  } as never)
  assert.equal(await harbour.clientFor().ProjectSnippets.showContent(id, made.id), 'changed\n')
  assert.deepEqual(
    (await ProjectSnippets.all(id)).map((one) => one.id),
    [made.id],
  )
  await ProjectSnippets.remove(id, made.id)
  assert.equal((await errorOf(ProjectSnippets.show(id, made.id))).status, 404)
})
