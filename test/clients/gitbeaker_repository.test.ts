/* The unmodified client @gitbeaker/rest on what a repository holds, against the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gitBytes, gitLines, gitText } from '../support/git_fixtures.ts'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

const PROJECT = 'harbour/gateway.x'
const tipOf = (rev: string): string => gitText(harbour.source, ['rev-parse', `${rev}^{commit}`])

test('it lists, makes, shows and removes branches', async () => {
  const { source, as } = harbour
  const { Branches } = as('owner')
  const heads = gitLines(source, ['for-each-ref', '--format=%(refname:strip=2)', 'refs/heads'])
  assert.deepEqual(
    (await Branches.all(PROJECT, { perPage: 2 })).map(({ name }) => name),
    heads,
  )
  const made = await Branches.create(PROJECT, 'feature/ümläut+&more', 'main')
  assert.deepEqual(
    [made.name, made.commit.id, made.merged, made.can_push],
    ['feature/ümläut+&more', tipOf('main'), false, true],
  )
  assert.deepEqual(await Branches.show(PROJECT, 'feature/ümläut+&more'), made)
  assert.deepEqual(
    (await Branches.all(PROJECT, { search: '^feature/ü' })).map(({ name }) => name),
    ['feature/ümläut+&more'],
  )
  assert.deepEqual(
    (await Branches.all(PROJECT, { regex: '^feature/.*more$' })).map(({ name }) => name),
    ['feature/ümläut+&more'],
  )
  assert.deepEqual(await errorOf(Branches.create(PROJECT, 'main', 'main')), {
    status: 400,
    message: 'Branch already exists',
  })
  assert.equal(await Branches.remove(PROJECT, 'feature/ümläut+&more'), null)
  assert.deepEqual(await errorOf(Branches.show(PROJECT, 'feature/ümläut+&more')), {
    status: 404,
    message: '404 Branch Not Found',
  })
  assert.equal((await errorOf(Branches.remove(PROJECT, 'main'))).status, 405)
})

test('it lists, makes, shows and removes tags', async () => {
  const { source, as } = harbour
  const { Tags } = as('owner')
  const tags = gitLines(source, ['for-each-ref', '--format=%(refname:strip=2)', 'refs/tags'])
  assert.deepEqual(
    (await Tags.all(PROJECT, { orderBy: 'name', sort: 'asc', perPage: 3 })).map(({ name }) => name),
    tags,
  )
  const made = await Tags.create(PROJECT, 'rc/1', 'main', { message: 'Candidate' })
  assert.deepEqual([made.name, made.message, made.commit.id], ['rc/1', 'Candidate', tipOf('main')])
  assert.notEqual(made.target, tipOf('main'))
  assert.deepEqual(await Tags.show(PROJECT, 'rc/1'), made)
  assert.deepEqual(await errorOf(Tags.showSignature(PROJECT, 'rc/1')), {
    status: 404,
    message: '404 Signature Not Found',
  })
  assert.equal(await Tags.remove(PROJECT, 'rc/1'), null)
  assert.equal((await errorOf(Tags.show(PROJECT, 'rc/1'))).message, '404 Tag Not Found')
})

test('it creates, shows, edits and removes a file', async () => {
  const { RepositoryFiles, Branches } = harbour.as('owner')
  await Branches.create(PROJECT, 'work', 'main')
  const file = 'docs/ä b.txt'
  assert.deepEqual(await RepositoryFiles.create(PROJECT, file, 'work', 'eins\n', 'Add it'), {
    file_path: file,
    branch: 'work',
  })
  const shown = await RepositoryFiles.show(PROJECT, file, 'work')
  assert.deepEqual(
    [shown.file_name, shown.size, Buffer.from(shown.content, 'base64').toString()],
    ['ä b.txt', 5, 'eins\n'],
  )
  assert.equal(shown.last_commit_id, (await Branches.show(PROJECT, 'work')).commit.id)
  assert.equal(await RepositoryFiles.showRaw(PROJECT, file, 'work'), 'eins\n')
  const bytes = Buffer.from([0, 1, 255])
  await RepositoryFiles.edit(PROJECT, file, 'work', bytes.toString('base64'), 'Change it', {
    encoding: 'base64',
    lastCommitId: shown.last_commit_id,
  })
  const raw = (await RepositoryFiles.showRaw(PROJECT, file, 'work')) as Blob
  assert.deepEqual(Buffer.from(await raw.arrayBuffer()), bytes)
  assert.deepEqual(
    await errorOf(
      RepositoryFiles.edit(PROJECT, file, 'work', 'x', 'Late', { lastCommitId: shown.last_commit_id }),
    ),
    { status: 400, message: `The file has changed since you started editing it: ${file}` },
  )
  assert.equal(await RepositoryFiles.remove(PROJECT, file, 'work', 'Remove it'), null)
  assert.equal((await errorOf(RepositoryFiles.show(PROJECT, file, 'work'))).message, '404 File Not Found')
  await Branches.remove(PROJECT, 'work')
})

test('it walks the whole tree by links, and reads files by their hashes', async () => {
  const { source, as } = harbour
  const { Repositories } = as('owner')
  const listed = gitText(source, ['ls-tree', '-r', '-t', '-z', 'main'])
    .split('\0')
    .filter((line) => line !== '')
  const found = await Repositories.allRepositoryTrees(PROJECT, {
    recursive: true,
    perPage: 3,
    pagination: 'keyset',
  })
  assert.deepEqual(
    found.map(({ mode, type, id, path }) => `${mode} ${type} ${id}\t${path}`),
    listed,
  )
  const file = found.find(({ type }) => type === 'blob')
  assert.ok(file)
  const content = gitText(source, ['cat-file', 'blob', file.id])
  const blob = (await Repositories.showBlob(PROJECT, file.id)) as unknown as { content: string; size: number }
  assert.equal(Buffer.from(blob.content, 'base64').toString().replace(/\n$/, ''), content)
  const raw = await Repositories.showBlobRaw(PROJECT, file.id)
  assert.equal(raw.size, blob.size)
})

test('it fetches an archive', async () => {
  const { source, as } = harbour
  const archive = await as('owner').Repositories.showArchive(PROJECT, { fileType: 'tar', sha: 'main' })
  const sha = tipOf('main')
  const args = ['archive', '--format=tar', `--prefix=gateway.x-main-${sha}/`, sha]
  assert.deepEqual(Buffer.from(await archive.arrayBuffer()), gitBytes(source, args))
})

test('it compares, and finds where two parted', async () => {
  const { source, as } = harbour
  const { Repositories } = as('owner')
  const [newest = '', , , older = ''] = gitLines(source, ['rev-list', 'main'])
  const compared = await Repositories.compare(PROJECT, older, newest)
  assert.deepEqual(
    (compared.commits as unknown as { id: string }[]).map(({ id }) => id).toReversed(),
    gitLines(source, ['rev-list', `${older}..${newest}`]),
  )
  assert.deepEqual(
    (compared.diffs as unknown as { new_path: string }[]).map(({ new_path }) => new_path),
    gitText(source, ['diff', '--name-only', '-z', `${older}...${newest}`])
      .split('\0')
      .filter((path) => path !== ''),
  )
  assert.equal(
    (await Repositories.mergeBase(PROJECT, [older, newest])).id,
    gitText(source, ['merge-base', older, newest]),
  )
})

test('it shows what a commit changes, comments on it, and says how it does', async () => {
  const { projectId, as } = harbour
  const { Commits } = as('owner')
  const sha = tipOf('main')
  const diffs = await Commits.showDiff(projectId, sha)
  assert.deepEqual(
    diffs.map(({ new_path }) => new_path),
    gitText(harbour.source, ['diff', '--name-only', '-z', `${sha}^`, sha])
      .split('\0')
      .filter((path) => path !== ''),
  )
  const comment = await Commits.createComment(projectId, sha, 'Grüße')
  assert.equal(comment.note, 'Grüße')
  assert.deepEqual(await Commits.allComments(projectId, sha), [comment])
  const pending = await Commits.editStatus(projectId, sha, 'pending', { name: 'ci', ref: 'main' })
  const success = await Commits.editStatus(projectId, sha, 'success', { name: 'ci', ref: 'main' })
  assert.deepEqual([success.id, success.status], [pending.id, 'success'])
  assert.deepEqual(await Commits.allStatuses(projectId, sha), [success])
  const { status, last_pipeline } = await Commits.show(projectId, sha)
  const pipeline = last_pipeline as { sha: string; ref: string } | undefined
  assert.deepEqual([status, pipeline?.sha, pipeline?.ref], ['success', sha, 'main'])
  assert.deepEqual(await errorOf(Commits.showGPGSignature(projectId, sha)), {
    status: 404,
    message: '404 Signature Not Found',
  })
})

test('it removes what is merged', async () => {
  const { Branches } = harbour.as('owner')
  const [, , older = ''] = gitLines(harbour.source, ['rev-list', 'main'])
  await Branches.create(PROJECT, 'merged', older)
  await Branches.removeMerged(PROJECT)
  const left = (await Branches.all(PROJECT)).map(({ name, merged }) => [name, merged])
  assert.ok(!left.some(([name, merged]) => name === 'merged' || (merged === true && name !== 'main')))
})
