import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import { makeRunningJob } from '../../../test/support/job_token.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { npmDocument, npmTarball } from '../../../test/support/npm_packages.ts'
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
  base = `/projects/${project.id}/packages/npm`
})

type Publishing = Parameters<typeof npmDocument>[0] & { readonly options?: CallOptions }
const publish = ({ options = {}, ...made }: Publishing): Promise<Answered> =>
  world().call('PUT', `${base}/${made.name.replace('/', '%2f')}`, {
    as: developer,
    body: npmDocument(made),
    ...options,
  })
const get = (path: string, as: Someone | undefined = developer): Promise<Answered> =>
  world().get(`${base}/${path}`, as)
const refused = ({ status, body }: Answered): unknown => [status, body]
const both = (status: number, text: string): unknown => [status, { message: text, error: text }]
const absent = (thing: string): unknown => [
  404,
  { message: `404 ${thing} Not Found`, error: `${thing} not found` },
]
interface Metadata {
  readonly name: string
  readonly versions: Readonly<Record<string, Record<string, unknown>>>
  readonly 'dist-tags': Readonly<Record<string, string>>
}

test('a published version is read by its metadata and downloaded from the address in it', async () => {
  const name = `@${group.full_path}/round`
  const manifest = { dependencies: { left: '^1.0.0' }, bin: { round: 'cli.js' }, scripts: { test: 'x' } }
  const tarball = npmTarball({ name, version: '1.0.0' })
  const answer = await publish({ name, version: '1.0.0', manifest, tarball })
  assert.equal(answer.status, 200)
  assert.equal((answer.body as { name: string }).name, name)
  for (const path of [name, name.replace('/', '%2f'), name.replace('@', '%40')]) {
    const metadata = (await get(path)).body as Metadata
    const at = `https://guild.example/api/v4/projects/${project.id}/packages/npm/${name}/-/${name}-1.0.0.tgz`
    const { dist, ...version } = metadata.versions['1.0.0'] ?? {}
    assert.deepEqual(version, {
      name,
      version: '1.0.0',
      dependencies: manifest.dependencies,
      bin: manifest.bin,
    })
    const sent = npmDocument({ name, version: '1.0.0', tarball }).versions['1.0.0']?.['dist']
    assert.deepEqual(dist, { ...(sent as object), tarball: at })
    assert.deepEqual(metadata['dist-tags'], { latest: '1.0.0' })
  }
  const file = await world().app.inject({
    url: `/api/v4/projects/${project.id}/packages/npm/${name}/-/${name}-1.0.0.tgz`,
    headers: { authorization: `Bearer ${developer.token}` },
  })
  assert.ok(file.rawPayload.equals(tarball))
})

test('refusals of a publish come in the published order and texts', async () => {
  const name = 'refused'
  const good = npmDocument({ name, version: '1.0.0' })
  assert.equal((await publish({ name, version: '1.0.0' })).status, 200)
  const before = await contents(world())
  const put = (body: object, path = name): Promise<Answered> =>
    world().call('PUT', `${base}/${path}`, { as: developer, body })
  const large = { name, version: '2.0.0', manifest: { bin: 'x'.repeat(20_000) } }
  const rows: [object, unknown][] = [
    [{ name }, both(400, 'Version is empty.')],
    [{ ...good, _attachments: {} }, both(400, 'Attachment data is empty.')],
    [good, both(403, 'Package already exists.')],
    [
      npmDocument({ name, version: '1.0' }),
      both(400, 'Validation failed: Version should follow SemVer: https://semver.org'),
    ],
    [
      npmDocument({ name: 'another', version: '3.0.0' }),
      both(
        400,
        'Validation failed: Name is invalid, Name should be a valid NPM package name: https://github.com/npm/validate-npm-package-name#naming-rules.',
      ),
    ],
    [
      npmDocument(large),
      both(400, 'Validation failed: Package json structure is too large. Maximum size is 20000 characters'),
    ],
    [
      { ...npmDocument({ name, version: '2.0.0' }), _attachments: { x: { data: '****' } } },
      both(400, 'Attachment data is not Base64.'),
    ],
  ]
  for (const [body, expected] of rows) assert.deepEqual(refused(await put(body)), expected)
  const bad = { error: 'package_name should be a valid file path' }
  for (const path of ['a%2Fb', '..%2Fa', 'na%20me', '@a%2F..'])
    assert.deepEqual(refused(await put(good, path)), [400, bad], path)
  assert.equal(await contents(world()), before)
})

