/* The unmodified client @gitbeaker/rest against the real program. How it pages: it follows `Link rel="next"` alone. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Gitlab, GitbeakerRequestError } from '@gitbeaker/rest'
import { pino } from 'pino'
import { openInstance } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { gitLines, scratch, writeHistory } from '../support/git_fixtures.ts'
import { createMakers, type Makers } from '../support/makers.ts'
import { openPlace, type Place, type Running } from '../support/program.ts'

const GROUPS = 45
const COMMITS = 130

let place: Place
let server: Running
let source: string
let groupId: number
let projectId: number
/** By role: what they can do is the server's to say. */
const tokens = { root: '', owner: '', stranger: '' }

const clientFor = (token?: string): InstanceType<typeof Gitlab> =>
  new Gitlab({ host: server.url, ...(token === undefined ? {} : { token }) } as {
    host: string
    token: string
  })
const as = (who: keyof typeof tokens): InstanceType<typeof Gitlab> => clientFor(tokens[who])

/** Makes records beside the running server, as the command line does, without a process for each. */
async function furnish(work: (make: Makers) => Promise<void>): Promise<void> {
  const log = pino({ level: 'silent' })
  const opened = await openInstance(readConfig(place.env), { log, join: true })
  try {
    await work(createMakers(opened.instance))
  } finally {
    await opened.close()
  }
}

before(async () => {
  place = await openPlace()
  server = await place.serve()
  tokens.root = String(server.told['root_token'])
  source = join(scratch(), 'source.git')
  writeHistory(source, COMMITS, 7)
  await furnish(async (make) => {
    const harbour = await make.group({ path: 'harbour', name: 'Harbour', visibility: 'public' })
    groupId = harbour.id
    tokens.owner = (await make.memberOf('owner', { group: harbour })).token
    tokens.stranger = (await make.user()).token
    for (let i = 1; i < GROUPS; i += 1) {
      const path = `harbour-${String(i).padStart(2, '0')}`
      await make.group({ path, visibility: i % 9 === 0 ? 'private' : 'public' })
    }
  })
  const args = ['--path', 'harbour/gateway.x', '--visibility', 'public', '--import', source]
  projectId = Number((await place.json(['project', 'create', ...args]))['id'])
})
after(() => place.clear())

