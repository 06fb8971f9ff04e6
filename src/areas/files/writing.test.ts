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
let maintainer: Someone
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  maintainer = await make.user({ name: 'Mai', email: 'mai@example.com' })
})

async function fresh(repository = history.directory): Promise<Project> {
  const { make } = world()
  const project = await make.project({ visibility: 'public', repository })
  await make.member(maintainer, 'maintainer', { project })
  return project
}
type Method = 'POST' | 'PUT' | 'DELETE'
const path = (project: Project, file: string): string =>
  `/projects/${project.id}/repository/files/${encodeURIComponent(file)}`
const send = (
  method: Method,
  project: Project,
  file: string,
  sent: { body: object; as?: Someone },
): Promise<Answered> => world().call(method, path(project, file), { as: maintainer, ...sent })
const git = (project: Project, ...args: string[]): string =>
  gitText(world().opened.instance.git.directory(repositoryPath(project.id)), args)
const onMain = { branch: 'main', commit_message: 'Say so' }

test('a file is created, changed and deleted, each in a commit of its own', async () => {
  const project = await fresh()
  const made = await send('POST', project, 'docs/neu/ä.txt', {
    body: { ...onMain, content: 'eins\n', author_name: 'Ada', author_email: 'ada@example.org' },
  })
  assert.deepEqual([made.status, made.body], [201, { file_path: 'docs/neu/ä.txt', branch: 'main' }])
  assert.equal(git(project, 'show', 'main:docs/neu/ä.txt'), 'eins')
  assert.equal(
    git(project, 'log', '-1', '--format=%an <%ae>|%cn <%ce>|%s|%P', 'main'),
    `Ada <ada@example.org>|Mai <mai@example.com>|Say so|${history.sha.empty}`,
  )
  const changed = await send('PUT', project, 'docs/neu/ä.txt', {
    body: { ...onMain, content: 'AP8=', encoding: 'base64', execute_filemode: true },
  })
  assert.deepEqual([changed.status, changed.body], [200, { file_path: 'docs/neu/ä.txt', branch: 'main' }])
  const facts = (await world().get(`${path(project, 'docs/neu/ä.txt')}?ref=main`)).body as Record<
    string,
    unknown
  >
  assert.deepEqual([facts['content'], facts['execute_filemode']], ['AP8=', true])
  assert.equal(facts['last_commit_id'], git(project, 'rev-parse', 'main'))
  const gone = await send('DELETE', project, 'docs/neu/ä.txt', { body: onMain })
  assert.deepEqual([gone.status, gone.text], [204, ''])
  assert.equal(git(project, 'ls-tree', '--name-only', '-z', 'main', 'docs/'), 'docs/ümläut.md\0')
  assert.equal(git(project, 'rev-list', '--count', `${history.sha.empty}..main`), '3')
  assert.equal(git(project, 'fsck', '--strict'), '')
})

test('parameters come by the query too, as clients send them with DELETE', async () => {
  const project = await fresh()
  const query = { ...onMain, last_commit_id: history.sha.readme }
  const answer = await world().call('DELETE', path(project, 'README'), { as: maintainer, query, body: {} })
  assert.equal(answer.status, 204, answer.text)
})

test('a new branch starts where it is told to', async () => {
  const project = await fresh()
  const body = { branch: 'fix', start_branch: 'feature/login', commit_message: 'x', content: 'x' }
  assert.equal((await send('POST', project, 'x', { body })).status, 201)
  assert.equal(git(project, 'rev-parse', 'fix^'), history.sha.readme)
  const again = await send('POST', project, 'y', { body })
  assert.deepEqual(
    [again.status, again.body],
    [
      400,
      { message: `A branch called 'fix' already exists. Switch to that branch in order to make changes` },
    ],
  )
})

test('the first file of an empty repository makes its branch', async () => {
  const project = await fresh('empty')
  const answer = await send('POST', project, 'README', { body: { ...onMain, content: '' } })
  assert.equal(answer.status, 201, answer.text)
  assert.equal(git(project, 'rev-list', '--count', 'main'), '1')
})

