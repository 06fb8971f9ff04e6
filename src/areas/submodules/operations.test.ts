import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { assertSound, files, openCode, stored, tip, type Code } from '../../../test/support/code.ts'
import { gitText } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import type { Answered } from '../../../test/support/world.ts'

const OLD = '1'.repeat(40)
const NEW = '2'.repeat(40)

let code: Code
before(async () => {
  code = await openCode()
  const index = { GIT_INDEX_FILE: `${code.directory}/submodules.index` }
  const git = (...args: string[]): string =>
    execFileSync('git', [`--git-dir=${code.directory}`, ...args], { env: { ...process.env, ...index } })
      .toString()
      .trim()
  git('read-tree', 'main')
  git('update-index', '--add', '--cacheinfo', `160000,${OLD},libs/one two`)
  const commit = gitText(code.directory, [
    'commit-tree',
    '-m',
    'Add a submodule',
    '-p',
    'main',
    git('write-tree'),
  ])
  for (const branch of ['libs', 'libs-2'])
    gitText(code.directory, ['update-ref', `refs/heads/${branch}`, commit])
})
after(() => code.world.close())

interface Asked {
  readonly as?: Someone | undefined
  readonly path?: string
  readonly of?: number
}
function put(
  body: object,
  { as = code.maintainer, path = 'libs/one two', of = code.project.id }: Asked = {},
): Promise<Answered> {
  return code.world.call('PUT', `/projects/${of}/repository/submodules/${encodeURIComponent(path)}`, {
    as,
    body,
  })
}
async function refuses(body: object, status: number, expected: object, asked: Asked = {}): Promise<void> {
  const before = stored(code.directory)
  const answer = await put(body, asked)
  assert.deepEqual([answer.status, answer.body], [status, expected], JSON.stringify(body))
  assert.equal(stored(code.directory), before)
}
const good = { branch: 'libs', commit_sha: NEW }

test('a submodule is moved by a commit, which is the answer', async () => {
  const { directory, maintainer, project } = code
  const parent = tip(directory, 'libs')
  const before = files(directory, parent)
  const answer = await put({ ...good, commit_message: '  ' })
  assert.equal(answer.status, 200, answer.text)
  const sha = tip(directory, 'libs')
  const { committed_date: at, created_at, authored_date, ...rest } = answer.body as Record<string, unknown>
  assert.deepEqual([created_at, authored_date], [at, at])
  const message = `Update submodule libs/one two with oid ${NEW}`
  assert.deepEqual(rest, {
    id: sha,
    short_id: sha.slice(0, 8),
    parent_ids: [parent],
    title: message,
    message,
    author_name: maintainer.name,
    author_email: maintainer.email,
    committer_name: maintainer.name,
    committer_email: maintainer.email,
    trailers: {},
    extended_trailers: {},
    web_url: `https://guild.example/${project.full_path}/-/commit/${sha}`,
    status: null,
    project_id: project.id,
    last_pipeline: null,
  })
  assert.deepEqual(files(directory, sha), { ...before, 'libs/one two': `160000 ${NEW}` })
  assertSound(directory)
})

test('a message may be given, and the parameters come by query too', async () => {
  const { world, project, directory, developer } = code
  const query = { branch: 'libs-2', commit_sha: NEW, commit_message: 'Mine' }
  const path = `/projects/${project.id}/repository/submodules/libs%2Fone%20two`
  const answer = await world.call('PUT', path, { as: developer, query })
  assert.deepEqual([answer.status, (answer.body as { message: string }).message], [200, 'Mine'])
  assert.equal(files(directory, 'libs-2')['libs/one two'], `160000 ${NEW}`)
})

test('missing and invalid parameters are refused, rule by rule', async () => {
  await refuses({}, 400, { error: 'branch is missing, commit_sha is missing' })
  await refuses({ branch: 'libs' }, 400, { error: 'commit_sha is missing' })
  await refuses({ commit_sha: NEW }, 400, { error: 'branch is missing' })
  await refuses({ ...good, branch: {} }, 400, { error: 'branch is invalid' })
  const onBranch = { message: 'You can only create or edit files when you are on a branch' }
  for (const branch of ['gone', '', 'a..b', '--all', 'v1.0', 'HEAD'])
    await refuses({ ...good, branch, commit_sha: 'x' }, 400, onBranch)
  for (const commit_sha of ['', 'x', NEW.slice(1), `${NEW}2`, 'main', `${'a'.repeat(39)}\n`])
    await refuses({ ...good, commit_sha }, 400, { message: 'Invalid parameters' }, { path: 'gone' })
  const paths = [
    'gone',
    'README',
    'libs',
    '/libs/one two',
    'libs//one two',
    '../x',
    '.git',
    'LIBS/one two',
    ':(glob)**',
  ]
  for (const path of paths)
    await refuses(
      { ...good, commit_sha: '3'.repeat(40) },
      400,
      { message: 'Invalid submodule path' },
      { path },
    )
  await refuses(good, 400, { message: `The submodule libs/one two is already at ${NEW}` })
})

test('in an empty repository there is nothing to move', async () => {
  const { project, maintainer } = await code.another({ repository: 'empty' })
  const answer = await put({ ...good, branch: 'main' }, { as: maintainer, of: project.id })
  assert.deepEqual([answer.status, answer.body], [400, { message: 'The repository is empty' }])
})

test('refusals come in order: caller, parameters, project, role, branch', async () => {
  const { world, project, developer } = code
  const [reporter, stranger] = [await world.make.memberOf('reporter', { project }), await world.make.user()]
  const call = (as: Someone | undefined, body: object): Promise<Answered> =>
    world.call('PUT', `/projects/${project.id}/repository/submodules/x`, { as, body })
  const rows: [Someone | undefined, object, number, object][] = [
    [undefined, {}, 401, { message: '401 Unauthorized' }],
    [stranger, {}, 400, { error: 'branch is missing, commit_sha is missing' }],
    [stranger, good, 404, { message: '404 Project Not Found' }],
    [reporter, good, 403, { message: '403 Forbidden' }],
    [
      developer,
      { ...good, branch: 'main' },
      400,
      { message: 'You are not allowed to push into this branch' },
    ],
  ]
  for (const [as, body, status, expected] of rows) {
    const answer = await call(as, body)
    assert.deepEqual([answer.status, answer.body], [status, expected])
  }
})

test('without an address to compare with, a condition fails, and any record will do for a star', async () => {
  const before = stored(code.directory)
  const path = `/projects/${code.project.id}/repository/submodules/libs%2Fone%20two`
  const ask = (match: string, commit_sha: string): Promise<Answered> =>
    code.world.call('PUT', path, {
      as: code.maintainer,
      body: { ...good, commit_sha },
      headers: { 'if-match': match },
    })
  const answer = await ask('"x"', '4'.repeat(40))
  assert.deepEqual([answer.status, answer.body], [412, { message: '412 Precondition Failed' }])
  assert.equal(stored(code.directory), before)
  assert.equal((await ask('*', '4'.repeat(40))).status, 200)
})
