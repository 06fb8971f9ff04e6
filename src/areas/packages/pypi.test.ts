import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import { FORM_TYPE, formOf } from '../../../test/support/forms.ts'
import { makeRunningJob } from '../../../test/support/job_token.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered, CallOptions } from '../../../test/support/world.ts'

const world = sharedWorld()

let group: Namespace
let project: Project
let developer: Someone
let maintainer: Someone
let base: string
before(async () => {
  const { make } = world()
  group = await make.group()
  project = await make.project({ group, repository: 'empty' })
  developer = await make.memberOf('developer', { project })
  maintainer = await make.memberOf('maintainer', { project })
  base = `/projects/${project.id}/packages/pypi`
})

interface Upload {
  readonly name?: string
  readonly version?: string
  readonly file_name?: string
  readonly content?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly options?: CallOptions
}
function upload({ name = 'crane', version = '1.0', file_name, content = 'x', fields, options }: Upload) {
  const file = {
    name: 'content',
    file_name: file_name ?? `${name.replaceAll(/[^A-Za-z0-9]/g, '_')}-${version}.tar.gz`,
    content,
  }
  return world().call('POST', base, {
    as: developer,
    body: formOf({ ':action': 'file_upload', name, version, ...fields }, file),
    ...options,
    headers: { 'content-type': FORM_TYPE, ...options?.headers },
  })
}
const get = (path: string, accept = 'text/html', as = developer): Promise<Answered> =>
  world().call('GET', `${base}/${path}`, { as, headers: { accept } })
const refused = ({ status, body }: Answered): unknown => [status, body]
const created = [201, { message: '201 Created' }]
const bad = (text: string): unknown => [400, { message: `400 Bad request - ${text}` }]
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

test('an uploaded file stands in the index under every spelling of its name, and is downloaded by its digest', async () => {
  const fields = { requires_python: '>=3.9', sha256_digest: digestOf('bytes') }
  const sent = { name: 'My.Crane', version: '1.0', file_name: 'my_crane-1.0.tar.gz', content: 'bytes' }
  assert.deepEqual(refused(await upload({ ...sent, fields })), created)
  const address = `https://guild.example/api/v4/projects/${project.id}/packages/pypi`
  const link = `${address}/files/${digestOf('bytes')}/my_crane-1.0.tar.gz`
  for (const name of ['my-crane', 'My.Crane', 'MY__crane']) {
    const page = await get(`simple/${name}`)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    assert.ok(page.text.includes('<title>Links for My.Crane</title>'))
    assert.ok(
      page.text.includes(
        `<a href="${link}#sha256=${digestOf('bytes')}" data-requires-python="&gt;=3.9">my_crane-1.0.tar.gz</a>`,
      ),
      page.text,
    )
  }
  const json = await get('simple/my-crane/', 'application/vnd.pypi.simple.v1+json, text/html;q=0.1')
  assert.equal(json.headers['content-type'], 'application/vnd.pypi.simple.v1+json')
  assert.match(String(json.headers['vary']), /Accept/)
  assert.deepEqual(json.body, {
    meta: { 'api-version': '1.0' },
    name: 'my-crane',
    files: [
      {
        filename: 'my_crane-1.0.tar.gz',
        url: link,
        hashes: { sha256: digestOf('bytes') },
        'requires-python': '>=3.9',
      },
    ],
  })
  const index = await get('simple')
  assert.ok(index.text.includes(`<a href="${address}/simple/my-crane">My.Crane</a>`))
  assert.equal((await get(`files/${digestOf('bytes')}/my_crane-1.0.tar.gz`)).text, 'bytes')
  for (const path of [
    `files/${digestOf('bytes')}/other.tar.gz`,
    `files/${digestOf('x')}/my_crane-1.0.tar.gz`,
  ])
    assert.deepEqual(refused(await get(path)), [404, { message: '404 Package Not Found' }])
  assert.deepEqual(refused(await get('simple/unknown')), [404, { message: '404 Package Not Found' }])
})

test('files of other spellings join the package, and a file name is taken once', async () => {
  assert.deepEqual(refused(await upload({ name: 'joined', file_name: 'joined-1.0.tar.gz' })), created)
  const other = { name: 'Joined', file_name: 'joined-1.0-py3-none-any.whl' }
  assert.deepEqual(refused(await upload(other)), created)
  const taken = bad('Validation failed: File name has already been taken')
  assert.deepEqual(
    refused(await upload({ name: 'joined', file_name: 'joined-1.0.tar.gz', content: 'y' })),
    taken,
  )
  const rows = await rowsOf(world(), `select id from packages where canonical_name = 'joined'`)
  assert.equal(rows.length, 1)
})

