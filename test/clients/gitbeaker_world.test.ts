/* The unmodified client @gitbeaker/rest makes a whole world on a fresh server, changes it, and takes it down again. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Gitlab } from '@gitbeaker/rest'
import { errorOf } from '../support/harbour.ts'
import { openReadyPlace, type Place } from '../support/program.ts'

let place: Place
let api: InstanceType<typeof Gitlab>
before(async () => {
  place = await openReadyPlace()
  const server = await place.serve()
  api = new Gitlab({ host: server.url, token: String(server.told['root_token']) })
})
after(() => place.clear())

type Row = Record<string, unknown> & { readonly id: number; readonly iid: number }
const row = (given: unknown): Row => given as Row
const pick = (given: unknown, ...names: string[]): unknown[] => names.map((name) => row(given)[name])
const gone = async (work: Promise<unknown>): Promise<void> => assert.equal((await errorOf(work)).status, 404)

/** State that one test leaves for the next: they tell one story. */
const made = { ann: 0, yard: 0, dock: 0, ship: 0, label: 0, milestone: 0, issue: 0, snippet: 0, badge: 0 }

test('it makes people, places and a history', async () => {
  const ann = await api.Users.create({
    username: 'ann',
    name: 'Ann',
    email: 'ann@x.example',
    forceRandomPassword: true,
    skipConfirmation: true,
  })
  const yard = await api.Groups.create('Yard', 'yard', { visibility: 'private' })
  const dock = await api.Groups.create('Dock', 'dock', { parentId: yard.id })
  const ship = await api.Projects.create({ name: 'Ship', namespaceId: dock.id, initializeWithReadme: true })
  assert.deepEqual(pick(ship, 'path_with_namespace', 'default_branch', 'empty_repo'), [
    'yard/dock/Ship',
    'main',
    false,
  ])
  Object.assign(made, { ann: ann.id, yard: yard.id, dock: dock.id, ship: ship.id })

  await api.GroupMembers.add(yard.id, 30, { userId: ann.id })
  await api.ProjectMembers.add(ship.id, 40, { userId: ann.id })
  const inherited = await api.ProjectMembers.all(ship.id, { includeInherited: true })
  assert.deepEqual(
    Object.fromEntries(inherited.map(({ username, access_level }) => [username, access_level])),
    { ann: 40, root: 50 },
  )
  await api.Branches.create(ship.id, 'topic', 'main')
  await api.RepositoryFiles.create(ship.id, 'hull/öak.md', 'topic', 'Oak\n', 'Lay the keel')
  const file = await api.RepositoryFiles.show(ship.id, 'hull/öak.md', 'topic')
  assert.equal(Buffer.from(file.content, 'base64').toString(), 'Oak\n')
  const commits = await api.Commits.all(ship.id, { refName: 'topic' })
  assert.deepEqual(
    commits.map(({ title }) => title),
    ['Lay the keel', 'Initial commit'],
  )
})

test('it plans, discusses and reads back what it wrote', async () => {
  const { ship, ann } = made
  const label = await api.ProjectLabels.create(ship, 'leak & seep', 'red', { priority: 1 })
  const milestone = await api.ProjectMilestones.create(ship, 'Launch', { dueDate: '2030-01-31' })
  const issue = row(
    await api.Issues.create(ship, 'It leaks', {
      description: '- [x] find\n- [ ] mend',
      labels: 'leak & seep',
      milestoneId: milestone.id,
      assigneeIds: [ann],
      dueDate: '2030-01-01',
      weight: 3,
    }),
  )
  await api.IssueNotes.create(ship, issue.iid, 'Seen by @ann')
  await api.IssueNotes.create(ship, issue.iid, '/estimate 2h')
  await api.IssueAwardEmojis.award(ship, issue.iid, 'thumbsup')
  const shown = row(await api.Issues.show(issue.iid, { projectId: ship }))
  const [listed] = await api.Issues.all({ projectId: ship, labels: 'leak & seep', state: 'opened' })
  for (const one of [shown, row(listed)]) {
    assert.deepEqual(pick(one, 'id', 'labels', 'weight', 'upvotes', 'user_notes_count', 'due_date'), [
      issue.id,
      ['leak & seep'],
      3,
      1,
      1,
      '2030-01-01',
    ])
    assert.deepEqual(one['task_completion_status'], { count: 2, completed_count: 1 })
    assert.equal(row(one['time_stats'])['time_estimate'], 7200)
    assert.equal(row(one['milestone']).id, milestone.id)
  }
  assert.equal((await api.ProjectLabels.show(ship, label.id)).open_issues_count, 1)
  assert.equal((await api.ProjectMilestones.allAssignedIssues(ship, milestone.id)).length, 1)

  const snippet = row(
    await api.ProjectSnippets.create(ship, 'Knots', {
      visibility: 'private',
      files: [{ filePath: 'knots.txt', content: 'bowline\n' }],
    }),
  )
  assert.equal(await api.ProjectSnippets.showContent(ship, snippet.id), 'bowline\n')
  const badge = row(
    await api.ProjectBadges.add(ship, 'https://x.example/%{project_path}', 'https://x.example/i.svg'),
  )
  assert.equal(badge['rendered_link_url'], 'https://x.example/yard/dock/Ship')
  const ids = { label: label.id, milestone: milestone.id, issue: issue.iid }
  Object.assign(made, { ...ids, snippet: snippet.id, badge: badge.id })
})