test('a readme does not count for the size of a manifest', async () => {
  const manifest = { readme: 'x'.repeat(30_000) }
  assert.equal((await publish({ name: 'readme', version: '1.0.0', manifest })).status, 200)
})

test('a version whose manifest or digests differ from its tarball is kept as an error and not served', async () => {
  const name = 'incoherent'
  const other = npmTarball({ name: 'innocent', version: '1.0.0' })
  const altered = npmDocument({ name, version: '1.2.0' })
  const dist = { shasum: '0'.repeat(40) }
  for (const body of [
    npmDocument({ name, version: '1.0.0', tarball: other }),
    npmDocument({ name, version: '1.1.0', tarball: Buffer.from('no archive') }),
    { ...altered, versions: { '1.2.0': { ...altered.versions['1.2.0'], dist } } },
  ]) {
    const answer = await world().call('PUT', `${base}/${name}`, { as: developer, body })
    assert.deepEqual([answer.status, (answer.body as { status: string }).status], [200, 'error'])
  }
  assert.deepEqual(refused(await get(name)), absent('Packages'))
  assert.deepEqual(refused(await get(`${name}/-/${name}-1.0.0.tgz`)), absent('Package'))
})

test('a tarball of exactly the limit is refused, and one byte less is taken', async () => {
  const [name, version] = ['limited', '1.0.0']
  const tarball = npmTarball({ name, version })
  const limit = (bytes: number): Promise<void> =>
    world().make.sql(`update plan_limits set limits = '{"npm_max_file_size": ${bytes}}'`)
  const before = await contents(world())
  await limit(tarball.length)
  const tooLarge = await publish({ name, version, tarball })
  assert.deepEqual(refused(tooLarge), both(400, 'File is too large.'))
  assert.equal(tooLarge.headers['x-plan-limit'], `npm_max_file_size=${tarball.length}`)
  await world().make.sql(`update plan_limits set limits = '{}'`)
  assert.equal(await contents(world()), before)
  await limit(tarball.length + 1)
  assert.equal((await publish({ name, version, tarball })).status, 200)
  await world().make.sql(`update plan_limits set limits = '{}'`)
})

test('escapes in the base64 of a tarball do not count for its size', async () => {
  const [name, version] = ['escaped', '1.0.0']
  // Its base64 is all slashes, and longer than what is kept in memory.
  const tarball = Buffer.alloc(60_000, 0xff)
  const body = JSON.stringify(npmDocument({ name, version, tarball })).replaceAll('/', String.raw`\/`)
  const headers = { 'content-type': 'application/json' }
  const send = (): Promise<Answered> =>
    world().call('PUT', `${base}/${name}`, { as: developer, body, headers })
  const limit = (bytes: number): Promise<void> =>
    world().make.sql(`update plan_limits set limits = '{"npm_max_file_size": ${bytes}}'`)
  await limit(tarball.length)
  assert.equal((await send()).status, 400)
  await limit(tarball.length + 1)
  assert.equal((await send()).status, 200)
  await world().make.sql(`update plan_limits set limits = '{}'`)
})

test('a large tarball goes through the disk and comes back as it was', async () => {
  const [name, version] = ['large', '1.0.0']
  const files = { 'noise.txt': Array.from({ length: 200_000 }, (_, i) => Math.sin(i)).join() }
  const tarball = npmTarball({ name, version }, files)
  assert.ok(tarball.length > 1_000_000)
  assert.equal((await publish({ name, version, tarball })).status, 200)
  const file = await world().app.inject({
    url: `/api/v4${base}/${name}/-/${name}-${version}.tgz`,
    headers: { 'private-token': developer.token },
  })
  assert.ok(file.rawPayload.equals(tarball))
})

