import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gitText } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { freshenTokens, rowsOf } from '../../../test/support/rows.ts'
import { writeSmallHistory, type CommitName, type SmallHistory } from '../../../test/support/small_history.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Project } from '../../db/schema/tables.ts'

let world: World
let history: SmallHistory
let project: Project
before(async () => {
  world = await openWorld()
  history = writeSmallHistory()
  project = await world.make.project({ visibility: 'public', repository: history.directory })
})
after(() => world.close())

const get = (rev: string, query = '', of: string | number = project.id): Promise<Answered> =>
  world.get(`/projects/${of}/repository/commits/${encodeURIComponent(rev)}${query}`)
const NO_COMMIT = [404, { message: '404 Commit Not Found' }]

test('a commit by itself has its trailers where they are asked for, its lines, its project, and no pipeline', async () => {
  const { sha } = history
  const answer = await get(sha.change, '?trailers=true')
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.deepEqual(answer.body, {
    id: sha.change,
    short_id: sha.change.slice(0, 8),
    created_at: '2024-01-10T15:00:00.000+00:00',
    parent_ids: [sha.source],
    title: 'Change the source',
    message:
      'Change the source\n\nA longer reason.\n\nReviewed-by: B <b@x>\nChangelog: added\nReviewed-by: C <c@x>\n',
    author_name: 'Ada Lovelace',
    author_email: 'ada@example.org',
    authored_date: '2024-01-09T15:00:00.000+00:00',
    committer_name: 'C. Ommitter',
    committer_email: 'c@example.org',
    committed_date: '2024-01-10T15:00:00.000+00:00',
    trailers: { 'Reviewed-by': 'C <c@x>', Changelog: 'added' },
    extended_trailers: { 'Reviewed-by': ['B <b@x>', 'C <c@x>'], Changelog: ['added'] },
    web_url: `https://guild.example/${project.full_path}/-/commit/${sha.change}`,
    stats: { additions: 1, deletions: 1, total: 2 },
    status: null,
    project_id: project.id,
    last_pipeline: null,
  })
  const unasked = (await get(sha.change)).body as Record<string, unknown>
  assert.deepEqual([unasked['trailers'], unasked['extended_trailers']], [{}, {}])
})

test('a commit is named by hash, short hash, branch or tag, slashes and dots included', async () => {
  const { sha } = history
  const rows: [string, CommitName][] = [
    [sha.docs, 'docs'],
    [sha.docs.toUpperCase(), 'docs'],
    [sha.docs.slice(0, 8), 'docs'],
    [sha.docs.slice(0, 11), 'docs'],
    ['main', 'empty'],
    ['HEAD', 'empty'],
    ['feature/login', 'readme'],
    ['heads/feature/login', 'readme'],
    ['refs/heads/feature/login', 'readme'],
    ['v1.0', 'change'],
    ['tags/v1.0', 'change'],
    ['v2.0', 'merge'],
    ['release/1', 'docs'],
  ]
  for (const [rev, name] of rows) {
    const answer = await get(rev)
    assert.deepEqual([answer.status, (answer.body as { id: string }).id], [200, sha[name]], rev)
  }
})

test('the project is named by id or encoded path', async () => {
  const answer = await get('main', '', encodeURIComponent(project.full_path))
  assert.deepEqual([answer.status, (answer.body as { id: string }).id], [200, history.sha.empty])
})

test('an unknown commit is 404, and revision expressions are not evaluated', async () => {
  const names =
    'gone 0 000 HEAD~99 main^9 main^{tree} main@{1} :/Begin --all -q main:README v1.0..main feature'
  for (const rev of [...names.split(' '), '0'.repeat(40), 'f'.repeat(8), 'a b', ' main', 'x'.repeat(3_000)])
    assert.deepEqual([(await get(rev)).status, (await get(rev)).body], NO_COMMIT, rev)
})

test('an ancestor is named as in git', async () => {
  const names = 'main~1 main~2 main^ main~1^2 main^^ main^0 main~0 v1.0~1 feature/login^ HEAD~1 @ @~1 @~1^2~1'
  for (const rev of names.split(' ')) {
    const sha = gitText(history.directory, ['rev-parse', '--quiet', '--verify', `${rev}^{commit}`])
    const answer = await get(rev)
    assert.deepEqual([answer.status, (answer.body as { id: string }).id], [200, sha], rev)
  }
})