test('a merge request brings the history in, and closes the issue', async () => {
  const { ship, issue } = made
  const opened = row(
    await api.MergeRequests.create(ship, 'topic', 'main', 'The hull', {
      description: `Closes #${issue}`,
      removeSourceBranch: true,
    }),
  )
  await api.MergeRequestNotes.create(ship, opened.iid, 'Well made')
  assert.equal(row(await api.MergeRequests.show(ship, opened.iid))['detailed_merge_status'], 'mergeable')
  assert.deepEqual(pick(await api.MergeRequests.merge(ship, opened.iid), 'state'), ['merged'])
  assert.deepEqual(
    (await api.Branches.all(ship)).map(({ name }) => name),
    ['main'],
  )
  assert.equal(row(await api.Issues.show(issue, { projectId: ship }))['state'], 'closed')
  assert.equal((await api.RepositoryFiles.show(ship, 'hull/öak.md', 'main')).size, 4)
})

test('it changes everything', async () => {
  const { ship, yard, ann } = made
  await api.Users.edit(ann, { name: 'Ann Ekström' })
  await api.ProjectLabels.edit(ship, made.label, { newName: 'leak' })
  await api.ProjectMilestones.edit(ship, made.milestone, { stateEvent: 'close' })
  await api.Issues.edit(ship, made.issue, { title: 'It leaked', stateEvent: 'reopen' })
  const files = [{ action: 'update' as const, filePath: 'knots.txt', content: 'hitch\n' }]
  await api.ProjectSnippets.edit(ship, made.snippet, { files })
  await api.ProjectBadges.edit(ship, made.badge, { name: 'build' })
  assert.equal((await errorOf(api.ProjectMembers.edit(ship, ann, 20))).status, 400)
  await api.ProjectMembers.edit(ship, ann, 50)
  await api.Groups.edit(yard, { description: 'Ships & <b>boats</b>' })
  await api.Projects.edit(ship, { description: 'A ship', defaultBranch: 'main' })
  await api.Projects.transfer(ship, yard)

  const issue = row(await api.Issues.show(made.issue, { projectId: 'yard/Ship' }))
  assert.deepEqual(pick(issue, 'title', 'state', 'labels'), ['It leaked', 'opened', ['leak']])
  assert.equal(row((issue['assignees'] as unknown[])[0])['name'], 'Ann Ekström')
  assert.equal(row(issue['milestone'])['state'], 'closed')
  assert.equal(await api.ProjectSnippets.showContent(ship, made.snippet), 'hitch\n')
  assert.equal((await api.ProjectBadges.all(ship))[0]?.name, 'build')
  assert.equal((await api.ProjectMembers.show(ship, ann)).access_level, 50)
  assert.equal((await api.Groups.show('yard')).description, 'Ships & <b>boats</b>')
})

test('it removes all of it, one after the other, until nothing is left', async () => {
  const { ship, yard, dock, ann } = made
  await api.ProjectBadges.remove(ship, made.badge)
  await api.ProjectSnippets.remove(ship, made.snippet)
  await api.Issues.remove(ship, made.issue)
  await gone(api.Issues.show(made.issue, { projectId: ship }))
  await api.MergeRequests.remove(ship, 1)
  await api.ProjectMilestones.remove(ship, made.milestone)
  await api.ProjectLabels.remove(ship, made.label)
  await api.ProjectMembers.remove(ship, ann)
  const { ProjectBadges, ProjectSnippets, MergeRequests, ProjectMilestones, ProjectLabels } = api
  for (const list of [ProjectBadges, ProjectSnippets, ProjectMilestones, ProjectLabels])
    assert.deepEqual(await list.all(ship), [])
  assert.deepEqual(await MergeRequests.all({ projectId: ship }), [])
  assert.deepEqual(await api.Issues.all({ projectId: ship }), [])

  await api.Projects.remove(ship)
  await gone(api.Projects.show(ship))
  await api.Groups.remove(dock)
  await gone(api.Groups.show(dock))
  await api.Groups.remove(yard)
  assert.deepEqual(await api.Groups.all(), [])
  assert.deepEqual(await api.Projects.all(), [])
  await api.Users.remove(ann, { hardDelete: true })
  assert.deepEqual(
    (await api.Users.all()).map(({ username }) => username),
    ['root'],
  )
  assert.deepEqual(
    (await api.Namespaces.all()).map(({ full_path }) => full_path),
    ['root'],
  )
})