test('a rule refuses a publish by the role at that moment', async () => {
  const rules = `/projects/${project.id}/packages/protection/rules`
  const body = {
    package_name_pattern: 'guarded*',
    package_type: 'npm',
    minimum_access_level_for_push: 'maintainer',
  }
  assert.equal((await world().call('POST', rules, { as: maintainer, body })).status, 201)
  const before = await contents(world())
  const made = { name: 'Guarded-one', version: '1.0.0' }
  assert.deepEqual(refused(await publish(made)), both(403, 'Package protected.'))
  assert.equal(await contents(world()), before)
  assert.equal((await publish({ ...made, options: { as: maintainer } })).status, 200)
})

test('tags are listed, moved and removed, and latest is the highest version where nobody set it', async () => {
  const name = 'tagged'
  for (const [version, tag] of [
    ['1.10.0', 'next'],
    ['1.9.0', 'beta'],
  ] as const)
    await publish({ name, version, tag })
  const tags = async (): Promise<unknown> => (await get(`-/package/${name}/dist-tags`)).body
  assert.deepEqual(await tags(), { latest: '1.10.0', next: '1.10.0', beta: '1.9.0' })
  const set = (tag: string, body: string, as = developer): Promise<Answered> =>
    world().call('PUT', `${base}/-/package/${name}/dist-tags/${tag}`, {
      as,
      body,
      headers: { 'content-type': 'application/json' },
    })
  assert.equal((await set('latest', '"1.9.0"')).status, 204)
  assert.deepEqual(await tags(), { latest: '1.9.0', next: '1.10.0', beta: '1.9.0' })
  assert.deepEqual(refused(await set('latest', '"3.0.0"')), absent('Package'))
  const blank = { message: '400 Bad request - "Version" not given', error: '"Version" not given' }
  assert.deepEqual(refused(await set('latest', '""')), [400, blank])
  const drop = (tag: string): Promise<Answered> =>
    world().call('DELETE', `${base}/-/package/${name}/dist-tags/${tag}`, { as: maintainer })
  assert.equal((await drop('beta')).status, 204)
  assert.deepEqual(refused(await drop('beta')), absent('Package tag'))
  assert.deepEqual(await tags(), { latest: '1.9.0', next: '1.10.0' })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => set('race', i % 2 === 0 ? '"1.9.0"' : '"1.10.0"')),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]))
})

test('a deprecation marks the versions that name it, and an empty text takes it back', async () => {
  const name = 'old'
  await publish({ name, version: '1.0.0' })
  await publish({ name, version: '2.0.0' })
  const say = (texts: Readonly<Record<string, string>>, as = maintainer): Promise<Answered> =>
    world().call('PUT', `${base}/${name}`, {
      as,
      headers: { 'npm-command': 'deprecate' },
      body: {
        name,
        versions: Object.fromEntries(
          Object.entries(texts).map(([version, deprecated]) => [version, { deprecated }]),
        ),
      },
    })
  const deprecated = async (): Promise<unknown[]> =>
    Object.values(((await get(name)).body as Metadata).versions).map((one) => one['deprecated'])
  assert.deepEqual(refused(await say({ '1.0.0': 'x' }, developer)), [403, { message: '403 Forbidden' }])
  assert.equal((await say({ '1.0.0': 'use 2' })).status, 200)
  assert.deepEqual(await deprecated(), ['use 2', undefined])
  assert.equal((await say({ '1.0.0': '' })).status, 200)
  assert.deepEqual(await deprecated(), [undefined, undefined])
  const none = '"package versions to deprecate" not given'
  assert.deepEqual(refused(await say({})), [400, { message: `400 Bad request - ${none}`, error: none }])
})

test('text that no database keeps is replaced in manifests and refused as a tag', async () => {
  const [name, version] = ['odd', '1.0.0']
  const manifest = { bin: { 'a\u0000': 'b\ud800', c: String.raw`\u0000` }, engines: { node: '\u{1F600}' } }
  assert.equal((await publish({ name, version, manifest })).status, 200)
  const kept = ((await get(name)).body as Metadata).versions[version]
  assert.deepEqual(
    [kept?.['bin'], kept?.['engines']],
    [{ 'a\ufffd': 'b\ufffd', c: String.raw`\u0000` }, { node: '\u{1F600}' }],
  )
  const invalid = 'Validation failed: Name is invalid'
  assert.deepEqual(refused(await publish({ name, version: '2.0.0', tag: 'a\u0000' })), both(400, invalid))
  const deprecate = (deprecated: string): Promise<Answered> =>
    world().call('PUT', `${base}/${name}`, {
      as: maintainer,
      headers: { 'npm-command': 'deprecate' },
      body: { name, versions: { [version]: { deprecated } } },
    })
  assert.equal((await deprecate('old\u0000')).status, 200)
  assert.equal(((await get(name)).body as Metadata).versions[version]?.['deprecated'], 'old\ufffd')
  const large = 'Validation failed: Package json structure is too large. Maximum size is 20000 characters'
  assert.deepEqual(refused(await deprecate('x'.repeat(20_000))), both(400, large))
})

