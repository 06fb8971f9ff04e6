/* The unmodified client @gitbeaker/rest writes commits, picks, reverts and moves submodules, against the real program. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Gitlab } from '@gitbeaker/rest'
import { gitText, scratch } from '../support/git_fixtures.ts'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'
import { writeSmallHistory, type SmallHistory } from '../support/small_history.ts'

const OLD = '1'.repeat(40)
const NEW = '2'.repeat(40)
let harbour: Harbour
let history: SmallHistory
let id: number
before(async () => {
  harbour = await openHarbour()
  history = writeSmallHistory()
  addSubmodule(history.directory)
  const args = ['--path', 'harbour/writes', '--visibility', 'public', '--import', history.directory]
  id = Number((await harbour.place.json(['project', 'create', ...args]))['id'])
})
after(() => harbour.place.clear())

function addSubmodule(directory: string): void {
  const env = { ...process.env, GIT_INDEX_FILE: join(scratch(), 'index') }
  const git = (...args: string[]): string =>
    execFileSync('git', [`--git-dir=${directory}`, ...args], { env })
      .toString()
      .trim()
  git('read-tree', 'main')
  git('update-index', '--add', '--cacheinfo', `160000,${OLD},libs/one`)
  const commit = gitText(directory, ['commit-tree', '-m', 'Add a submodule', '-p', 'main', git('write-tree')])
  gitText(directory, ['update-ref', 'refs/heads/main', commit])
}

type Loose = Record<string, unknown>
const loose = (value: unknown): Loose => value as Loose

test('it creates commits with every action, and branches to put them on', async () => {
  const { Commits } = harbour.as('owner')
  const made = await Commits.create(
    id,
    'work',
    'All of it',
    [
      { action: 'create', filePath: 'new/ü.txt', content: 'one\ntwo\n' },
      {
        action: 'update',
        filePath: 'README',
        content: Buffer.from('whole').toString('base64'),
        encoding: 'base64',
      },
      { action: 'move', filePath: 'src/b.ts', previousPath: 'src/a.ts' },
      { action: 'delete', filePath: '*.glob' },
      { action: 'chmod', filePath: 'README', execute_filemode: true },
    ],
    { startBranch: 'main', authorName: 'Ada', authorEmail: 'ada@example.org' },
  )
  const { title, author_name, author_email, stats, project_id, status } = loose(made)
  assert.deepEqual(
    { title, author_name, author_email, stats, project_id, status },
    {
      title: 'All of it',
      author_name: 'Ada',
      author_email: 'ada@example.org',
      stats: { additions: 3, deletions: 4, total: 7 },
      project_id: id,
      status: null,
    },
  )
  assert.deepEqual(loose(await Commits.show(id, made.id)), loose(made))
  const next = await Commits.create(id, 'work', 'More', [{ action: 'delete', filePath: 'new/ü.txt' }], {
    stats: false,
  })
  assert.deepEqual(next.parent_ids, [made.id])
  assert.ok(!('stats' in next))
})

test('it tells the references and the place of a commit', async () => {
  const { Commits } = harbour.clientFor()
  assert.deepEqual(await Commits.allReferences(id, history.sha.merge, { type: 'all' }), [
    { type: 'branch', name: 'main' },
    { type: 'branch', name: 'work' },
    { type: 'tag', name: 'v2.0' },
  ])
  assert.deepEqual(await Commits.allReferences(id, 'v1.0', { type: 'tag' }), [
    { type: 'tag', name: 'v1.0' },
    { type: 'tag', name: 'v2.0' },
  ])
  assert.deepEqual(await Commits.showSequence(id, history.sha.empty), { count: 7 })
  assert.deepEqual(loose(await Commits.showSequence(id, history.sha.empty, { firstParent: true })), {
    count: 5,
  })
})

test('it picks and reverts, tries both, and shows why not', async () => {
  const { Commits } = harbour.as('owner')
  await Commits.create(id, 'behind', 'Start', [{ action: 'create', filePath: 'x', content: '' }], {
    startSha: history.sha.root,
  })
  assert.deepEqual(loose(await Commits.cherryPick(id, history.sha.docs, 'behind', { dryRun: true })), {
    dry_run: 'success',
  })
  const picked = await Commits.cherryPick(id, history.sha.docs, 'behind')
  assert.equal(picked.message, `文書\n\n(cherry picked from commit ${history.sha.docs})`)
  assert.equal(picked.author_email, 'yamada@example.jp')
  const reverted = await Commits.revert(id, picked.id, 'behind')
  assert.deepEqual(reverted.parent_ids, [picked.id])
  assert.equal(reverted.title, 'Revert "文書"')
  const sorry =
    'Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a more recent commit may have updated some of its content.'
  assert.deepEqual(await errorOf(Commits.revert(id, picked.id, 'behind')), { status: 400, message: sorry })
  assert.deepEqual(await errorOf(Commits.cherryPick(id, history.sha.docs, 'gone')), {
    status: 404,
    message: '404 Branch Not Found',
  })
})

test('it moves a submodule', async () => {
  const { RepositorySubmodules } = harbour.as('owner')
  const moved = await RepositorySubmodules.edit(id, 'libs/one', 'work', NEW, { commitMessage: 'Newer' })
  assert.deepEqual([moved.title, 'stats' in moved], ['Newer', false])
  const already = `The submodule libs/one is already at ${NEW}`
  assert.deepEqual(await errorOf(RepositorySubmodules.edit(id, 'libs/one', 'work', NEW)), {
    status: 400,
    message: already,
  })
})

test('it shows the text of each refusal', async () => {
  const create = (as: InstanceType<typeof Gitlab>, branch: string, action: object): Promise<unknown> =>
    as.Commits.create(id, branch, 'm', [{ content: '', ...action } as never])
  const { as, clientFor } = harbour
  const fresh = { action: 'create', filePath: 'y' }
  assert.deepEqual(await errorOf(create(as('owner'), 'work', { action: 'create', filePath: 'README' })), {
    status: 400,
    message: 'A file with this name already exists',
  })
  assert.deepEqual(await errorOf(create(as('owner'), 'work', { action: 'what', filePath: 'y' })), {
    status: 400,
    message: 'actions[0][action] does not have a valid value',
  })
  const noPush = '403 Forbidden - You are not allowed to push into this branch'
  assert.deepEqual(await errorOf(create(as('stranger'), 'work', fresh)), { status: 403, message: noPush })
  assert.deepEqual(await errorOf(create(clientFor(), 'work', fresh)), {
    status: 401,
    message: '401 Unauthorized',
  })
})

test('in a project that is empty its first commit makes the default branch', async () => {
  const made = await harbour.place.json([
    'project',
    'create',
    '--path',
    'harbour/empty',
    '--visibility',
    'public',
  ])
  const { Commits } = harbour.as('owner')
  const first = await Commits.create(Number(made['id']), 'trunk', 'Begin', [
    { action: 'create', filePath: 'a', content: 'a' },
  ])
  assert.deepEqual(first.parent_ids, [])
  assert.deepEqual(
    (await harbour.clientFor().Commits.all(Number(made['id']))).map((commit) => commit.id),
    [first.id],
  )
})
