import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ODD_NAMES, writeOddTree, type OddTree } from '../../../test/support/odd_tree.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Project } from '../../db/schema/tables.ts'
import { dispositionOf } from './rules.ts'

let history: SmallHistory
let odd: OddTree
let project: Project
let oddProject: Project
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  odd = writeOddTree()
  project = await make.project({ visibility: 'public', repository: history.directory })
  oddProject = await make.project({ visibility: 'public', repository: odd.directory })
})
const path = (file: string, of: { id: number } = project): string =>
  `/projects/${of.id}/repository/files/${encodeURIComponent(file)}`
const get = (file: string, ref: string, of = project): Promise<Answered> =>
  world().call('GET', path(file, of), { query: { ref } })
const raw = (file: string, query: Record<string, string> = {}, of = project): Promise<Answered> =>
  world().call('GET', `${path(file, of)}/raw`, { query })
const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

test('a file is told in whole, with its content and the last commit that changed it', async () => {
  const { sha } = history
  const content = '1\ntwo\n3\n'
  const answer = await get('src/a.ts', 'main')
  assert.equal(answer.status, 200, answer.text)
  const facts = {
    file_name: 'a.ts',
    file_path: 'src/a.ts',
    size: 8,
    encoding: 'base64',
    content_sha256: sha256(content),
    ref: 'main',
    blob_id: createHash('sha1').update(`blob 8\0${content}`).digest('hex'),
    commit_id: sha.empty,
    last_commit_id: sha.change,
    execute_filemode: false,
  }
  assert.deepEqual(answer.body, { ...facts, content: Buffer.from(content).toString('base64') })
  for (const [name, value] of Object.entries(facts))
    assert.equal(answer.headers[`x-gitlab-${name.replaceAll('_', '-')}`], String(value), name)
  const before = (await get('src/a.ts', sha.source)).body as typeof facts
  assert.deepEqual([before.size, before.commit_id, before.last_commit_id], [6, sha.source, sha.source])
  assert.equal(((await get('docs/ümläut.md', 'v2.0')).body as typeof facts).last_commit_id, sha.docs)
})

test('HEAD tells the same without the content', async () => {
  const full = await get('src/a.ts', 'main')
  const head = await world().call('HEAD', path('src/a.ts'), { query: { ref: 'main' } })
  assert.deepEqual([head.status, head.text], [200, ''])
  const kept = (headers: Answered['headers']): [string, unknown][] =>
    Object.entries(headers).filter(([name]) => name.startsWith('x-gitlab-'))
  assert.equal(kept(head.headers).length, 10)
  assert.deepEqual(kept(head.headers), kept(full.headers))
  const { etag, 'content-length': length } = full.headers
  assert.deepEqual([head.headers.etag, head.headers['content-length']], [etag, length])
})

test('the bytes of a file come raw, and never as a page', async () => {
  const answer = await raw('README')
  assert.deepEqual([answer.status, answer.text], [200, 'one\ntwo\nthree\n'])
  assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
  assert.equal(answer.headers['content-length'], '14')
  assert.equal(answer.headers['content-disposition'], 'inline; filename="README"')
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.equal(answer.headers['x-gitlab-ref'], 'HEAD')
  assert.equal((await raw('README', { ref: history.sha.root })).text, 'one\ntwo\n')
  const { etag } = answer.headers
  const again = await world().call('GET', `${path('README')}/raw`, {
    headers: { 'if-none-match': String(etag) },
  })
  assert.deepEqual([again.status, again.text], [304, ''])
  const head = await world().call('HEAD', `${path('README')}/raw`)
  assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '14'])
  assert.equal(head.headers['x-gitlab-blob-id'], answer.headers['x-gitlab-blob-id'])
})

test('programs, links, binary and empty files are what they are', async () => {
  type Shown = { execute_filemode: boolean; content: string; size: number }
  const shown = async (file: string): Promise<Shown> => (await get(file, 'main', oddProject)).body as Shown
  assert.equal((await shown('bin/run')).execute_filemode, true)
  assert.equal((await shown('bin/data')).content, 'AAH+/w==')
  assert.deepEqual([(await shown('empty')).content, (await shown('empty')).size], ['', 0])
  assert.equal(Buffer.from((await shown('link')).content, 'base64').toString(), '../../../etc/passwd')
  assert.equal((await raw('bin/data', {}, oddProject)).headers['content-type'], 'application/octet-stream')
  assert.equal((await raw('link', {}, oddProject)).text, '../../../etc/passwd')
  assert.equal((await raw('empty', {}, oddProject)).text, '')
  for (const file of ['bin', 'module', 'module/x', 'link/passwd', 'bin/run/x', 'gone'])
    for (const answer of [await get(file, 'main', oddProject), await raw(file, {}, oddProject)])
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 File Not Found' }], file)
})

test('odd names are names and nothing else', async () => {
  for (const name of ODD_NAMES) {
    const answer = await get(`odd/${name}`, 'main', oddProject)
    assert.equal(answer.status, 200, `${name} ${answer.text}`)
    const { file_name, content, last_commit_id } = answer.body as Record<string, string>
    assert.deepEqual(
      [file_name, Buffer.from(content ?? '', 'base64').toString(), last_commit_id],
      [name, name, odd.sha],
    )
    assert.equal((await raw(`odd/${name}`, {}, oddProject)).text, name)
    assert.equal(
      String(answer.headers['x-gitlab-file-name']),
      /^[ -~]*$/.test(name) ? name : encodeURIComponent(name),
    )
  }
  assert.equal((await get('odd/x.glob', 'main', oddProject)).status, 404)
})

