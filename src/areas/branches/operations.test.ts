import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gitText } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let developer: Someone
let admin: Someone
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  developer = await make.user()
  admin = await make.admin()
})

async function fresh(visibility: 'public' | 'private' = 'public'): Promise<Project> {
  const { make } = world()
  const project = await make.project({ visibility, repository: history.directory })
  await make.member(developer, 'developer', { project })
  return project
}
const path = (project: { id: number }, name = ''): string =>
  `/projects/${project.id}/repository/branches${name === '' ? '' : `/${encodeURIComponent(name)}`}`
const directory = (project: Project): string =>
  world().opened.instance.git.directory(repositoryPath(project.id))
const git = (project: Project, ...args: string[]): string => gitText(directory(project), args)
const heads = (project: Project): string => git(project, 'for-each-ref', 'refs/heads')
const names = ({ body }: Answered): string[] => (body as { name: string }[]).map(({ name }) => name)
const create = (
  project: Project,
  branch: string,
  ref = 'main',
  as: Someone | undefined = developer,
): Promise<Answered> => world().call('POST', path(project), { as, body: { branch, ref } })
const remove = (project: Project, name: string, as: Someone | undefined = developer): Promise<Answered> =>
  world().call('DELETE', path(project, name), { as })
const commitOf = async (project: Project, rev: string): Promise<unknown> => {
  const {
    stats: _stats,
    status: _status,
    project_id: _id,
    last_pipeline: _last,
    ...rest
  } = (await world().get(`/projects/${project.id}/repository/commits/${encodeURIComponent(rev)}`))
    .body as Record<string, unknown>
  return { ...rest, trailers: {}, extended_trailers: {} }
}

test('a branch of an empty repository begins with a default branch', async () => {
  const { make } = world()
  const project = await make.project({ visibility: 'public', repository: 'empty' })
  await make.member(developer, 'developer', { project })
  assert.equal((await create(project, 'topic')).status, 403)
  const owner = await make.memberOf('owner', { project })
  const answer = await create(project, 'topic', 'main', owner)
  assert.equal(answer.status, 201, answer.text)
  assert.equal(git(project, 'log', '--format=%s %an', 'topic'), `Add README.md ${owner.username}`)
  assert.equal(git(project, 'ls-tree', '--name-only', 'main'), 'README.md')
  const { body } = await world().get(`/projects/${project.id}`, owner)
  const { empty_repo, default_branch } = body as Record<string, unknown>
  assert.deepEqual([empty_repo, default_branch], [false, 'main'])
  assert.deepEqual(names(await world().get(path(project))), ['main', 'topic'])
  const early = await make.project({ visibility: 'public', repository: 'empty' })
  await make.member(owner, 'owner', { project: early })
  assert.deepEqual((await create(early, 'x', 'gone', owner)).body, {
    message: 'Invalid reference name: gone',
  })
})

test('a branch is told in whole, to each what it means for them', async () => {
  const project = await fresh()
  const main = {
    name: 'main',
    merged: false,
    protected: true,
    default: true,
    developers_can_push: false,
    developers_can_merge: false,
    can_push: false,
    web_url: `https://guild.example/${project.full_path}/-/tree/main`,
    commit: await commitOf(project, 'main'),
  }
  const login = {
    ...main,
    name: 'feature/login',
    merged: true,
    protected: false,
    default: false,
    web_url: `https://guild.example/${project.full_path}/-/tree/feature/login`,
    commit: await commitOf(project, 'feature/login'),
  }
  assert.deepEqual((await world().get(path(project))).body, [login, main])
  assert.deepEqual((await world().get(path(project, 'main'))).body, main)
  assert.deepEqual((await world().get(path(project, 'feature/login'), developer)).body, {
    ...login,
    can_push: true,
  })
  assert.deepEqual((await world().get(path(project, 'main'), developer)).body, main)
  assert.deepEqual((await world().get(path(project, 'main'), admin)).body, { ...main, can_push: true })
  const rule = { as: admin, body: { name: 'feature/*', push_access_level: 30, merge_access_level: 30 } }
  assert.equal((await world().call('POST', `/projects/${project.id}/protected_branches`, rule)).status, 201)
  assert.deepEqual((await world().get(path(project, 'feature/login'), developer)).body, {
    ...login,
    protected: true,
    developers_can_push: true,
    developers_can_merge: true,
    can_push: true,
  })
})

