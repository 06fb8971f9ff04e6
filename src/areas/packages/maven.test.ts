import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import { rewriteMavenMetadata } from '../../packages/maven_metadata.ts'
import { makeRunningJob } from '../../../test/support/job_token.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
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
  base = `/projects/${project.id}/packages/maven`
})

const octets = { 'content-type': 'application/octet-stream' }
const put = (path: string, body: string, { headers, ...options }: CallOptions = {}): Promise<Answered> =>
  world().call('PUT', `${base}/${path}`, {
    as: developer,
    body,
    headers: { ...octets, ...headers },
    ...options,
  })
const get = (path: string, as: Someone | undefined = developer): Promise<Answered> =>
  world().get(`${base}/${path}`, as)
const refused = ({ status, body }: Answered): unknown => [status, body]
const missing = [404, { message: '404 Package Not Found' }]
const digest = (kind: 'md5' | 'sha1', text: string): string => createHash(kind).update(text).digest('hex')
const packagesOf = (name: string): Promise<{ version: string | null }[]> =>
  rowsOf(world(), `select version from packages where name = $1 order by id`, [name])

test('a file is stored under its path and served with its checksums', async () => {
  const at = 'com/example/crane/1.0/crane-1.0.jar'
  assert.deepEqual(refused(await get(at)), missing)
  assert.equal((await put(at, 'bytes')).status, 200)
  const file = await get(at)
  assert.deepEqual([file.status, file.text], [200, 'bytes'])
  assert.equal(file.headers['x-checksum-sha1'], digest('sha1', 'bytes'))
  assert.equal(file.headers['x-checksum-md5'], digest('md5', 'bytes'))
  for (const kind of ['md5', 'sha1'] as const) {
    const checksum = await get(`${at}.${kind}`)
    assert.deepEqual(
      [checksum.status, checksum.text, checksum.headers['content-type']],
      [200, digest(kind, 'bytes'), 'text/plain'],
    )
  }
  assert.deepEqual(await packagesOf('com/example/crane'), [{ version: '1.0' }])
  const head = await world().call('HEAD', `${base}/${at}`, { as: developer })
  assert.deepEqual([head.status, head.headers['content-length']], [200, '5'])
})

test('a sent SHA-1 digest is compared with the stored file, and an MD5 digest is not', async () => {
  const at = 'com/example/sums/1.0/sums-1.0.jar'
  assert.deepEqual(refused(await put(`${at}.sha1`, digest('sha1', 'bytes'))), missing)
  await put(at, 'bytes')
  assert.equal((await put(`${at}.sha1`, digest('sha1', 'bytes'))).status, 204)
  assert.equal((await put(`${at}.sha1`, digest('sha1', 'other'))).status, 409)
  const unchecked = await put(`${at}.md5`, digest('md5', 'other'))
  assert.deepEqual([unchecked.status, unchecked.text], [200, ''])
  assert.deepEqual(refused(await get(`${at}.sha256`)), missing)
  assert.equal((await put(`${at}.sha256`, 'as sent')).status, 200)
  assert.equal((await get(`${at}.sha256`)).text, 'as sent')
})

test('metadata belongs to all versions, that of a snapshot to its version, and the newest file is served', async () => {
  const of = 'com/example/snap'
  await put(`${of}/2.0-SNAPSHOT/maven-metadata.xml`, 'of the snapshot')
  await put(`${of}/2.0-SNAPSHOT/snap-2.0-20260101.101010-1.jar`, 'first')
  await put(`${of}/2.0-SNAPSHOT/snap-2.0-20260101.101010-2.jar`, 'second')
  await put(`${of}/maven-metadata.xml`, 'of all')
  await put(`${of}/maven-metadata.xml`, 'of all, again')
  assert.deepEqual(await packagesOf(of), [{ version: '2.0-SNAPSHOT' }, { version: null }])
  assert.equal((await get(`${of}/2.0-SNAPSHOT/maven-metadata.xml`)).text, 'of the snapshot')
  assert.equal((await get(`${of}/maven-metadata.xml`)).text, 'of all, again')
  assert.equal((await get(`${of}/maven-metadata.xml.sha1`)).text, digest('sha1', 'of all, again'))
  const listed = async (query = ''): Promise<unknown[]> =>
    (await world().get(`/projects/${project.id}/packages?package_name=${of}${query}`, developer)).body as []
  assert.equal((await listed()).length, 1)
  assert.equal((await listed('&include_versionless=true')).length, 2)
})

