import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered, CallOptions } from '../../../test/support/world.ts'

const world = sharedWorld()

let project: Project
let developer: Someone
let maintainer: Someone
let base: string
before(async () => {
  const { make } = world()
  project = await make.project({ visibility: 'private' })
  developer = await make.memberOf('developer', { project })
  maintainer = await make.memberOf('maintainer', { project })
  base = `/projects/${project.id}/packages`
})

const octets = { 'content-type': 'application/octet-stream' }
const put = (path: string, body: string, options: CallOptions = {}): Promise<Answered> =>
  world().call('PUT', `${base}/generic/${path}`, { as: developer, body, headers: octets, ...options })
const get = (path: string, as: Someone | undefined = developer, headers = {}): Promise<Answered> =>
  world().call('GET', `${base}/generic/${path}`, { as, headers })
const refused = ({ status, body }: Answered): unknown => [status, body]
const created = [201, { message: '201 Created' }]
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

test('a file is published, listed and downloaded as it was', async () => {
  assert.deepEqual(refused(await put('tool/1.2.bananas/tool.bin', 'the bytes')), created)
  const file = await get('tool/1.2.bananas/tool.bin')
  assert.deepEqual([file.status, file.text], [200, 'the bytes'])
  assert.equal(file.headers['content-type'], 'application/octet-stream')
  assert.equal(file.headers['x-checksum-sha256'], sha256('the bytes'))
  assert.match(String(file.headers['content-disposition']), /^attachment; filename="tool.bin"/)
  assert.equal(file.headers['content-length'], '9')
  const list = (await world().get(base, developer)).body as Record<string, unknown>[]
  const [listed] = list
  assert.deepEqual(
    [listed?.['name'], listed?.['version'], listed?.['package_type'], listed?.['status'], listed?.['tags']],
    ['tool', '1.2.bananas', 'generic', 'default', []],
  )
  const files = await world().get(`${base}/${String(listed?.['id'])}/package_files`, developer)
  const [one] = files.body as Record<string, unknown>[]
  assert.deepEqual(
    [one?.['file_name'], one?.['size'], one?.['file_sha256']],
    ['tool.bin', 9, sha256('the bytes')],
  )
})

test('a part of a file is sent on request, and none outside of it', async () => {
  await put('ranges/1/file', '0123456789')
  const range = (value: string): Promise<Answered> => get('ranges/1/file', developer, { range: value })
  const part = await range('bytes=2-4')
  assert.deepEqual([part.status, part.text, part.headers['content-range']], [206, '234', 'bytes 2-4/10'])
  assert.equal((await range('bytes=-3')).text, '789')
  assert.equal((await range('bytes=7-')).text, '789')
  assert.equal((await range('bytes=7-99')).text, '789')
  const none = await range('bytes=10-')
  assert.deepEqual([none.status, none.headers['content-range']], [416, 'bytes */10'])
  assert.equal((await range('bytes=0-1,4-5')).status, 200)
})

test('files of one version join one package, and the newest of a name is served', async () => {
  await put('joined/1/a', 'first')
  await put('joined/1/b', 'other')
  await put('joined/1/a', 'second')
  assert.equal((await get('joined/1/a')).text, 'second')
  const found = await world().get(`${base}?package_name=JOINED`, developer)
  assert.equal((found.body as unknown[]).length, 1)
})

test('a file below folders is kept as one name', async () => {
  assert.deepEqual(refused(await put('folders/1/path/to/file.txt', 'deep')), created)
  assert.equal((await get('folders/1/path/to/file.txt')).text, 'deep')
  assert.equal((await get('folders/1/path%2Fto%2Ffile.txt')).text, 'deep')
  const rows = await rowsOf<{ file_name: string }>(
    world(),
    `select file_name from package_files f join packages k on k.id = f.package_id where k.name = 'folders'`,
  )
  assert.deepEqual(rows, [{ file_name: 'path%2Fto%2Ffile.txt' }])
})