test('branches are searched, ordered and paged, at the same cost however many', async () => {
  const project = await fresh()
  const cost = async (): Promise<number> =>
    (await world().statements(() => world().get(path(project)))).length
  const two = await cost()
  const made = ['a.1', 'a-2', 'Ümläut', 'zz/login', 'x'.repeat(200)]
  for (const name of made) assert.equal((await create(project, name, 'v1.0')).status, 201, name)
  assert.equal(await cost(), two)
  const all = ['a-2', 'a.1', 'feature/login', 'main', 'x'.repeat(200), 'zz/login', 'Ümläut']
  const rows: [Record<string, string>, string[]][] = [
    [{}, all],
    [{ search: '' }, all],
    [{ search: 'LOGIN' }, ['feature/login', 'zz/login']],
    [{ search: '^a' }, ['a-2', 'a.1']],
    [{ search: 'n$' }, ['feature/login', 'main', 'zz/login']],
    [{ search: '^main$' }, ['main']],
    [{ search: 'üm' }, ['Ümläut']],
    [{ search: 'a.*' }, []],
    [{ search: '(a+)+$' }, []],
    [{ regex: '^a[.-]\\d$' }, ['a-2', 'a.1']],
    [{ regex: 'LOGIN' }, []],
    [{ regex: '(?i)LOGIN' }, ['feature/login', 'zz/login']],
    [{ regex: '(x+x+)+y' }, []],
    [{ per_page: '3', page: '2' }, ['main', 'x'.repeat(200), 'zz/login']],
    [{ page: '5' }, []],
  ]
  for (const [query, expected] of rows) {
    const answer = await world().call('GET', path(project), { query })
    assert.deepEqual([answer.status, names(answer)], [200, expected], JSON.stringify(query))
  }
  const page = await world().get(`${path(project)}?per_page=2`)
  assert.deepEqual([page.headers['x-total'], page.headers['x-total-pages']], ['7', '4'])
  const newest = names(await world().get(`${path(project)}?sort=updated_desc`))
  // Those of one date follow by name in both directions.
  const others = ['a-2', 'a.1', 'x'.repeat(200), 'zz/login', 'Ümläut']
  assert.deepEqual(newest, ['main', 'feature/login', ...others])
  const oldest = names(await world().get(`${path(project)}?sort=updated_asc`))
  assert.deepEqual(oldest, [...others, 'feature/login', 'main'])
  for (const regex of ['(', '(a)\\1', '(?=x)', '(?<=x)', '***=x', 'x'.repeat(256)]) {
    const answer = await world().call('GET', path(project), { query: { regex } })
    assert.deepEqual([answer.status, answer.body], [400, { error: 'regex is invalid' }], regex)
  }
})

test('a branch that is not there, or could not be, is refused', async () => {
  const project = await fresh()
  for (const name of ['gone', 'v1.0', 'feature', history.sha.root])
    assert.deepEqual((await world().get(path(project, name))).body, { message: '404 Branch Not Found' }, name)
  for (const name of ['--output=x', 'a..b', 'a.lock', '@{-1}', 'HEAD^{/(a+)+$}', 'a b']) {
    const answer = await world().get(path(project, name))
    assert.deepEqual([answer.status, answer.body], [400, { message: 'The branch refname is invalid' }], name)
  }
  const empty = await world().make.project({ visibility: 'public', repository: 'empty' })
  assert.deepEqual((await world().get(path(empty))).body, [])
  assert.deepEqual((await world().get(path(empty, 'main'))).body, { message: '404 Branch Not Found' })
  const none = await world().make.project({ visibility: 'public' })
  assert.deepEqual((await world().get(path(none))).body, { message: '404 Repository Not Found' })
})

test('a branch is made from a branch, a tag or a commit, and nothing else moves', async () => {
  const project = await fresh()
  const before = heads(project)
  const { sha } = history
  const rows: [string, string, string][] = [
    ['from-branch', 'feature/login', sha.readme],
    ['from/tag', 'v2.0', sha.merge],
    ['from-hash', sha.root, sha.root],
    ['von-kürzel', sha.docs.slice(0, 10), sha.docs],
  ]
  for (const [name, ref, id] of rows) {
    const answer = await create(project, name, ref)
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(answer.body, (await world().get(path(project, name), developer)).body)
    assert.equal((answer.body as { commit: { id: string } }).commit.id, id)
    assert.equal(git(project, 'rev-parse', `refs/heads/${name}`), id)
  }
  for (const [name] of rows) assert.equal((await remove(project, name)).status, 204)
  assert.equal(heads(project), before)
  assert.equal(git(project, 'fsck', '--strict'), '')
})