test('paths that climb and names outside the alphabets are refused, and nothing is kept', async () => {
  const before = await contents(world())
  const rows: [string, unknown][] = [
    ['com%2F..%2Fx%2F1.0%2Fx.jar', { error: 'path should be a valid file path' }],
    ['com%2f%2e%2e%2fx/1.0/x.jar', { error: 'path should be a valid file path' }],
    ['x.jar', { error: 'path should be a valid file path' }],
    ['com/x/1.0/x%20y.jar', { error: 'file_name is invalid' }],
    ['com/x/1..0/x.jar', { message: '400 Bad request - Validation failed: Version is invalid' }],
    ['co%20m/x/1.0/x.jar', { message: '400 Bad request - Validation failed: Name is invalid' }],
  ]
  for (const [path, body] of rows) assert.deepEqual(refused(await put(path, 'x')), [400, body], path)
  assert.deepEqual(refused(await get('com/x%2F%2e%2e%2Fx.jar')), [
    400,
    { error: 'path should be a valid file path' },
  ])
  assert.equal(await contents(world()), before)
})

test('a file of exactly the limit is refused, and one byte less is taken', async () => {
  await world().make.sql(`update plan_limits set limits = '{"maven_max_file_size": 10}'`)
  const at = 'com/example/limited/1.0/limited-1.0.jar'
  const tooLarge = { message: '400 Bad request - File is too large' }
  const answer = await put(at, 'x'.repeat(10))
  assert.deepEqual(refused(answer), [400, tooLarge])
  assert.equal(answer.headers['x-plan-limit'], 'maven_max_file_size=10')
  assert.equal((await put(at, 'x'.repeat(9))).status, 200)
  await world().make.sql(`update plan_limits set limits = '{}'`)
})

test('a rule refuses a push by the role at that moment, into an existing version too', async () => {
  const of = 'com/example/guarded'
  await put(`${of}/1.0/guarded-1.0.jar`, 'x')
  const body = {
    package_name_pattern: 'com/example/guard*',
    package_type: 'maven',
    minimum_access_level_for_push: 'maintainer',
  }
  const rules = `/projects/${project.id}/packages/protection/rules`
  assert.equal((await world().call('POST', rules, { as: maintainer, body })).status, 201)
  const message = '403 Forbidden - Package protected.'
  for (const path of [`${of}/1.0/guarded-1.0.pom`, `${of}/2.0/guarded-2.0.jar`, `${of}/maven-metadata.xml`])
    assert.deepEqual(refused(await put(path, 'x')), [403, { message }])
  assert.equal((await put(`${of}/2.0/guarded-2.0.jar`, 'x', { as: maintainer })).status, 200)
})

test('a group serves the newest file of the projects that the caller reads, the instance the package named like its project', async () => {
  const { make } = world()
  const hidden = await make.project({ group })
  const owner = await make.memberOf('owner', { group })
  const at = 'com/example/both/1.0/both-1.0.jar'
  await put(at, 'of the seen project')
  await world().call('PUT', `/projects/${hidden.id}/packages/maven/${at}`, {
    as: owner,
    body: 'of the hidden project',
    headers: octets,
  })
  const inGroup = `/groups/${group.id}/-/packages/maven/${at}`
  assert.equal((await world().get(inGroup, owner)).text, 'of the hidden project')
  assert.equal((await world().get(inGroup, developer)).text, 'of the seen project')
  assert.equal((await world().get(inGroup)).status, 401)
  const named = `${project.full_path}/1.0/named-1.0.jar`
  await put(named, 'named')
  assert.equal((await world().get(`/packages/maven/${named}`, developer)).text, 'named')
  const stranger = await make.user()
  for (const path of [named, 'com/example/none/1.0/none-1.0.jar']) {
    const forbidden = [403, { message: '403 Forbidden' }]
    assert.deepEqual(refused(await world().get(`/packages/maven/${path}`, stranger)), forbidden)
    assert.equal((await world().get(`/packages/maven/${path}`)).status, 401)
  }
})