test('invalid changes of files get the published refusal and commit nothing', async () => {
  const project = await fresh()
  const before = git(project, 'for-each-ref')
  const valid = { ...onMain, content: 'x' }
  const rows: [Method, string, object, unknown][] = [
    ['POST', 'README', valid, { message: 'A file with this name already exists' }],
    ['PUT', 'gone', valid, { message: "A file with this name doesn't exist" }],
    ['DELETE', 'gone', onMain, { message: "A file with this name doesn't exist" }],
    ['DELETE', 'src', onMain, { message: "A file with this name doesn't exist" }],
    ['POST', '../x', valid, { error: 'file_path should be a valid file path' }],
    ['POST', 'a//b', valid, { error: 'file_path should be a valid file path' }],
    ['PUT', './README', valid, { error: 'file_path should be a valid file path' }],
    ['POST', '.git/config', valid, { message: "invalid path: '.git/config'" }],
    ['POST', 'x/.GIT/hooks', valid, { message: "invalid path: 'x/.GIT/hooks'" }],
    ['POST', 'git~1/x', valid, { message: "invalid path: 'git~1/x'" }],
    ['POST', 'x', onMain, { error: 'content is missing' }],
    ['POST', 'x', { content: 'x', branch: 'main' }, { error: 'commit_message is missing' }],
    ['POST', 'x', { content: 'x', commit_message: 'x' }, { error: 'branch is missing' }],
    ['POST', 'x', { ...valid, branch: ' ' }, { error: 'branch is empty' }],
    ['POST', 'x', { ...valid, encoding: 'utf-8' }, { error: 'encoding does not have a valid value' }],
    ['POST', 'x', { ...valid, encoding: 'base64', content: '!' }, { error: 'content is invalid' }],
    ['POST', 'x', { ...valid, author_name: 'a\ncommitter x' }, { error: 'author_name is invalid' }],
    [
      'POST',
      'x',
      { ...valid, branch: 'gone' },
      { message: 'You can only create or edit files when you are on a branch' },
    ],
    [
      'PUT',
      'README',
      { ...valid, last_commit_id: history.sha.root },
      { message: 'The file has changed since you started editing it: README' },
    ],
    [
      'POST',
      'x',
      { ...valid, branch: 'a..b', start_branch: 'main' },
      { message: "Something went wrong when we tried to create 'a..b' for you: Branch name is invalid" },
    ],
  ]
  for (const [method, file, body, refusal] of rows) {
    const answer = await send(method, project, file, { body })
    assert.deepEqual(
      [answer.status, answer.body],
      [400, refusal],
      `${method} ${file} ${JSON.stringify(body)}`,
    )
  }
  assert.equal(git(project, 'for-each-ref'), before)
})

test('changes of files need the right to push to the branch', async () => {
  const { make } = world()
  const project = await fresh()
  const before = git(project, 'for-each-ref')
  const closed = { message: '403 Forbidden - You are not allowed to push into this branch' }
  const developer = await make.memberOf('developer', { project })
  const reporter = await make.memberOf('reporter', { project })
  const rows: [Someone | undefined, string, number, unknown][] = [
    [undefined, 'main', 401, { message: '401 Unauthorized' }],
    [await make.user(), 'main', 403, closed],
    [reporter, 'feature/login', 403, closed],
    [developer, 'main', 403, closed],
  ]
  for (const [as, branch, status, refusal] of rows)
    for (const [method, file] of [
      ['POST', 'new'],
      ['PUT', 'README'],
      ['DELETE', 'README'],
    ] as const) {
      const body = { branch, commit_message: 'x', content: 'x' }
      const answer = await world().call(method, path(project, file), { as, body })
      assert.deepEqual([answer.status, answer.body], [status, refusal], `${as?.username} ${method}`)
    }
  assert.equal(git(project, 'for-each-ref'), before)
  const login = { branch: 'feature/login', commit_message: 'x', content: 'x' }
  assert.equal((await send('POST', project, 'new', { body: login, as: developer })).status, 201)
})

test('a symbolic link is a file like any other: what is written to its name is not written where it leads', async () => {
  const project = await fresh()
  const directory = world().opened.instance.git.directory(repositoryPath(project.id))
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], '../../..')
  const tree = gitText(directory, ['mktree', '-z'], `120000 blob ${blob}\tl\0`)
  const commit = gitText(directory, ['commit-tree', '-m', 'Link', tree])
  gitText(directory, ['update-ref', 'refs/heads/links', commit])
  const body = { branch: 'links', commit_message: 'x', content: 'x' }
  const below = await send('PUT', project, 'l/x', { body })
  assert.deepEqual([below.status, below.body], [400, { message: "A file with this name doesn't exist" }])
  assert.equal((await send('PUT', project, 'l', { body })).status, 200)
  assert.equal(git(project, 'ls-tree', '-z', 'links').slice(0, 11), '120000 blob')
})

test('of many who write beside each other nothing is lost', async () => {
  const project = await fresh()
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      send('POST', project, `f${i}`, { body: { ...onMain, content: String(i) } }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 201),
  )
  assert.equal(git(project, 'rev-list', '--count', `${history.sha.empty}..main`), '10')
  for (let i = 0; i < 10; i += 1) assert.equal(git(project, 'show', `main:f${i}`), String(i))
})