test('names that cannot be branches, starts that are none and what stands already are refused', async () => {
  const project = await fresh()
  const before = heads(project)
  const rows: [object, number, unknown][] = [
    [{ ref: 'main' }, 400, { error: 'branch is missing' }],
    [{ branch: 'x' }, 400, { error: 'ref is missing' }],
    [
      { branch: 'main', ref: 'main' },
      403,
      { message: '403 Forbidden - You are not allowed to push into this branch' },
    ],
    [{ branch: 'feature/login', ref: 'main' }, 400, { message: 'Branch already exists' }],
    [{ branch: 'feature', ref: 'main' }, 400, { message: 'Branch name is invalid' }],
    [{ branch: 'feature/login/x', ref: 'main' }, 400, { message: 'Branch name is invalid' }],
    [{ branch: 'x', ref: 'gone' }, 400, { message: 'Invalid reference name: gone' }],
    [{ branch: 'x', ref: '--all' }, 400, { message: 'Invalid reference name: --all' }],
    [{ branch: 'x', ref: 'main~99' }, 400, { message: 'Invalid reference name: main~99' }],
    ...[
      '',
      '--output=x',
      '-q',
      'a..b',
      'a.lock',
      '@{-1}',
      'refs/heads/../x',
      'refs/tags/x',
      'HEAD',
      'a'.repeat(40),
      'x y',
    ].map((branch): [object, number, unknown] => [
      { branch, ref: 'main' },
      400,
      { message: 'Branch name is invalid' },
    ]),
  ]
  for (const [body, status, refusal] of rows) {
    const answer = await world().call('POST', path(project), { as: developer, body })
    assert.deepEqual([answer.status, answer.body], [status, refusal], JSON.stringify(body))
  }
  assert.equal(heads(project), before)
})

test('the default branch stays, a protected one goes by a Maintainer, others by a Developer', async () => {
  const { make, call } = world()
  const project = await fresh()
  const maintainer = await make.memberOf('maintainer', { project })
  const head = await remove(project, 'main', maintainer)
  assert.deepEqual([head.status, head.body], [405, { message: 'Cannot remove HEAD branch' }])
  for (const name of ['stable', 'open', 'other']) await create(project, name)
  await call('POST', `/projects/${project.id}/protected_branches`, { as: admin, body: { name: 'stable' } })
  const body = { name: 'open', push_access_level: 30 }
  await call('POST', `/projects/${project.id}/protected_branches`, { as: admin, body })
  for (const name of ['stable', 'open']) {
    const refused = await remove(project, name)
    assert.equal(refused.status, 403)
    assert.deepEqual(refused.body, {
      message:
        '403 Forbidden - You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
    })
    assert.equal((await remove(project, name, maintainer)).status, 204)
  }
  assert.equal((await remove(project, 'other')).text, '')
  assert.deepEqual((await remove(project, 'other')).body, { message: '404 Branch Not Found' })
  assert.deepEqual(names(await world().get(path(project))), ['feature/login', 'main'])
})

test('a branch that changed since the caller looked stays', async () => {
  const project = await fresh()
  await create(project, 'old', history.sha.root)
  const since = (when: string): Promise<Answered> =>
    world().call('DELETE', path(project, 'old'), { as: developer, headers: { 'if-unmodified-since': when } })
  const late = await since('Mon, 01 Jan 2024 00:00:00 GMT')
  assert.deepEqual([late.status, late.body], [412, { message: '412 Precondition Failed' }])
  assert.equal((await since('Wed, 01 Jan 2025 00:00:00 GMT')).status, 204)
})

