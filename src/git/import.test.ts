import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { createEmpty } from './create.ts'
import {
  gitLines,
  gitText,
  initRepository,
  openTestGit,
  scratch,
  writeHistory,
  writeProgram,
} from '../../test/support/git_fixtures.ts'
import { importRepository, type ImportProgress } from './import.ts'

const root = scratch()
const store = join(root, 'store')
mkdirSync(store)
const git = openTestGit(store)
const source = join(root, 'source.git')
writeHistory(source, 300, 9)

/** Everything below the store, so that a test can say that nothing was left behind. */
function listing(): string[] {
  return readdirSync(store, { recursive: true }).map(String).sort()
}

void test('an import brings all branches, tags and history, and lives on without its source', async () => {
  const copy = join(root, 'copy.git')
  cpSync(source, copy, { recursive: true })
  gitText(copy, ['symbolic-ref', 'HEAD', 'refs/heads/feature/x.1'])
  const refs = gitLines(copy, ['show-ref'])
  const progress: ImportProgress[] = []
  await importRepository(git, copy, '12/345.git', { onProgress: (step) => progress.push(step) })
  rmSync(copy, { recursive: true })
  const target = join(store, '12/345.git')
  assert.deepEqual(gitLines(target, ['show-ref']), refs)
  assert.equal(gitText(target, ['fsck', '--full']), '')
  assert.equal(await git.repository('12/345.git').defaultBranch(), 'feature/x.1')
  assert.ok(existsSync(join(target, 'objects/info/commit-graph')))
  assert.equal(existsSync(join(target, 'objects/info/alternates')), false)
  assert.equal(gitText(target, ['config', 'receive.fsckObjects']), 'true')
  assert.equal(gitText(target, ['config', 'receive.fsck.badTimezone']), 'ignore')
  assert.equal(gitText(target, ['config', 'core.fsync']), 'committed,reference')
  assert.equal(progress.at(-1)?.phase, 'Indexing history')
  assert.deepEqual(readdirSync(join(store, '12')), ['345.git'])
})

void test('other refs, configuration, hooks, attributes, grafts and replacements stay behind', async () => {
  const evil = join(root, 'evil.git')
  cpSync(source, evil, { recursive: true })
  const marker = join(root, 'hook-ran')
  mkdirSync(join(evil, 'info'), { recursive: true })
  writeFileSync(join(evil, 'info/attributes'), '* -diff\n')
  const [tip = '', second = '', third = ''] = gitLines(evil, ['rev-list', 'main'])
  gitText(evil, ['update-ref', `refs/replace/${tip}`, third])
  gitText(evil, ['update-ref', 'refs/pull/1/head', second])
  gitText(evil, ['config', 'core.fsmonitor', `touch ${marker}`])
  gitText(evil, ['config', 'uploadpack.packObjectsHook', `touch ${marker}; exec "$@"; #`])
  mkdirSync(join(evil, 'hooks'), { recursive: true })
  for (const hook of ['reference-transaction', 'post-checkout', 'pre-receive', 'post-update']) {
    writeProgram(join(evil, 'hooks'), hook, `touch ${marker}`)
  }
  await importRepository(git, evil, '12/evil.git')
  const target = join(store, '12/evil.git')
  const refs = gitLines(target, ['for-each-ref', '--format=%(refname)'])
  assert.ok(refs.every((ref) => /^refs\/(?:heads|tags)\//.test(ref)))
  assert.equal(existsSync(marker), false)
  assert.equal(existsSync(join(target, 'hooks')), false)
  assert.equal(existsSync(join(target, 'info/attributes')), false)
  assert.doesNotMatch(readFileSync(join(target, 'config'), 'utf8'), /touch|remote/)
})

void test('old faults of form are let through', async () => {
  const old = join(root, 'old.git')
  initRepository(old)
  const write = (type: string, content: string | Buffer): string =>
    gitText(old, ['hash-object', '-t', type, '-w', '--stdin', '--literally'], content)
  const blob = write('blob', 'x')
  const entry = Buffer.concat([Buffer.from('0100644 a\0'), Buffer.from(blob, 'hex')])
  const tree = write('tree', entry)
  const commit = write('commit', `tree ${tree}\nauthor A<a@x>1 +051800\ncommitter  <> 01 +0000\n\nm\n`)
  gitText(old, ['update-ref', 'refs/heads/main', commit])
  await importRepository(git, old, '12/old.git')
  const found = await git.repository('12/old.git').commit(commit)
  assert.deepEqual(found?.author, { name: 'A', email: 'a@x', date: { seconds: 1, offset: '+0000' } })
})

for (const [name, entries] of Object.entries<[string, string, string][]>({
  'a directory .git': [['40000', '.git', 'tree']],
  'a directory .GIT': [['40000', '.GIT', 'tree']],
  'a directory git~1': [['40000', 'git~1', 'tree']],
  'a path ..': [['40000', '..', 'tree']],
  'a path with a slash': [['100644', 'a/b', 'blob']],
  'two entries of one name': [
    ['100644', 'a', 'blob'],
    ['100644', 'a', 'blob'],
  ],
  '.gitmodules that is a symbolic link': [['120000', '.gitmodules', 'blob']],
  '.gitmodules that runs a command': [['100644', '.gitmodules', 'command']],
  '.gitmodules whose url is an option': [['100644', '.gitmodules', 'option']],
})) {
  void test(`a history with ${name} is refused and leaves nothing`, async () => {
    const bad = join(root, `bad-${Math.random()}.git`)
    initRepository(bad)
    const write = (type: string, content: string | Buffer): string =>
      gitText(bad, ['hash-object', '-t', type, '-w', '--stdin', '--literally'], content)
    const blob = write('blob', 'x')
    const objects: Record<string, string> = {
      blob,
      tree: write('tree', Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(blob, 'hex')])),
      command: write('blob', '[submodule "a"]\n\tpath = a\n\turl = x\n\tupdate = !touch /tmp/owned\n'),
      option: write('blob', '[submodule "a"]\n\tpath = a\n\turl = --upload-pack=x\n'),
    }
    const parts = entries.map(([mode, path, kind]) =>
      Buffer.concat([Buffer.from(`${mode} ${path}\0`), Buffer.from(objects[kind] ?? '', 'hex')]),
    )
    const tree = write('tree', Buffer.concat(parts))
    const commit = write('commit', `tree ${tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nm\n`)
    gitText(bad, ['update-ref', 'refs/heads/main', commit])
    const before = listing()
    await assert.rejects(importRepository(git, bad, '12/bad.git'), { fault: 'exit' })
    assert.deepEqual(listing(), before)
  })
}

