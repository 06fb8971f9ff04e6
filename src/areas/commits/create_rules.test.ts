import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertSound, openCode, post, stored, type Code } from '../../../test/support/code.ts'
import { gitText } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { contents } from '../../../test/support/stand.ts'

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

const create = { action: 'create', file_path: 'x', content: 'x' }
const good = { branch: 'main', commit_message: 'm', actions: [create] }
const ON_BRANCH = 'You can only create or edit files when you are on a branch'
const EXISTS = 'A file with this name already exists'
const MISSING = "A file with this name doesn't exist"

/** Refused with this text; neither refs, nor objects, nor rows are other than before. */
async function refuses(
  body: object,
  message: string,
  status = 400,
  as: Someone = code.maintainer,
): Promise<void> {
  const [before, rows] = [stored(code.directory), await contents(code.world)]
  const answer = await post(code, as, { ...good, ...body })
  assert.deepEqual([answer.status, answer.body], [status, { message }], JSON.stringify(body).slice(0, 300))
  assert.equal(stored(code.directory), before)
  assert.equal(await contents(code.world), rows)
}
const refusesActions = (actions: object[], message: string): Promise<void> => refuses({ actions }, message)

test('a start that is no full hash, or none that is known, is named', async () => {
  const { sha } = code.history
  const on = { branch: 'new' }
  for (const start_sha of [
    'main',
    sha.root.slice(0, 39),
    `${sha.root}0`,
    'HEAD',
    '-q',
    sha.root.replace(/./, 'g'),
  ])
    await refuses({ ...on, start_sha }, `Invalid start_sha '${start_sha}'`)
  const tree = gitText(code.directory, ['rev-parse', 'main^{tree}'])
  for (const start_sha of ['0'.repeat(40), 'a'.repeat(40), tree])
    await refuses({ ...on, start_sha }, `Cannot find start_sha '${start_sha}'`)
})

test('a commit needs a branch to be on', async () => {
  for (const branch of ['gone', 'MAIN', 'v1.0', 'HEAD', 'refs/heads/main', code.history.sha.root])
    await refuses({ branch }, ON_BRANCH)
  for (const branch of [
    '--output=x',
    '-q',
    'a..b',
    'a.lock',
    '@{-1}',
    'refs/heads/../x',
    'a b',
    '*',
    'main^',
    ':/x',
  ])
    await refuses({ branch }, ON_BRANCH)
  for (const start_branch of ['gone', 'v1.0', '--all', 'main~1'])
    await refuses({ branch: 'new', start_branch }, ON_BRANCH)
})

test('a branch that exists is not started anew without force', async () => {
  const text = "A branch called 'main' already exists. Switch to that branch in order to make changes"
  await refuses({ start_branch: 'feature/login' }, text)
  await refuses({ start_sha: code.history.sha.root }, text)
  await refuses({ start_sha: code.history.sha.empty }, text)
})

test('a new branch needs a name that can be one', async () => {
  const text = (branch: string): string =>
    `Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`
  const names = [
    '--output=x',
    '-q',
    'a..b',
    'a.lock',
    'a b',
    '@{-1}',
    '@',
    '/a',
    'a/',
    'a//b',
    'a~',
    'x'.repeat(1001),
    '.a',
    'HEAD',
    'refs/heads/x',
    'refs/tags/x',
  ]
  for (const branch of [...names, code.history.sha.root, 'A'.repeat(40)]) {
    await refuses({ branch, start_branch: 'main' }, text(branch))
    await refuses({ branch, start_sha: code.history.sha.root, force: true }, text(branch))
  }
  // Beside the branch `main` there cannot be `main/x`, nor `feature` beside `feature/login`. That shows late.
  for (const branch of ['main/x', 'feature']) {
    const answer = await post(code, code.maintainer, { ...good, branch, start_branch: 'main' })
    assert.deepEqual([answer.status, answer.body], [400, { message: text(branch) }])
  }
})

test('an action on a file that is there, or is not, is refused', async () => {
  await refusesActions([{ ...create, file_path: 'README' }], EXISTS)
  await refusesActions([{ ...create, file_path: '/README' }], EXISTS)
  await refusesActions([create, create], EXISTS)
  await refusesActions([{ action: 'move', file_path: 'README', previous_path: 'src/a.ts' }], EXISTS)
  for (const action of ['update', 'delete', 'chmod'])
    for (const file_path of ['gone', 'src/gone', 'README/x', 'src', 'readme'])
      await refusesActions([{ action, file_path, content: '', execute_filemode: true }], MISSING)
  for (const previous_path of ['gone', 'src', 'src/a.ts/x'])
    await refusesActions([{ action: 'move', file_path: 'y', previous_path }], MISSING)
  await refusesActions(
    [
      { action: 'delete', file_path: 'README' },
      { action: 'update', file_path: 'README', content: '' },
    ],
    MISSING,
  )
})

test('a path that no repository may hold is refused', async () => {
  const rows: [string, string][] = [
    ['', 'You must provide a file path'],
    ['/', 'You must provide a file path'],
    ['../x', 'Path cannot include directory traversal'],
    ['a/../../x', 'Path cannot include directory traversal'],
    ['..', 'Path cannot include directory traversal'],
    ['a//b', "invalid path: 'a//b'"],
    ['.git/config', "invalid path: '.git/config'"],
    ['a/.GIT/x', "invalid path: 'a/.GIT/x'"],
    ['.', "invalid path: '.'"],
    ['a/', "invalid path: 'a/'"],
  ]
  for (const [file_path, text] of rows) {
    await refusesActions([{ ...create, file_path }], text)
    await refusesActions([{ action: 'move', file_path, previous_path: 'README' }], text)
    await refusesActions([{ action: 'move', file_path: 'y', previous_path: file_path }], text)
    for (const action of ['update', 'delete'])
      await refusesActions([{ action, file_path, content: '' }], text)
    await refusesActions([{ action: 'chmod', file_path, execute_filemode: true }], text)
  }
})

