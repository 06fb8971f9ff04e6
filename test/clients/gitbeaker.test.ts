/* The unmodified client @gitbeaker/rest, area by area, against the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Gitlab } from '@gitbeaker/rest'
import { gitLines } from '../support/git_fixtures.ts'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

test('it shows a group by id and by path, and camelizes on demand', async () => {
  const { server, groupId, projectId, tokens, clientFor } = harbour
  const byId = await clientFor().Groups.show(groupId)
  assert.equal(byId.full_path, 'harbour')
  assert.deepEqual(
    ((await clientFor().Groups.show('harbour')) as unknown as { projects: { id: number }[] }).projects.map(
      (p) => p.id,
    ),
    [projectId],
  )
  const camel = new Gitlab({ host: server.url, token: tokens.owner, camelize: true })
  const { fullPath, requestAccessEnabled } = await camel.Groups.show('harbour')
  assert.deepEqual({ fullPath, requestAccessEnabled }, { fullPath: 'harbour', requestAccessEnabled: true })
})

test('it lists the projects of a group', async () => {
  const { clientFor } = harbour
  const projects = await clientFor().Groups.allProjects('harbour', { perPage: 1 })
  assert.deepEqual(
    projects.map((project) => project.path_with_namespace),
    ['harbour/gateway.x'],
  )
})

test('a bearer token and a token from a function sign in like a private token', async () => {
  const { server, groupId, tokens } = harbour
  const bearer = new Gitlab({ host: server.url, oauthToken: tokens.owner })
  assert.equal((await bearer.Namespaces.show('harbour')).id, groupId)
  const late = new Gitlab({ host: server.url, token: async () => Promise.resolve(tokens.owner) })
  assert.equal((await late.Namespaces.show('harbour')).id, groupId)
})

test('it creates, lists, shows, edits and removes the labels of a group', async () => {
  const { groupId, as } = harbour
  const { GroupLabels } = as('owner')
  const title = 'área: ünïcode/α & 50%'
  const made = await GroupLabels.create('harbour', title, 'tomato', { description: 'Look **here**' })
  const { id } = made
  const label = {
    id,
    name: title,
    color: '#FF6347',
    text_color: '#FFFFFF',
    description: 'Look **here**',
    description_html: 'Look <strong>here</strong>',
    open_issues_count: 0,
    closed_issues_count: 0,
    open_merge_requests_count: 0,
    subscribed: false,
  }
  assert.deepEqual(made, label)
  assert.deepEqual(await GroupLabels.all(groupId, { search: 'unicode' }), [])
  assert.deepEqual(await GroupLabels.all(groupId, { search: 'ünïcode', withCounts: true }), [label])
  assert.deepEqual(await GroupLabels.show('harbour', id), label)
  assert.deepEqual(await GroupLabels.show('harbour', title), label)

  // The client's types have one or the other; it sends both.
  const bothChanged = { newName: 'plain', color: '#0033cc' } as unknown as { newName: string }
  const edited = { ...label, name: 'plain', color: '#0033CC' }
  assert.deepEqual(await GroupLabels.edit('harbour', title, bothChanged), edited)
  assert.deepEqual(await GroupLabels.show(groupId, 'plain'), edited)

  assert.equal(await GroupLabels.remove(groupId, 'plain'), null)
  assert.deepEqual(await errorOf(GroupLabels.show(groupId, id)), {
    status: 404,
    message: '404 Label Not Found',
  })
  assert.deepEqual(await GroupLabels.all(groupId), [])
})

test('it walks every page of labels', async () => {
  const { groupId, as } = harbour
  const { GroupLabels } = as('owner')
  const titles = Array.from({ length: 23 }, (_, i) => `page-${String(i).padStart(2, '0')}`)
  for (const title of titles) await GroupLabels.create(groupId, title, '#112233')
  const found = await GroupLabels.all(groupId, { perPage: 5, search: 'page-' })
  assert.deepEqual(
    found.map((label) => label.name),
    titles,
  )
  for (const title of titles) await GroupLabels.remove(groupId, title)
})

test('it lists and shows namespaces, and learns whether one is there', async () => {
  const { server, groupId, as } = harbour
  const { Namespaces } = as('owner')
  const mine = await Namespaces.all({ perPage: 1 })
  assert.deepEqual(
    mine.map(({ kind }) => kind).toSorted((a, b) => (a < b ? -1 : 1)),
    ['group', 'user'],
  )
  const shown = await Namespaces.show('harbour')
  assert.deepEqual(
    { id: shown.id, kind: shown.kind, full_path: shown.full_path, web_url: shown.web_url },
    { id: groupId, kind: 'group', full_path: 'harbour', web_url: `${server.url}/groups/harbour` },
  )
  assert.deepEqual(await Namespaces.exists('harbour'), { exists: true, suggests: ['harbour1'] })
  assert.deepEqual(await Namespaces.exists('nobody-took-this'), { exists: false, suggests: [] })
  assert.deepEqual(await Namespaces.exists('harbour', { parentId: String(groupId) }), {
    exists: false,
    suggests: [],
  })
})

test('it creates, lists and removes project aliases', async () => {
  const { projectId, as } = harbour
  const { ProjectAliases } = as('root')
  const alias = await ProjectAliases.create(projectId, 'gate')
  assert.deepEqual(alias, { id: alias.id, project_id: projectId, name: 'gate' })
  assert.deepEqual(await ProjectAliases.all(), [alias])
  assert.deepEqual(await errorOf(ProjectAliases.create('harbour/gateway.x', 'gate')), {
    status: 400,
    message: '{"name":["has already been taken"]}',
  })
  assert.equal(await ProjectAliases.remove('gate'), null)
  assert.deepEqual(await ProjectAliases.all(), [])
})

test('it reads plan limits and sets them from the query', async () => {
  const { as } = harbour
  const { ApplicationPlanLimits } = as('root')
  const first = await ApplicationPlanLimits.show({ planName: 'default' })
  assert.equal(first.ci_active_jobs, 0)
  const set = await ApplicationPlanLimits.edit('default', { ciActiveJobs: 5, npmMaxFileSize: 12_345 })
  assert.deepEqual(set, { ...first, ci_active_jobs: 5, npm_max_file_size: 12_345 })
  assert.deepEqual(await ApplicationPlanLimits.show(), set)
})

test('it walks all commits of an imported project as git lists them', async () => {
  const { source, projectId, clientFor } = harbour
  const shas = gitLines(source, ['rev-list', 'main'])
  assert.ok(shas.length > 40, `${shas.length} commits are more than two pages`)
  const { Commits } = clientFor()
  const commits = await Commits.all(projectId, { perPage: 20 })
  assert.deepEqual(
    commits.map((commit) => commit.id),
    shas,
  )
  const byPath = await Commits.all('harbour/gateway.x', { refName: 'ümläut', perPage: 100 })
  assert.deepEqual(
    byPath.map((commit) => commit.id),
    gitLines(source, ['rev-list', 'ümläut']),
  )
  assert.equal(
    (await Commits.all(projectId, { all: true, perPage: 50 })).length,
    gitLines(source, ['rev-list', '--all']).length,
  )
})

test('it shows a commit with the statistics that git counts', async () => {
  const { server, source, clientFor } = harbour
  const [sha = ''] = gitLines(source, [
    'rev-list',
    '--no-merges',
    '--min-parents=1',
    '--grep=^Plain title',
    'main',
  ])
  const [parent, author, email, title] = gitLines(source, ['log', '-1', '--format=%P%n%an%n%ae%n%s', sha])
  const shown = await clientFor().Commits.show('harbour/gateway.x', sha, { stats: true })
  assert.deepEqual(
    [shown.id, shown.short_id, shown.parent_ids, shown.author_name, shown.author_email, shown.title],
    [sha, sha.slice(0, 8), [parent], author, email, title],
  )
  const counted = gitLines(source, ['diff-tree', '-r', '--numstat', '--no-commit-id', '--no-renames', sha])
  const sum = (at: number): number =>
    counted.reduce((all, line) => all + (Number(line.split('\t')[at]) || 0), 0)
  assert.deepEqual(shown.stats, { additions: sum(0), deletions: sum(1), total: sum(0) + sum(1) })
  assert.equal(shown.web_url, `${server.url}/harbour/gateway.x/-/commit/${sha}`)
})