test('a hash of something other than a commit is not found', async () => {
  for (const rev of ['main^{tree}', 'main:README']) {
    const hash = gitText(history.directory, ['rev-parse', rev])
    assert.deepEqual([(await get(hash)).status, (await get(hash)).body], NO_COMMIT, rev)
  }
})

test('a slash that is not encoded makes another address, which does not exist', async () => {
  const answer = await world.get(`/projects/${project.id}/repository/commits/feature/login`)
  assert.deepEqual([answer.status, answer.body], [404, { error: '404 Not Found' }])
})

test('without stats no lines are counted, and the key is not there', async () => {
  const counted = (await get('main', '?stats=true')).body as object
  assert.deepEqual((counted as { stats: object }).stats, { additions: 0, deletions: 0, total: 0 })
  for (const value of ['false', 'False', '0']) {
    const { body } = await get('main', `?stats=${value}`)
    assert.deepEqual({ ...(body as object), stats: { additions: 0, deletions: 0, total: 0 } }, counted)
    assert.ok(!('stats' in (body as object)))
  }
  for (const rev of ['main', 'gone']) {
    const answer = await get(rev, '?stats=maybe')
    assert.deepEqual([answer.status, answer.body], [400, { error: 'stats is invalid' }])
  }
})

test('where there is no commit and where there is no repository, no commit is found', async () => {
  const empty = await world.make.project({ visibility: 'public', repository: 'empty' })
  for (const rev of ['main', 'HEAD', history.sha.root])
    assert.deepEqual([(await get(rev, '', empty.id)).status, (await get(rev, '', empty.id)).body], NO_COMMIT)
  const none = await world.make.project({ visibility: 'public' })
  for (const rev of ['main', 'HEAD', history.sha.root])
    assert.deepEqual([(await get(rev, '', none.id)).status, (await get(rev, '', none.id)).body], NO_COMMIT)
})

test('a commit costs two statements: who asks, and the pipeline, of an anonymous caller and of a member', async () => {
  const member = await world.make.memberOf('developer', { project })
  await freshenTokens(world, member)
  for (const as of [undefined, member]) {
    const read = (): Promise<Answered> => world.get(`/projects/${project.id}/repository/commits/main`, as)
    await read()
    assert.equal((await world.statements(read)).length, 2)
  }
})

test('pipelines of commits and merge requests are hidden without the right to see jobs', async () => {
  const mine = await world.make.project({ visibility: 'public', repository: history.directory })
  const developer = await world.make.memberOf('developer', { project: mine })
  const root = `/projects/${mine.id}`
  const source_branch = 'feature/login'
  const make = async (path: string, body: object): Promise<object> =>
    (await world.call('POST', root + path, { as: developer, body })).body as object
  await make(`/statuses/${encodeURIComponent(source_branch)}`, { state: 'success' })
  await make('/repository/branches', { branch: 'old', ref: history.sha.root })
  const wanted = { title: 'Log in', source_branch, target_branch: 'old' }
  const { iid } = (await make('/merge_requests', wanted)) as { iid: number }
  const reader = (role: RoleName): Promise<Someone> => world.make.memberOf(role, { project: mine })
  const callers = [undefined, await reader('guest'), await reader('reporter'), await world.make.admin()]
  const at = `${root}/repository/commits/${encodeURIComponent(source_branch)}`
  const seenBy = async (as: Someone | undefined): Promise<string | null> => {
    const [{ body }, ran] = await Promise.all([
      world.get(at, as),
      world.get(`${root}/merge_requests/${iid}/pipelines`, as),
    ])
    const { status, last_pipeline } = body as { status: string | null; last_pipeline: object | null }
    assert.deepEqual(
      [last_pipeline === null, ran.body],
      status === null ? [true, []] : [false, [last_pipeline]],
    )
    return status
  }
  const seen = async (settings: object): Promise<unknown[]> => {
    await rowsOf(world, 'update projects set settings = $2 where id = $1', [mine.id, settings])
    return Promise.all(callers.map(seenBy))
  }
  const all = ['success', 'success', 'success', 'success']
  assert.deepEqual(await seen({}), all)
  assert.deepEqual(await seen({ public_jobs: false }), [null, null, 'success', 'success'])
  assert.deepEqual(await seen({ builds_access_level: 'private' }), [null, 'success', 'success', 'success'])
  assert.deepEqual(await seen({ jobs_enabled: false }), [null, null, null, null])
})