test('names outside the alphabets and paths that climb are refused, and nothing is kept', async () => {
  const before = await contents(world())
  const rows: [string, string][] = [
    ['na me/1/f', 'package_name is invalid'],
    ['n%2F..%2Fm/1/f', 'package_name is invalid'],
    ['name/1..2/f', 'package_version is invalid'],
    ['name/1%202/f', 'package_version is invalid'],
    ['name/1/~f', 'file_name is invalid'],
    ['name/1/f@', 'file_name is invalid'],
    ['name/1/a%2F..%2Fb', 'file_name should be a valid file path'],
    ['name/1/%2e%2e%2fb', 'file_name should be a valid file path'],
  ]
  for (const [path, error] of rows) assert.deepEqual(refused(await put(path, 'x')), [400, { error }], path)
  for (const query of ['status=error', 'select=package'])
    assert.equal((await put(`name/1/f?${query}`, 'x')).status, 400)
  assert.equal(await contents(world()), before)
})

test('select=package_file answers the record of the file', async () => {
  const answer = await put('selected/1/f?select=package_file', 'x')
  const { id, package_id, created_at, ...rest } = answer.body as Record<string, unknown>
  assert.equal(answer.status, 200)
  assert.ok(Number(id) > 0 && Number(package_id) > 0 && typeof created_at === 'string')
  assert.deepEqual(rest, {
    file_name: 'f',
    size: 1,
    file_md5: createHash('md5').update('x').digest('hex'),
    file_sha1: createHash('sha1').update('x').digest('hex'),
    file_sha256: sha256('x'),
  })
})

test('a hidden package is downloaded and not listed, and a later upload may show it', async () => {
  await put('hidden/1/f?status=hidden', 'x')
  assert.equal((await get('hidden/1/f')).text, 'x')
  const listed = async (query: string): Promise<number> =>
    ((await world().get(`${base}?package_name=hidden${query}`, developer)).body as unknown[]).length
  assert.deepEqual([await listed(''), await listed('&status=hidden')], [0, 1])
  await put('hidden/1/g', 'x')
  assert.equal(await listed(''), 1)
})

test('a form brings its file in the part named file', async () => {
  const form = (name: string): CallOptions => ({
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `--b\r\nContent-Disposition: form-data; name="${name}"; filename="z"\r\n\r\nin a form\r\n--b--\r\n`,
  })
  assert.deepEqual(refused(await put('formed/1/f', '', form('file'))), created)
  assert.equal((await get('formed/1/f')).text, 'in a form')
  assert.deepEqual(refused(await put('formed/1/g', '', form('other'))), [400, { error: 'file is missing' }])
})

test('a file of exactly the limit is refused, one byte less is taken, and 0 is no limit', async () => {
  const limit = (bytes: number): Promise<void> =>
    world().make.sql(`update plan_limits set limits = '{"generic_packages_max_file_size": ${bytes}}'`)
  await limit(10)
  const tooLarge = [400, { message: '400 Bad request - File is too large' }]
  const before = await contents(world())
  const exact = await put('limits/1/f', 'x'.repeat(10))
  assert.deepEqual(refused(exact), tooLarge)
  assert.equal(exact.headers['x-plan-limit'], 'generic_packages_max_file_size=10')
  assert.deepEqual(refused(await put('limits/1/f', 'x'.repeat(99_999))), tooLarge)
  assert.equal(await contents(world()), before)
  assert.deepEqual(refused(await put('limits/1/f', 'x'.repeat(9))), created)
  await limit(0)
  assert.deepEqual(refused(await put('limits/1/f', 'x'.repeat(99))), created)
  await world().make.sql(`update plan_limits set limits = '{}'`)
})