void test('sources that could run or read something else are refused, and leave nothing', async () => {
  const before = listing()
  const marker = join(root, 'owned')
  const sources = [
    `ext::sh -c "touch ${marker}"`,
    `--upload-pack=touch ${marker}`,
    'file:///etc',
    'relative/path',
    '../source.git',
    'ssh://-oProxyCommand=x/y',
    'git@example.org:x/y',
    'fd::17',
    'http://',
    'https://example.org/a\nb',
    '',
  ]
  for (const bad of sources) {
    await assert.rejects(importRepository(git, bad, '12/refused.git'), { fault: 'refused' }, bad)
  }
  await assert.rejects(importRepository(git, join(root, 'nothing'), '12/refused.git'), { fault: 'exit' })
  await assert.rejects(importRepository(git, source, '../outside.git'), TypeError)
  assert.equal(existsSync(marker), false)
  assert.deepEqual(listing(), before)
})

void test('a source over HTTP gets the credentials, which appear in no error, and redirects are not followed', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`)
    if (request.url?.startsWith('/moved') === true) response.writeHead(302, { location: '/elsewhere' }).end()
    else response.writeHead(403).end('no')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  for (const place of ['x.git', 'moved.git']) {
    const url = `http://bob:s3cret@127.0.0.1:${address.port}/${place}`
    await assert.rejects(importRepository(git, url, '12/http.git'), (error: Error) => {
      assert.equal(JSON.stringify([error, error.message, error.stack]).includes('s3cret'), false)
      return true
    })
  }
  const pinned = `http://nobody-knows.invalid:${address.port}/pinned.git`
  await assert.rejects(importRepository(git, pinned, '12/http.git', { address: '127.0.0.1' }), {
    fault: 'exit',
  })
  assert.ok(seen.some((line) => line.startsWith('/pinned.git/')))
  server.close()
  const basic = `Basic ${Buffer.from('bob:s3cret').toString('base64')}`
  assert.ok(seen.some((line) => line.startsWith('/x.git/') && line.endsWith(basic)))
  assert.equal(
    seen.some((line) => line.startsWith('/elsewhere')),
    false,
  )
})

void test('an aborted, a late and an oversized import leave nothing', async () => {
  const before = listing()
  const abort = new AbortController()
  const aborted = importRepository(git, source, '12/aborted.git', { signal: abort.signal })
  setTimeout(() => abort.abort(), 15)
  await assert.rejects(aborted, { fault: 'aborted' })
  await assert.rejects(importRepository(git, source, '12/late.git', { timeoutMs: 1 }), { fault: 'timeout' })
  assert.deepEqual(listing(), before)
  const slow = openTestGit(store, {
    gitBinary: writeProgram(root, 'slow-git', 'case "$*" in *fetch*) sleep 3;; esac'),
  })
  await assert.rejects(importRepository(slow, source, '12/big.git', { maxBytes: 10 }), { fault: 'too_large' })
  assert.deepEqual(listing(), before)
})

void test('an empty source and a new empty repository are empty repositories', async () => {
  const nothing = join(root, 'nothing.git')
  initRepository(nothing)
  await importRepository(git, nothing, '12/nothing.git')
  await createEmpty(git, '@hashed/ab/cd.git', 'trunk')
  for (const [path, branch] of [
    ['12/nothing.git', 'main'],
    ['@hashed/ab/cd.git', 'trunk'],
  ] as const) {
    const repository = git.repository(path)
    assert.deepEqual(
      [await repository.exists(), await repository.isEmpty(), await repository.defaultBranch()],
      [true, true, branch],
    )
    assert.equal(gitText(git.directory(path), ['fsck']), '')
  }
  await assert.rejects(createEmpty(git, '12/x.git', 'a..b'), TypeError)
  await assert.rejects(createEmpty(git, '@hashed/ab/cd.git', 'main'), { fault: 'refused' })
  const both = await Promise.allSettled([
    createEmpty(git, '12/y.git', 'a'),
    createEmpty(git, '12/y.git', 'b'),
  ])
  assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1)
})
