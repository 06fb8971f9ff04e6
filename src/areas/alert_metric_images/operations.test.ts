import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makeReceiver, send } from '../../../test/support/alerts.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld, visible } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
before(async () => {
  project = await world().make.project()
  developer = await world().make.memberOf('developer', { project })
  await send(world(), await makeReceiver(world(), project), { title: 'x' })
})

interface Image {
  readonly id: number
  readonly [field: string]: unknown
}
const path = (rest = '', iid = 1): string =>
  `/projects/${project.id}/alert_management_alerts/${iid}/metric_images${rest}`
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

interface Part {
  readonly name: string
  readonly file?: string
  readonly bytes: Buffer | string
}
const form = (parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, file, bytes }) => [
      Buffer.from(
        `--b\r\ncontent-disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n\r\n`,
      ),
      Buffer.from(bytes),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--b--\r\n'),
  ])
const post = (parts: readonly Part[], as = developer, to = path()): Promise<Answered> =>
  world().call('POST', to, {
    as,
    body: form(parts) as unknown as string,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
const image = (file = 'chart.png', bytes: Buffer | string = PNG): Part => ({ name: 'file', file, bytes })
async function attach(...parts: readonly Part[]): Promise<Image> {
  const answer = await post([image(), ...parts])
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Image
}
const said = ({ status, body }: Answered): [number, unknown] => [status, body]

test('an image is attached, listed and served as it was sent', async () => {
  const made = await attach(
    { name: 'url', bytes: 'https://metrics.example/chart?a=1' },
    { name: 'url_text', bytes: 'CPU of the week' },
  )
  const { id, created_at, ...rest } = made
  assert.match(String(created_at), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
  const file_path = `/uploads/-/system/alert_management_metric_image/file/${id}/chart.png`
  assert.deepEqual(rest, {
    filename: 'chart.png',
    file_path,
    url: 'https://metrics.example/chart?a=1',
    url_text: 'CPU of the week',
  })
  const bare = await attach()
  assert.deepEqual([bare['url'], bare['url_text']], [null, null])
  const list = await world().get(path(), developer)
  assert.deepEqual(said(list), [200, [made, bare]])
  const served = await world().get(`{base_url}${file_path}`, developer)
  assert.deepEqual(
    [served.status, served.headers['content-type'], served.headers['x-content-type-options']],
    [200, 'image/png', 'nosniff'],
  )
  assert.equal(served.headers['content-security-policy'], "default-src 'none'; sandbox")
  assert.equal(served.headers['content-length'], String(PNG.length))
})

test('a file of another name, or of an image that the caller may not see, is not served', async () => {
  const { id } = await attach()
  const at = (name: string): string =>
    `{base_url}/uploads/-/system/alert_management_metric_image/file/${id}/${name}`
  const hidden = await world().get(at('chart.png'), await world().make.user())
  const absent = await world().get(at('chart.png').replace(String(id), '987654321'), developer)
  assert.deepEqual(visible(hidden), visible(absent))
  assert.equal(hidden.status, 404)
  assert.equal((await world().get(at('other.png'), developer)).status, 404)
  assert.equal((await world().get(at('chart.png'))).status, 401)
  const reporter = await world().make.memberOf('reporter', { project })
  assert.equal((await world().get(at('chart.png'), reporter)).status, 404)
})

test('an image has up to a megabyte', async () => {
  const most = await post([image('most.png', Buffer.alloc(1024 * 1024))])
  assert.equal(most.status, 201)
  const refused = [400, { message: '400 Bad request - File is too large' }]
  for (const bytes of [1024 * 1024 + 1, 3 * 1024 * 1024])
    assert.deepEqual(said(await post([image('more.png', Buffer.alloc(bytes))])), refused)
})

test('images are told by their extension, in any case of letters', async () => {
  const message =
    'File does not have a supported extension. Only png, jpg, jpeg, gif, bmp, tiff, ico, and webp are supported'
  for (const name of ['a.svg', 'a.html', 'png', 'a.png.exe', ''])
    assert.deepEqual(said(await post([image(name)])), [400, { message }], name)
  for (const name of ['a.PNG', 'a.jpg', 'a.jpeg', 'a.gif', 'a.bmp', 'a.tiff', 'a.ico', 'a.webp'])
    assert.equal((await post([image(name)])).status, 201, name)
})

test('a file name loses its folders and the characters that addresses do not take', async () => {
  for (const [given, kept] of [
    ['../../etc/x.png', 'x.png'],
    ['a b?c#d%2f.png', 'a_b_c_d_2f.png'],
    [`${'é'.repeat(300)}.png`, `${'é'.repeat(196)}.png`],
  ] as const) {
    const answer = await post([image(given)])
    const made = answer.body as Image
    assert.equal(made['filename'], kept)
    const address = `{base_url}${encodeURI(String(made['file_path']))}`
    assert.equal((await world().get(address, developer)).status, 200)
  }
})

test('a form without a file, and a body that is no form, lack a file', async () => {
  const lacks = [400, { error: 'file is missing' }]
  assert.deepEqual(said(await post([{ name: 'url', bytes: 'https://x.example' }])), lacks)
  assert.deepEqual(said(await post([{ name: 'other', file: 'a.png', bytes: PNG }])), lacks)
  const json = await world().call('POST', path(), { as: developer, body: { file: 'x' } })
  assert.deepEqual(said(json), lacks)
})

const LONG = {
  url: `https://x.example/${'a'.repeat(238)}`,
  url_text: 'x'.repeat(129),
}
const BAD_LINKS: readonly (readonly ['url' | 'url_text', string, string])[] = [
  ['url', 'javascript:alert(1)', 'Url is blocked: Only allowed schemes are http, https'],
  ['url', 'nowhere', 'Url is blocked: Only allowed schemes are http, https'],
  ['url', 'https://x.example/\u0007', 'Url is blocked: Only allowed schemes are http, https'],
  ['url', LONG.url, 'Url is too long (maximum is 255 characters)'],
  ['url_text', LONG.url_text, 'Url text is too long (maximum is 128 characters)'],
]

test('a link that will not do is refused with its reason when it is created', async () => {
  for (const [name, bytes, message] of BAD_LINKS)
    assert.deepEqual(said(await post([image(), { name, bytes }])), [400, { message }], bytes)
  assert.equal((await post([image(), { name: 'url', bytes: LONG.url.slice(0, 255) }])).status, 201)
})

test('a link that will not do is refused in the published words when it is changed', async () => {
  const { id } = await attach()
  for (const [name, value] of BAD_LINKS) {
    const answer = await world().call('PUT', path(`/${id}`), { as: developer, body: { [name]: value } })
    assert.deepEqual(said(answer), [422, { message: 'Metric image could not be updated' }], value)
  }
})

test('a link is changed in parts, and taken away by empty texts', async () => {
  const { id } = await attach({ name: 'url', bytes: 'https://a.example' })
  const put = async (body: object): Promise<unknown[]> => {
    const answer = await world().call('PUT', path(`/${id}`), { as: developer, body })
    const { url, url_text } = answer.body as Image
    return [answer.status, url, url_text]
  }
  assert.deepEqual(await put({ url_text: 'A' }), [200, 'https://a.example', 'A'])
  assert.deepEqual(await put({}), [200, 'https://a.example', 'A'])
  assert.deepEqual(await put({ url: '' }), [200, null, 'A'])
})

test('a deleted image is gone, and its bytes are garbage', async () => {
  const bytes = `only here ${Date.now()}`
  const { id } = (await post([image('gone.png', bytes)])).body as Image
  const { sha256 } = await rowOf<{ sha256: string }>(
    world(),
    'select sha256 from alert_metric_images where id = $1',
    [id],
  )
  const remove = (): Promise<Answered> => world().call('DELETE', path(`/${id}`), { as: developer })
  const removed = await remove()
  assert.deepEqual([removed.status, removed.text], [204, ''])
  assert.deepEqual(said(await remove()), [404, { message: 'Metric image not found' }])
  await rowsOf(world(), `update blobs set used_at = now() - interval '2 days' where sha256 = $1`, [sha256])
  const { blobs } = world().opened.instance
  await blobs.collect()
  assert.equal(await blobs.size(sha256), undefined)
})

test('unknown images and alerts, and images of another alert, are refused in the published words', async () => {
  const { id } = await attach()
  await send(world(), await makeReceiver(world(), project), { title: 'another' })
  for (const method of ['PUT', 'DELETE'] as const) {
    for (const [to, message] of [
      [path('/987654321'), 'Metric image not found'],
      [path(`/${id}`, 2), 'Metric image not found'],
      [path(`/${id}`, 99), 'Alert not found'],
    ] as const)
      assert.deepEqual(said(await world().call(method, to, { as: developer, body: {} })), [404, { message }])
  }
  assert.deepEqual(said(await world().get(path('', 99), developer)), [404, { message: 'Alert not found' }])
  assert.deepEqual(said(await post([image()], developer, path('', 99))), [
    404,
    { message: 'Alert not found' },
  ])
})

test('reporters are told by POST alone that they may not, and outsiders by PUT and DELETE that they may not', async () => {
  const { id } = await attach()
  const [reporter, outsider] = [
    await world().make.memberOf('reporter', { project }),
    await world().make.user(),
  ]
  const forbidden = [403, { message: '403 Forbidden' }]
  assert.deepEqual(said(await post([image()], reporter)), forbidden)
  assert.deepEqual(said(await world().get(path(), reporter)), [404, { message: 'Alert not found' }])
  for (const as of [reporter, outsider])
    for (const method of ['PUT', 'DELETE'] as const)
      assert.deepEqual(said(await world().call(method, path(`/${id}`), { as, body: {} })), forbidden)
  assert.deepEqual(said(await post([image()], outsider)), [404, { message: '404 Project Not Found' }])
  const absent = await world().call(
    'DELETE',
    '/projects/987654321/alert_management_alerts/1/metric_images/1',
    {
      as: outsider,
    },
  )
  assert.deepEqual(said(absent), forbidden)
})

test('an archived project takes no image', async () => {
  const archived = await world().make.project()
  const owner = await world().make.memberOf('owner', { project: archived })
  await send(world(), await makeReceiver(world(), archived), {})
  await rowsOf(world(), 'update projects set archived = true where id = $1', [archived.id])
  const to = `/projects/${archived.id}/alert_management_alerts/1/metric_images`
  assert.deepEqual(said(await post([image()], owner, to)), [403, { message: '403 Forbidden' }])
  assert.deepEqual(said(await world().get(to, owner)), [200, []])
})

test('a refused part of a form leaves the server as it was, also when more of the form follows', async () => {
  const parts = [image('a.svg', Buffer.alloc(300_000)), image('b.png'), { name: 'url', bytes: 'x' }]
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(parts)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([400]))
  assert.equal((await world().get(path(), developer)).status, 200)
})