test('merged branches go together, and only they', async () => {
  const { call } = world()
  const project = await fresh()
  const rows: [string, string][] = [
    ['done', history.sha.root],
    ['done/too'.replace('/', '-'), history.sha.docs],
    ['kept', history.sha.root],
    ['level', history.sha.empty],
  ]
  for (const [name, ref] of rows) await create(project, name, ref)
  await call('POST', `/projects/${project.id}/protected_branches`, { as: admin, body: { name: 'ke*' } })
  const answer = await call('DELETE', `/projects/${project.id}/repository/merged_branches`, { as: developer })
  assert.deepEqual([answer.status, answer.body], [202, { message: '202 Accepted' }])
  assert.deepEqual(names(await world().get(path(project))), ['kept', 'level', 'main'])
  assert.equal(
    (await call('DELETE', `/projects/${project.id}/repository/merged_branches`, { as: developer })).status,
    202,
  )
})

test('it takes a Developer to make and remove branches', async () => {
  const { make, call } = world()
  const project = await fresh('private')
  const merged = `/projects/${project.id}/repository/merged_branches`
  for (const role of ['guest', 'planner', 'reporter'] as const) {
    const as = await make.memberOf(role, { project })
    const expected = [403, { message: '403 Forbidden' }]
    for (const answer of [
      await create(project, 'x', 'main', as),
      await remove(project, 'feature/login', as),
      await call('DELETE', merged, { as }),
    ])
      assert.deepEqual([answer.status, answer.body], expected, role)
    assert.equal((await world().get(path(project), as)).status, role === 'reporter' ? 200 : 403)
  }
  const nobody = await call('POST', path(project), { body: { branch: 'x', ref: 'main' } })
  assert.deepEqual([nobody.status, nobody.body], [404, { message: '404 Project Not Found' }])
  const open = await fresh()
  for (const [as, refusal] of [
    [undefined, [401, { message: '401 Unauthorized' }]],
    [await make.user(), [403, { message: '403 Forbidden' }]],
  ] as const) {
    const answer = await call('POST', path(open), { as, body: { branch: 'x', ref: 'main' } })
    assert.deepEqual([answer.status, answer.body], refusal)
  }
})

test('a branch that becomes the default while it is removed does either', async () => {
  const { make, call, get } = world()
  const project = await make.project({ repository: 'empty' })
  const owner = await make.memberOf('owner', { project })
  const at = `/projects/${project.id}`
  const commit = {
    branch: 'main',
    commit_message: 'x',
    actions: [{ action: 'create', file_path: 'a', content: 'a' }],
  }
  assert.equal((await call('POST', `${at}/repository/commits`, { as: owner, body: commit })).status, 201)
  for (let round = 0; round < 16; round += 1) {
    const branch = `next-${round}`
    const made = await call('POST', `${at}/repository/branches`, { as: owner, body: { branch, ref: 'main' } })
    assert.equal(made.status, 201, made.text)
    const answers = await Promise.all([
      call('PUT', at, { as: owner, body: { default_branch: branch } }),
      call('DELETE', `${at}/repository/branches/${branch}`, { as: owner }),
    ])
    const { default_branch: now } = (await get(at, owner)).body as { default_branch: string }
    const there = await get(`${at}/repository/branches/${now}`, owner)
    assert.equal(
      there.status,
      200,
      `${now}: ${answers.map(({ status, text }) => `${status} ${text}`).join()}`,
    )
    await call('PUT', at, { as: owner, body: { default_branch: 'main' } })
  }
})

test('of many who make one branch at once, one does', async () => {
  const project = await fresh()
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(project, 'once')))
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  for (const { status, body } of answers)
    if (status !== 201) assert.deepEqual([status, body], [400, { message: 'Branch already exists' }])
})

test('more than 10,000 branches are listed without a total', async () => {
  const many = await fresh()
  const tip = git(many, 'rev-parse', 'HEAD')
  const add = (from: number, to: number): void => {
    const names = Array.from({ length: to - from }, (_, at) => `create refs/heads/many/${from + at} ${tip}\n`)
    gitText(directory(many), ['update-ref', '--stdin'], names.join(''))
  }
  const headers = async (): Promise<unknown[]> => {
    const answer = await world().get(`/projects/${many.id}/repository/branches?search=^many/`, developer)
    return [answer.status, answer.headers['x-total'], answer.headers['x-next-page']]
  }
  add(0, 10_000)
  assert.deepEqual(await headers(), [200, '10000', '2'])
  add(10_000, 10_001)
  assert.deepEqual(await headers(), [200, undefined, '2'])
})