test('the deletion of a version rewrites the stored metadata, and that of the last one removes it', async () => {
  const of = 'com/example/deleted'
  for (const version of ['1.0', '2.0', '3.0-SNAPSHOT'])
    await put(`${of}/${version}/deleted-${version}.jar`, version)
  await put(`${of}/maven-metadata.xml`, 'stale')
  const remove = async (version: string): Promise<void> => {
    const [row] = await rowsOf<{ id: number }>(
      world(),
      'select id from packages where name = $1 and version = $2',
      [of, version],
    )
    const at = `/projects/${project.id}/packages/${row?.id}`
    assert.equal((await world().call('DELETE', at, { as: maintainer })).status, 204)
    await rewriteMavenMetadata.run(world().opened.instance, { project_id: project.id, name: of })
  }
  await remove('2.0')
  const { text } = await get(`${of}/maven-metadata.xml`)
  assert.match(text, /<groupId>com.example<\/groupId>\n\s*<artifactId>deleted<\/artifactId>/)
  assert.match(text, /<latest>3.0-SNAPSHOT<\/latest>\n\s*<release>1.0<\/release>/)
  assert.deepEqual(
    [...text.matchAll(/<version>(.*?)</g)].map(([, version]) => version),
    ['1.0', '3.0-SNAPSHOT'],
  )
  await remove('1.0')
  await remove('3.0-SNAPSHOT')
  assert.deepEqual(refused(await get(`${of}/maven-metadata.xml`)), missing)
})

test('the token of a running job deploys by header, and not into another project', async () => {
  await makeRunningJob(world(), project, developer, 'glcbt-maven')
  const other = await world().make.project({ group })
  await world().make.member(developer, 'developer', { project: other })
  const at = 'com/example/job/1.0/job-1.0.jar'
  const options = { as: undefined, headers: { ...octets, 'job-token': 'glcbt-maven' } }
  assert.equal((await put(at, 'x', options)).status, 200)
  const elsewhere = `/projects/${other.id}/packages/maven/${at}`
  assert.equal((await world().call('PUT', elsewhere, { ...options, body: 'x' })).status, 404)
})

test('the pipelines whose jobs published files of a package are listed in pages, the newest first', async () => {
  const at = 'com/example/built/1.0/built-1.0.jar'
  const ids: number[] = []
  for (const token of ['glcbt-first', 'glcbt-second']) {
    const job = await makeRunningJob(world(), project, developer, token)
    const headers = { ...octets, 'job-token': token }
    for (const name of [at, at.replace('jar', 'pom')])
      assert.equal((await put(name, 'x', { as: undefined, headers })).status, 200)
    const [row] = await rowsOf<{ pipeline_id: number }>(
      world(),
      'select pipeline_id from ci_jobs where id = $1',
      [job],
    )
    ids.push(row?.pipeline_id ?? 0)
  }
  const [pack] = await rowsOf<{ id: number }>(world(), `select id from packages where name like '%/built'`)
  const of = `/projects/${project.id}/packages/${pack?.id}/pipelines`
  const list = async (query = ''): Promise<Answered> => world().get(`${of}${query}`, developer)
  const shown = ({ body }: Answered): unknown =>
    (body as { id: number; user: { id: number } }[]).map(({ id, user }) => [id, user.id])
  const [first, second] = ids.map((id) => [id, developer.id])
  assert.deepEqual(shown(await list()), [second, first])
  const page = await list('?per_page=1')
  assert.deepEqual(shown(page), [second])
  const next = /\?([^>]+)>; rel="next"/.exec(String(page.headers['link']))?.[1] ?? ''
  const last = await list(`?${next}`)
  assert.deepEqual([shown(last), last.headers['link']], [[first], undefined])
  const bad = { error: 'per_page does not have a valid value' }
  assert.deepEqual(refused(await list('?per_page=21')), [400, bad])
  assert.deepEqual(refused(await list('?pagination=keyset&cursor=x')), [400, { error: 'cursor is invalid' }])
  await world().make.sql(`update packages set status = 'hidden' where id = ${pack?.id}`)
  assert.deepEqual(refused(await list()), missing)
})

test('fifty clients that deploy one file at once make one package, and each keeps its upload', async () => {
  const of = 'com/example/crowded'
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => put(`${of}/1.0/crowded-1.0.jar`, `body ${i}`)),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal((await packagesOf(of)).length, 1)
  assert.match((await get(`${of}/1.0/crowded-1.0.jar`)).text, /^body \d+$/)
})