/** What the client's error carries: its text and the status behind it. */
async function errorOf(work: Promise<unknown>): Promise<{ status: number | undefined; message: string }> {
  const error: unknown = await work.then(
    () => assert.fail('the client was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof GitbeakerRequestError, String(error))
  return { status: error.cause?.response.status, message: error.message }
}

const names = (count: number, keep: (i: number) => boolean): string[] =>
  Array.from({ length: count - 1 }, (_, i) => i + 1)
    .filter(keep)
    .map((i) => `harbour-${String(i).padStart(2, '0')}`)

test('it walks every page of all groups and meets each once, in order', async () => {
  const groups = await as('root').Groups.all({ perPage: 7 })
  assert.deepEqual(
    groups.map((group) => group.full_path),
    ['harbour', ...names(GROUPS, () => true)].toSorted((a, b) => (a === 'harbour' ? -1 : a < b ? -1 : 1)),
  )
})

test('it reads where a page stands from the headers of the list', async () => {
  const { data, paginationInfo } = await as('root').Groups.all({
    pagination: 'offset',
    perPage: 10,
    page: 2,
    showExpanded: true,
  })
  assert.equal(data.length, 10)
  assert.deepEqual(paginationInfo, {
    total: GROUPS,
    next: 3,
    current: 2,
    previous: 1,
    perPage: 10,
    totalPages: 5,
  })
  const last = await as('root').Groups.all({
    pagination: 'offset',
    perPage: 10,
    page: 5,
    showExpanded: true,
  })
  assert.equal(last.data.length, 5)
  assert.deepEqual(last.paginationInfo, {
    total: GROUPS,
    next: null,
    current: 5,
    previous: 4,
    perPage: 10,
    totalPages: 5,
  })
})

test('it keeps its filters from page to page', async () => {
  const options = { perPage: 2, search: 'harbour-1', orderBy: 'path', sort: 'desc' } as const
  const groups = await as('root').Groups.all(options)
  assert.deepEqual(
    groups.map((group) => group.path),
    names(20, (i) => i >= 10).toReversed(),
  )
})

test('it sends a list of ids to skip, and they are skipped on each page', async () => {
  const groups = await as('root').Groups.all({ perPage: 10, skipGroups: [groupId] })
  assert.equal(groups.length, GROUPS - 1)
  assert.ok(groups.every((group) => group.id !== groupId))
})

test('without a token it walks the public groups by keyset, and sees no private one', async () => {
  const found = await clientFor().Groups.all({
    pagination: 'keyset',
    perPage: 6,
    orderBy: 'name',
    sort: 'asc',
  })
  assert.deepEqual(
    found.map((group) => group.path),
    ['harbour', ...names(GROUPS, (i) => i % 9 !== 0)].toSorted((a, b) => byName(a, b)),
  )
})
// The group named Harbour sorts by that name; the order is the database's, which has capitals first.
const byName = (a: string, b: string): number => (a === 'harbour' ? -1 : b === 'harbour' ? 1 : a < b ? -1 : 1)

test('without a token it walks the public groups by offset as well', async () => {
  const found = await clientFor().Groups.all({ perPage: 6 })
  assert.equal(found.length, GROUPS - names(GROUPS, (i) => i % 9 === 0).length)
})

test('it shows a group by id and by path, and camelizes on demand', async () => {
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
  const projects = await clientFor().Groups.allProjects('harbour', { perPage: 1 })
  assert.deepEqual(
    projects.map((project) => project.path_with_namespace),
    ['harbour/gateway.x'],
  )
})

test('a bearer token and a token from a function sign in like a private token', async () => {
  const bearer = new Gitlab({ host: server.url, oauthToken: tokens.owner })
  assert.equal((await bearer.Namespaces.show('harbour')).id, groupId)
  const late = new Gitlab({ host: server.url, token: async () => Promise.resolve(tokens.owner) })
  assert.equal((await late.Namespaces.show('harbour')).id, groupId)
})

test('it creates, lists, shows, edits and removes the labels of a group', async () => {
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
  const { Namespaces } = as('owner')
  const mine = await Namespaces.all({ perPage: 1 })
  assert.deepEqual(
    mine.map(({ kind }) => kind).toSorted((a, b) => (a < b ? -1 : 1)),
    ['group', 'user'],
  )
  const harbour = await Namespaces.show('harbour')
  assert.deepEqual(
    { id: harbour.id, kind: harbour.kind, full_path: harbour.full_path, web_url: harbour.web_url },
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
  const { ApplicationPlanLimits } = as('root')
  const first = await ApplicationPlanLimits.show({ planName: 'default' })
  assert.equal(first.ci_active_jobs, 0)
  const set = await ApplicationPlanLimits.edit('default', { ciActiveJobs: 5, npmMaxFileSize: 12_345 })
  assert.deepEqual(set, { ...first, ci_active_jobs: 5, npm_max_file_size: 12_345 })
  assert.deepEqual(await ApplicationPlanLimits.show(), set)
})

test('it walks all commits of an imported project as git lists them', async () => {
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

test('its errors carry the words of a record that is not there', async () => {
  const root = as('root')
  assert.deepEqual(await errorOf(root.Groups.show('nowhere')), {
    status: 404,
    message: '404 Group Not Found',
  })
  assert.deepEqual(await errorOf(root.Namespaces.show('nowhere')), {
    status: 404,
    message: '404 Namespace Not Found',
  })
  assert.deepEqual(await errorOf(root.Commits.all('no/where')), {
    status: 404,
    message: '404 Project Not Found',
  })
  assert.deepEqual(await errorOf(root.Commits.show(projectId, 'nothing')), {
    status: 404,
    message: '404 Commit Not Found',
  })
  assert.deepEqual(await errorOf(root.ProjectAliases.remove('nothing')), {
    status: 404,
    message: '404 Not found',
  })
})

test('to a stranger a private group is as absent as one that never was', async () => {
  const stranger = as('stranger')
  const hidden = await errorOf(stranger.Groups.show('harbour-09'))
  assert.deepEqual(hidden, await errorOf(stranger.Groups.show('harbour-99')))
  assert.deepEqual(hidden, { status: 404, message: '404 Group Not Found' })
})

test('its errors carry the words of a caller who is nobody', async () => {
  const refused = { status: 401, message: '401 Unauthorized' }
  assert.deepEqual(await errorOf(clientFor().Namespaces.all()), refused)
  assert.deepEqual(await errorOf(clientFor().GroupLabels.all('harbour')), refused)
  assert.deepEqual(await errorOf(clientFor('glpat-wrong').Groups.all()), refused)
})

test('its errors carry the words of a caller who may not', async () => {
  const refused = { status: 403, message: '403 Forbidden' }
  const stranger = as('stranger')
  assert.deepEqual(await errorOf(stranger.GroupLabels.create('harbour', 'mine', '#000000')), refused)
  assert.deepEqual(await errorOf(stranger.ProjectAliases.all()), refused)
  assert.deepEqual(await errorOf(as('owner').ApplicationPlanLimits.show()), refused)
  assert.deepEqual(await as('owner').GroupLabels.all('harbour'), [])
})

test('its errors carry the words of a read-only token, and of a conflict', async () => {
  const args = ['--user', 'root', '--scopes', 'read_api']
  const reader = clientFor(String((await place.json(['token', 'create', ...args]))['token']))
  assert.equal((await reader.Groups.show('harbour')).id, groupId)
  assert.deepEqual(await errorOf(reader.GroupLabels.create('harbour', 'x', '#000000')), {
    status: 403,
    message: 'insufficient_scope',
  })
  const { GroupLabels } = as('owner')
  await GroupLabels.create('harbour', 'once', '#000000')
  assert.deepEqual(await errorOf(GroupLabels.create('harbour', 'once', '#000000')), {
    status: 409,
    message: 'Label already exists',
  })
  await GroupLabels.remove('harbour', 'once')
})

test('its errors carry what is wrong with a parameter, and with a record', async () => {
  const { GroupLabels, Groups, ApplicationPlanLimits, Commits } = as('root')
  const faults: [() => Promise<unknown>, string][] = [
    [() => GroupLabels.create('harbour', 'x', 'no colour'), '{"color":["must be a valid color code"]}'],
    [() => GroupLabels.create('harbour', 'a,b', 'red'), '{"title":["is invalid"]}'],
    [() => GroupLabels.create('harbour', undefined as unknown as string, 'red'), 'name is missing'],
    [() => Groups.all({ visibility: 'secret' as 'public' }), 'visibility does not have a valid value'],
    [() => Groups.all({ minAccessLevel: 'high' as never }), 'min_access_level is invalid'],
    [
      () => ApplicationPlanLimits.edit('default', { ciActiveJobs: -1 }),
      '{"ci_active_jobs":["must be greater than or equal to 0"]}',
    ],
    [
      () => ApplicationPlanLimits.edit('nothing' as 'default', { ciActiveJobs: 1 }),
      'plan_name does not have a valid value',
    ],
    [() => Commits.all(projectId, { refName: '--all' }), 'ref_name is invalid'],
  ]
  for (const [work, message] of faults) assert.deepEqual(await errorOf(work()), { status: 400, message })
})

test('its own wrong path for label subscriptions is told apart from a missing label', async () => {
  const { GroupLabels } = as('owner')
  const { id } = await GroupLabels.create('harbour', 'followed', 'red')
  assert.deepEqual(await errorOf(GroupLabels.subscribe('harbour', id)), {
    status: 404,
    message: '404 Not Found',
  })
  assert.equal((await GroupLabels.show('harbour', id)).subscribed, false)
  await GroupLabels.remove('harbour', id)
})

test('past its allowance the client hears of the rate limit', async () => {
  const throttle = 'throttle_authenticated_api'
  await place.json(['setting', 'set', `${throttle}_requests_per_period`, '3'])
  await place.json(['setting', 'set', `${throttle}_enabled`, 'true'])
  const { Groups } = as('stranger')
  for (let i = 0; i < 3; i += 1) await Groups.show('harbour')
  await assert.rejects(Groups.show('harbour'), {
    name: 'GitbeakerRetryError',
    message: /after 10 retries, last status code: 429/,
  })
  await place.json(['setting', 'set', `${throttle}_enabled`, 'false'])
  assert.equal((await Groups.show('harbour')).id, groupId)
})