test('paths that lead elsewhere are refused', async () => {
  for (const file of ['../x', 'a/../../b', 'src//a.ts', './README', 'x'.repeat(3_000) + '/..'])
    for (const answer of [await get(file, 'main'), await raw(file)])
      assert.deepEqual(
        [answer.status, answer.body],
        [400, { error: 'file_path should be a valid file path' }],
        file,
      )
  for (const file of ['.git/config', '.GIT/HEAD', 'git~1/x'])
    assert.equal((await get(file, 'main')).status, 404, file)
  assert.equal((await get('/README', 'main')).status, 200)
  assert.equal((await world().get(`/projects/${project.id}/repository/files/a%00b?ref=main`)).status, 400)
})

test('a ref is needed, and must be one', async () => {
  const answer = await world().get(path('README'))
  assert.deepEqual([answer.status, answer.body], [400, { error: 'ref is missing' }])
  for (const ref of ['gone', '--all', ':/x', 'main@{1}', 'HEAD^{/(a+)+$}']) {
    const refused = await get('README', ref)
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 Commit Not Found' }], ref)
    assert.deepEqual((await raw('README', { ref })).body, { message: '404 Commit Not Found' })
  }
  const empty = await world().make.project({ visibility: 'public', repository: 'empty' })
  assert.deepEqual((await raw('README', {}, empty)).body, { message: '404 Commit Not Found' })
})

test('files above the limit are served raw only', async () => {
  const answer = await get('large', 'main', oddProject)
  assert.equal(answer.status, 413)
  assert.deepEqual(answer.body, { message: 'The file is larger than 10485760 bytes: get it raw' })
  const whole = await raw('large', {}, oddProject)
  assert.equal(whole.text.length, 11 * 1024 * 1024)
  assert.equal(whole.headers['content-type'], 'application/octet-stream')
  assert.equal(whole.headers['x-gitlab-content-sha256'], sha256(whole.text))
  const head = await world().call('HEAD', path('large', oddProject), { query: { ref: 'main' } })
  assert.deepEqual([head.status, head.headers['x-gitlab-size']], [200, String(11 * 1024 * 1024)])
  const middle = await get('large.txt', 'main', oddProject)
  assert.equal((middle.body as { content: string }).content.length, 2_796_204)
})

test('a file by its hash comes as text of base64 and raw', async () => {
  const id = odd.blob('bin/data')
  const blob = (sha: string, rest = ''): Promise<Answered> =>
    world().get(`/projects/${oddProject.id}/repository/blobs/${sha}${rest}`)
  assert.deepEqual((await blob(id)).body, { size: 4, encoding: 'base64', content: 'AAH+/w==', sha: id })
  assert.equal((await blob(odd.blob('link'), '/raw')).text, '../../../etc/passwd')
  assert.equal((await blob(odd.blob('large'))).status, 413)
  assert.equal((await blob(odd.blob('large'), '/raw')).text.length, 11 * 1024 * 1024)
  for (const sha of [odd.sha, 'main', 'a'.repeat(40), id.slice(0, 10), '--x'])
    for (const rest of ['', '/raw'])
      assert.deepEqual((await blob(sha, rest)).body, { message: '404 Blob Not Found' }, sha)
})

test('a file takes what it takes to read the code, and one statement', async () => {
  const { make, statements } = world()
  const hidden = await make.project({ visibility: 'private', repository: history.directory })
  const rows: [RoleName, number][] = [
    ['guest', 403],
    ['planner', 403],
    ['reporter', 200],
    ['developer', 200],
  ]
  const paths = [
    `files/README?ref=main`,
    'files/README/raw',
    'tree',
    'compare?from=v1.0&to=main',
    'merge_base?refs[]=main&refs[]=v1.0',
  ]
  for (const [role, status] of rows) {
    const as = await make.memberOf(role, { project: hidden })
    for (const one of paths)
      assert.equal((await world().get(`/projects/${hidden.id}/repository/${one}`, as)).status, status, one)
  }
  for (const one of paths) {
    const answer = await world().get(`/projects/${hidden.id}/repository/${one}`)
    assert.deepEqual(answer.body, { message: '404 Project Not Found' })
    const read = (): Promise<Answered> => world().get(`/projects/${project.id}/repository/${one}`)
    await read()
    assert.equal((await statements(read)).length, 1, one)
  }
})

test('a download is named as the file is, whatever its name', () => {
  const rows: [string, string][] = [
    ['a b.txt', 'inline; filename="a b.txt"'],
    ['a"b\\c', `inline; filename="a_b_c"; filename*=UTF-8''a%22b%5Cc`],
    ["ü'(1)\r\nx: y", `inline; filename="_'(1)__x: y"; filename*=UTF-8''%C3%BC%27%281%29%0D%0Ax%3A%20y`],
  ]
  for (const [name, header] of rows) assert.equal(dispositionOf(name), header)
})