test('a full root namespace takes no file and names the limit, and one that grows full says so', async () => {
  const set = (limits: object): Promise<void> =>
    world().make.sql(`update plan_limits set limits = '${JSON.stringify(limits)}'`)
  await put('stored/1/f', 'x'.repeat(1_100_000))
  for (const [name, bytes] of [
    ['storage_size_limit', 1_000_000],
    ['enforcement_limit', 1],
  ] as const) {
    await set({ [name]: 1 })
    const message = `400 Bad request - Namespace storage is full: ${name} is 1 MiB`
    assert.deepEqual(refused(await put('stored/1/g', 'x'.repeat(bytes))), [400, { message }])
  }
  await set({ notification_limit: 1 })
  const noticed = await put('stored/1/h', 'x')
  const notice = 'Namespace storage is almost full: notification_limit is 1 MiB'
  assert.deepEqual(
    [noticed.status, noticed.headers['warning'], noticed.headers['npm-notice']],
    [201, `299 - "${notice}"`, notice],
  )
  await set({ notification_limit: 0 })
  assert.equal((await put('stored/1/i', 'x')).headers['warning'], undefined)
  await set({})
})

test('a rule refuses a push by the role at that moment, and a delete where it says so', async () => {
  await put('guarded-tool/1/f', 'x')
  const rules = `/projects/${project.id}/packages/protection/rules`
  const body = {
    package_name_pattern: 'GUARDED-*',
    package_type: 'generic',
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'owner',
  }
  assert.equal((await world().call('POST', rules, { as: maintainer, body })).status, 201)
  const before = await contents(world())
  const message = '403 Forbidden - Package protected.'
  assert.deepEqual(refused(await put('guarded-tool/2/f', 'x')), [403, { message }])
  assert.equal(await contents(world()), before)
  assert.deepEqual(refused(await put('guarded-tool/2/f', 'x', { as: maintainer })), created)
  const [row] = await rowsOf<{ id: number }>(world(), `select id from packages where name = 'guarded-tool'`)
  const gone = await world().call('DELETE', `${base}/${row?.id}`, { as: maintainer })
  assert.deepEqual(refused(gone), [403, { message: '403 Forbidden - Package is deletion protected.' }])
})

test('a deleted package is gone for readers, and its name and version are free again', async () => {
  await put('deleted/1/f', 'x')
  const [row] = await rowsOf<{ id: number }>(world(), `select id from packages where name = 'deleted'`)
  const at = `${base}/${row?.id}`
  assert.equal((await world().call('DELETE', at, { as: developer })).status, 403)
  assert.equal((await world().call('DELETE', at, { as: maintainer })).status, 204)
  assert.deepEqual(refused(await world().get(at, developer)), [404, { message: '404 Package Not Found' }])
  assert.equal((await get('deleted/1/f')).status, 404)
  assert.deepEqual(refused(await put('deleted/1/f', 'y')), created)
})

test('a token may be the password of HTTP Basic, and who sends none is asked for it', async () => {
  await put('basic/1/f', 'x')
  const basic = (name: string, password: string): CallOptions => ({
    headers: { ...octets, authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` },
    as: undefined,
  })
  assert.deepEqual(refused(await put('basic/1/g', 'x', basic('anyone', developer.token))), created)
  for (const options of [basic('anyone', 'glpat-wrong'), { as: undefined, headers: octets }]) {
    const answer = await put('basic/1/g', 'x', options)
    assert.equal(answer.status, 401)
    assert.equal(answer.headers['www-authenticate'], 'Basic realm="GitLab Packages Registry"')
    const path = `${base}/generic/basic/1/f`
    assert.equal((await world().call('GET', path, options)).status, 401)
  }
  const open = await world().make.project({ visibility: 'public' })
  const as = await world().make.memberOf('developer', { project: open })
  const at = `/projects/${open.id}/packages/generic/open/1/f`
  await world().call('PUT', at, { as, body: 'open', headers: octets })
  assert.equal((await world().call('GET', at, basic('anyone', 'glpat-wrong'))).text, 'open')
  assert.equal((await world().call('GET', at, { headers: { 'private-token': 'glpat-wrong' } })).status, 401)
})

test('fifty clients who publish one new version at once make one package', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => put('crowded/1/f', `body ${i}`)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  const rows = await rowsOf(world(), `select id from packages where name = 'crowded'`)
  assert.equal(rows.length, 1)
})