test('invalid packages, versions, file names and digests are refused and keep nothing', async () => {
  const before = await contents(world())
  const rows: [Upload, unknown][] = [
    [{ name: '' }, [400, { error: 'name is missing' }]],
    [{ name: '', version: '', file_name: 'f' }, [400, { error: 'name is missing, version is missing' }]],
    [{ fields: { sha256_digest: 'abc' } }, [400, { error: 'sha256_digest is invalid' }]],
    [
      { fields: { sha256_digest: digestOf('other') } },
      bad('Validation failed: Sha256 digest is not that of the file'),
    ],
    [{ name: '-crane' }, bad('Validation failed: Name is invalid')],
    [{ version: '1.0-bananas' }, bad('Validation failed: Version is invalid')],
    [{ file_name: 'a b' }, bad('Validation failed: File name is invalid')],
  ]
  for (const [sent, expected] of rows) assert.deepEqual(refused(await upload(sent)), expected)
  const body = formOf({ name: 'crane', version: '1.0' })
  const none = await world().call('POST', base, {
    as: developer,
    body,
    headers: { 'content-type': FORM_TYPE },
  })
  assert.deepEqual(refused(none), [400, { error: 'content is missing' }])
  const after = await contents(world())
  const withoutBlobs = (text: string): string => text.replaceAll(/^blobs\n.*?\n\n/gms, '')
  assert.equal(withoutBlobs(after), withoutBlobs(before))
})

test('versions follow PEP 440', async () => {
  for (const version of ['1', '1!2.0', '1.0a1', '1.0.post2', '1.0.dev3', '1.0rc1.post2.dev3', '1.0+local.1'])
    assert.deepEqual(refused(await upload({ name: 'versions', version })), created, version)
})

test('fields that are too long are cut, also through a character, and NUL is replaced', async () => {
  const description = `${'d'.repeat(3_999)}\u{1F600}`
  const fields = { summary: 's'.repeat(300), description, requires_python: '>=3\u0000' }
  assert.deepEqual(refused(await upload({ name: 'cut', fields })), created)
  const { metadata } = await rowOf<{ metadata: Record<string, string> }>(
    world(),
    `select metadata from packages where name = 'cut'`,
  )
  assert.deepEqual([metadata['summary']?.length, metadata['description']?.length], [255, 4_000])
  assert.equal(metadata['requires_python'], '>=3\ufffd')
})

test('a file of exactly the limit is refused, and one byte less is taken', async () => {
  await world().make.sql(`update plan_limits set limits = '{"pypi_max_file_size": 10}'`)
  const answer = await upload({ name: 'limited', content: 'x'.repeat(10) })
  assert.deepEqual(refused(answer), bad('File is too large'))
  assert.equal(answer.headers['x-plan-limit'], 'pypi_max_file_size=10')
  assert.deepEqual(refused(await upload({ name: 'limited', content: 'x'.repeat(9) })), created)
  await world().make.sql(`update plan_limits set limits = '{}'`)
})

test('a rule refuses an upload by any spelling of the name', async () => {
  const body = {
    package_name_pattern: 'guarded-*',
    package_type: 'pypi',
    minimum_access_level_for_push: 'maintainer',
  }
  const rules = `/projects/${project.id}/packages/protection/rules`
  assert.equal((await world().call('POST', rules, { as: maintainer, body })).status, 201)
  const message = '403 Forbidden - Package protected.'
  assert.deepEqual(refused(await upload({ name: 'Guarded_one' })), [403, { message }])
  assert.deepEqual(refused(await upload({ name: 'Guarded_one', options: { as: maintainer } })), created)
})

test('a group shows the files of those of its projects that the caller reads', async () => {
  const hidden = await world().make.project({ group })
  const owner = await world().make.memberOf('owner', { group })
  await upload({ name: 'seen' })
  await world().call('POST', `/projects/${hidden.id}/packages/pypi`, {
    as: owner,
    body: formOf(
      { name: 'unseen', version: '1' },
      { name: 'content', file_name: 'u-1.tar.gz', content: 'u' },
    ),
    headers: { 'content-type': FORM_TYPE },
  })
  const at = `/groups/${group.id}/-/packages/pypi`
  const index = async (as: Someone): Promise<boolean[]> => {
    const { text } = await world().get(`${at}/simple`, as)
    return [text.includes('/simple/seen"'), text.includes('/simple/unseen"')]
  }
  assert.deepEqual(await index(owner), [true, true])
  assert.deepEqual(await index(developer), [true, false])
  const page = await world().get(`${at}/simple/unseen`, owner)
  const [, link = ''] = /href="https:\/\/guild.example\/api\/v4([^"#]+)#/.exec(page.text) ?? []
  assert.equal((await world().get(link, owner)).text, 'u')
  assert.equal((await world().get(link, developer)).status, 404)
})

test('the token of a running job uploads under its published user name only', async () => {
  await makeRunningJob(world(), project, developer, 'glcbt-pypi')
  const basic = (name: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(`${name}:glcbt-pypi`).toString('base64')}`,
  })
  const as = (name: string): CallOptions => ({ as: undefined, headers: basic(name) })
  assert.deepEqual(refused(await upload({ name: 'by-job', options: as('gitlab-ci-token') })), created)
  assert.equal((await upload({ name: 'by-job', version: '2', options: as('anyone') })).status, 401)
  const page = await world().call('GET', `${base}/simple/by-job`, { headers: basic('gitlab-ci-token') })
  assert.equal(page.status, 200)
})

test('of fifty clients that upload one file name at once one wins, and the others meet the published conflict', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => upload({ name: 'crowded', content: `body ${i}` })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  const taken = bad('Validation failed: File name has already been taken')
  for (const answer of answers.filter(({ status }) => status !== 201))
    assert.deepEqual(refused(answer), taken)
})