test('of many actions one that fails leaves nothing of the others', async () => {
  const many = Array.from({ length: 99 }, (_, i) => ({ ...create, file_path: `many/${i}` }))
  await refusesActions([...many, { action: 'delete', file_path: 'gone' }], MISSING)
  await refuses(
    { branch: 'new', start_branch: 'main', actions: [...many, { action: 'delete', file_path: 'gone' }] },
    MISSING,
  )
})

test('a file that changed since the caller last saw it is not written over', async () => {
  const { sha } = code.history
  const stale = (path: string): string => `The file has changed since you started editing it: ${path}`
  const update = { action: 'update', file_path: 'README', content: 'x' }
  const del = { action: 'delete', file_path: 'src/a.ts' }
  const move = { action: 'move', file_path: 'docs/x', previous_path: 'README' }
  const chmod = { action: 'chmod', file_path: 'README', execute_filemode: true }
  for (const action of [update, move, chmod])
    await refusesActions([{ ...action, last_commit_id: sha.root }], stale('README'))
  await refusesActions([{ ...del, last_commit_id: sha.source }], stale('src/a.ts'))
  await refusesActions([create, { ...update, last_commit_id: sha.source }], stale('README'))
  // Unchanged since the given commit, or not known to be changed.
  for (const last_commit_id of [
    sha.readme,
    sha.merge,
    sha.empty,
    'main',
    sha.readme.slice(0, 10),
    '0'.repeat(40),
    'gone',
    '',
  ])
    for (const action of [update, move]) {
      const body = {
        ...good,
        branch: `fresh-${last_commit_id || 'none'}-${action.action}`,
        start_branch: 'main',
        actions: [{ ...action, last_commit_id }],
      }
      assert.equal((await post(code, code.maintainer, body)).status, 201, last_commit_id)
    }
  const body = {
    ...good,
    branch: 'stale-create',
    start_branch: 'main',
    actions: [{ ...create, last_commit_id: sha.root }],
  }
  assert.equal((await post(code, code.maintainer, body)).status, 201)
})

test('of several faults the first rule tells', async () => {
  const bad = [
    { action: 'update', file_path: 'README', content: '', last_commit_id: code.history.sha.root },
    { ...create, file_path: '../x' },
  ]
  const all = { start_sha: 'x', branch: 'a..b', actions: bad }
  await refuses(all, "Invalid start_sha 'x'")
  await refuses({ ...all, start_sha: '0'.repeat(40) }, `Cannot find start_sha '${'0'.repeat(40)}'`)
  await refuses({ branch: 'a..b', start_branch: 'gone', actions: bad }, ON_BRANCH)
  await refuses(
    { branch: 'feature/login', start_branch: 'main', actions: bad },
    "A branch called 'feature/login' already exists. Switch to that branch in order to make changes",
  )
  await refuses(
    { branch: 'a..b', start_branch: 'main', actions: bad },
    "Something went wrong when we tried to create 'a..b' for you: Branch name is invalid",
  )
  await refuses(
    { branch: 'new', start_branch: 'main', actions: bad },
    'The file has changed since you started editing it: README',
  )
  await refuses(
    { branch: 'new', start_branch: 'main', actions: bad.slice(1) },
    'Path cannot include directory traversal',
  )
})

test('a start in a project of no kin is refused', async () => {
  const { world } = code
  const other = await code.another({ visibility: 'public' })
  const hidden = await code.another()
  const name = (
    await world.opened.client.pool.query<{ full_name: string }>(
      `select n.full_name || ' / ' || p.name as full_name from projects p join namespaces n on n.id = p.namespace_id where p.id = $1`,
      [other.project.id],
    )
  ).rows[0]?.full_name
  const text = `403 Forbidden - Project is not included in the fork network for ${name}`
  for (const start_project of [other.project.id, String(other.project.id), other.project.full_path])
    await refuses({ branch: 'new', start_branch: 'main', start_project }, text, 403)
  for (const start_project of [
    hidden.project.id,
    hidden.project.full_path,
    999_999,
    '9'.repeat(20),
    'no/such',
  ])
    await refuses({ branch: 'new', start_branch: 'main', start_project }, '404 Project Not Found', 404)
  // It is looked at before the right to push.
  const guest = await world.make.memberOf('reporter', { project: code.project })
  await refuses({ start_project: hidden.project.id }, '404 Project Not Found', 404, guest)
  await refuses({ start_project: other.project.id }, text, 403, guest)
  await refuses({}, '403 Forbidden - You are not allowed to push into this branch', 403, guest)
})

test('a protected branch is not replaced where no force is allowed', async () => {
  const { world, project, maintainer, history } = code
  const body = { start_sha: history.sha.root, force: true }
  await refuses(body, 'You are not allowed to force push code to a protected branch on this project.')
  const level = await post(code, maintainer, {
    ...good,
    branch: 'main',
    start_sha: history.sha.empty,
    force: true,
  })
  assert.equal(level.status, 201, 'what holds all of the branch replaces nothing')
  await world.make.sql(
    `update protected_branches set allow_force_push = true where project_id = ${project.id}`,
  )
  assert.equal((await post(code, maintainer, { ...good, ...body })).status, 201)
  assertSound(code.directory)
})

test('a project without a repository has none to commit to', async () => {
  const { world } = code
  const project = await world.make.project()
  const maintainer = await world.make.memberOf('maintainer', { project })
  const answer = await post({ world, project }, maintainer, good)
  assert.deepEqual([answer.status, answer.body], [404, { message: '404 Repository Not Found' }])
})