test('a version whose scope is its root namespace exists once below it, and is found from the instance', async () => {
  const name = `@${group.full_path}/shared`
  const sibling = await world().make.project({ group })
  await world().make.member(developer, 'developer', { project: sibling })
  const elsewhere = (made: { name: string; version: string }): Promise<Answered> =>
    world().call('PUT', `/projects/${sibling.id}/packages/npm/${encodeURIComponent(made.name)}`, {
      as: developer,
      body: npmDocument(made),
    })
  await publish({ name, version: '1.0.0' })
  const taken = both(400, 'Validation failed: Package already exists')
  assert.deepEqual(refused(await elsewhere({ name, version: '1.0.0' })), taken)
  assert.equal((await elsewhere({ name, version: '1.1.0' })).status, 200)
  for (const place of [`/groups/${group.id}/-/packages/npm`, '/packages/npm']) {
    const { body } = await world().get(`${place}/${name}`, developer)
    assert.deepEqual(Object.keys((body as Metadata).versions), ['1.0.0', '1.1.0'], place)
    const tags = await world().get(`${place}/-/package/${name}/dist-tags`, developer)
    assert.deepEqual(tags.body, { latest: '1.1.0' })
    const stranger = await world().make.user()
    assert.equal((await world().get(`${place}/${name}`, stranger)).status, 404)
  }
  for (const free of ['@free/shared', 'shared']) {
    await publish({ name: free, version: '1.0.0' })
    assert.equal((await elsewhere({ name: free, version: '1.0.0' })).status, 200)
    assert.deepEqual(refused(await world().get(`/packages/npm/${free}`, developer)), absent('Packages'))
  }
})

test('the token of a running job publishes and installs in its project alone', async () => {
  const { make } = world()
  const other = await make.project({ group })
  await make.member(developer, 'developer', { project: other })
  await makeRunningJob(world(), project, developer, 'glcbt-npm')
  const forms: Record<string, string>[] = [
    { authorization: 'Bearer glcbt-npm' },
    { 'job-token': 'glcbt-npm' },
    { authorization: `Basic ${Buffer.from('gitlab-ci-token:glcbt-npm').toString('base64')}` },
  ]
  for (const [i, headers] of forms.entries()) {
    const made = { name: 'by-job', version: `1.0.${i}` }
    assert.equal((await publish({ ...made, options: { as: undefined, headers } })).status, 200)
    assert.equal((await world().call('GET', `${base}/by-job`, { headers })).status, 200)
    const elsewhere = await world().call('PUT', `/projects/${other.id}/packages/npm/by-job`, {
      headers,
      body: npmDocument(made),
    })
    assert.equal(elsewhere.status, 404)
  }
  await rowsOf(world(), `update ci_jobs set status = 'success' where token_digest is not null`)
  for (const headers of forms)
    assert.equal((await world().call('PUT', `${base}/by-job`, { headers, body: {} })).status, 401)
})

test('of fifty clients that publish one version at once one wins, and the others meet the published conflict', async () => {
  const publishing = Array.from({ length: 50 }, (_, i) =>
    publish({ name: 'crowded', version: '1.0.0', manifest: { engines: { node: `>=${i}` } } }),
  )
  const answers = await Promise.all(publishing)
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 200))
    assert.deepEqual(refused(answer), both(403, 'Package already exists.'))
  const rows = await rowsOf(
    world(),
    `select f.id from packages k join package_files f on f.package_id = k.id where k.name = 'crowded'`,
  )
  assert.equal(rows.length, 1)
})
