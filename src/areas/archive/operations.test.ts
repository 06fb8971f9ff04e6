import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { gitBytes, gitText } from '../../../test/support/git_fixtures.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let project: Project
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  const tree = gitText(
    history.directory,
    ['mktree', '-z'],
    `040000 tree ${gitText(history.directory, ['rev-parse', 'main:src'])}\t--output=x\0`,
  )
  const odd = gitText(history.directory, ['commit-tree', '-m', 'Odd', tree])
  gitText(history.directory, ['update-ref', 'refs/heads/odd', odd])
  project = await make.project({ visibility: 'public', repository: history.directory })
})

async function get(
  name: string,
  query: Record<string, string> = {},
  of = project,
): Promise<{ status: number; bytes: Buffer; name: string }> {
  const url = `/api/v4/projects/${of.id}/repository/${name}`
  const { statusCode, rawPayload, headers } = await world().app.inject({ method: 'GET', url, query })
  return { status: statusCode, bytes: rawPayload, name: String(headers['content-disposition']) }
}

test('an archive without a name of its format is a tar.gz', async () => {
  const [plain, named] = [await get('archive', { sha: 'main' }), await get('archive.tar.gz', { sha: 'main' })]
  assert.deepEqual([plain.status, plain.name], [200, named.name])
  assert.ok(gunzipSync(plain.bytes).equals(gunzipSync(named.bytes)))
})

test('an archive holds what git puts into it', async () => {
  const sha = history.sha.empty
  const prefix = `--prefix=${project.path}-main-${sha}/`
  const tar = gitBytes(history.directory, ['archive', '--format=tar', prefix, sha])
  const plain = await get('archive.tar')
  assert.equal(plain.status, 200)
  assert.equal(plain.name, `attachment; filename="${project.path}-main-${sha}.tar"`)
  assert.ok(plain.bytes.equals(tar))
  for (const format of ['tar.gz', 'tgz'])
    assert.ok(gunzipSync((await get(`archive.${format}`)).bytes).equals(tar), format)
  for (const format of ['tar.bz2', 'tbz', 'tbz2', 'tb2', 'bz2']) {
    const packed = await get(`archive.${format}`)
    assert.ok(execFileSync('bzip2', ['-dc'], { input: packed.bytes }).equals(tar), format)
  }
  const zip = gitBytes(history.directory, ['archive', '--format=zip', prefix, sha])
  assert.ok((await get('archive.zip', { sha: 'main' })).bytes.equals(zip))
})

test('an archive of a directory, of a tag, of odd names', async () => {
  const { sha } = history
  const part = await get('archive.tar', { sha: 'v1.0', path: 'src' })
  assert.equal(part.name, `attachment; filename="${project.path}-v1.0-${sha.change}-src.tar"`)
  const prefix = `--prefix=${project.path}-v1.0-${sha.change}-src/`
  assert.ok(
    part.bytes.equals(gitBytes(history.directory, ['archive', '--format=tar', prefix, sha.change, 'src'])),
  )
  const odd = await get('archive.tar', { sha: 'odd', path: '--output=x' })
  assert.equal(odd.status, 200)
  assert.ok(odd.bytes.includes('--output=x/a.ts'))
  assert.match(
    (await get('archive.tar', { sha: 'feature/login' })).name,
    /-feature-login-[0-9a-f]{40}\.tar"$/,
  )
})

test('archives of absent paths and in unknown formats are refused', async () => {
  const empty = await world().make.project({ visibility: 'public', repository: 'empty' })
  const refusals = [
    await get('archive.tar', { sha: 'gone' }),
    await get('archive.tar', { sha: '--remote=x' }),
    await get('archive.tar', { path: 'gone' }),
    await get('archive.tar', { path: '../x' }),
    await get('archive.tar', {}, empty),
  ]
  for (const { status, bytes } of refusals)
    assert.deepEqual([status, bytes.toString()], [404, '{"message":"404 File Not Found"}'])
  const { status, bytes } = await get('archive.rar')
  assert.deepEqual([status, bytes.toString()], [400, '{"error":"format does not have a valid value"}'])
})
