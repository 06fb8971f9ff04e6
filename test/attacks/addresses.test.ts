import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Namespace } from '../../src/db/schema/tables.ts'
import type { Someone } from '../support/makers.ts'
import { sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

let owner: Someone
let admin: Someone
let group: Namespace
let labels: string

const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'public' })
  owner = await make.memberOf('owner', { group })
  admin = await make.admin()
  labels = `/groups/${group.id}/labels`
})

const get = (path: string, as: Someone | undefined = owner): Promise<Answered> => world().get(path, as)

suite('pages', () => {
  const sizes = async (query: string): Promise<readonly unknown[]> => {
    const { status, headers } = await get(`/groups?${query}`)
    return [status, headers['x-page'], headers['x-per-page']]
  }

  // Sizes and numbers out of range make the database work for nothing.
  test('GEN-13: sizes and numbers out of range are brought into it', async () => {
    assert.deepEqual(await sizes('per_page=101'), [200, '1', '100'])
    assert.deepEqual(await sizes('per_page=1000000000'), [200, '1', '100'])
    assert.deepEqual(await sizes('per_page=-1'), [200, '1', '20'])
    assert.deepEqual(await sizes('page=0'), [200, '1', '20'])
    assert.deepEqual(await sizes('page=-7'), [200, '1', '20'])
    assert.deepEqual(await sizes('page=&per_page='), [200, '1', '20'])
  })
  for (const [query, text] of [
    ['per_page=0', 'per_page has a value not allowed'],
    ['per_page=NaN', 'per_page is invalid'],
    ['per_page=1e9', 'per_page is invalid'],
    ['per_page=10;drop', 'per_page is invalid'],
    ['page=9223372036854775808', 'page is invalid'],
    ['page=Infinity', 'page is invalid'],
    ['page=a&per_page=b', 'page is invalid, per_page is invalid'],
  ] as const)
    test(`GEN-13: ?${query} is refused`, async () => {
      const answer = await get(`/groups?${query}`)
      assert.deepEqual([answer.status, answer.body], [400, { error: text }])
    })
  test('GEN-13: the largest page number there is finds nothing', async () => {
    const answer = await get('/groups?page=9007199254740991&per_page=100')
    assert.deepEqual([answer.status, answer.body], [200, []])
  })

  // Every row before the page is read and thrown away.
  test('GEN-14: past 50,000 groups callers without a token are shown to keyset pagination', async () => {
    const anonymous = async (query: string): Promise<Answered> => world().get(`/groups?${query}`)
    const body = {
      error:
        'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Group. ' +
        'Remaining records can be retrieved using keyset pagination.',
    }
    for (const query of ['page=50001&per_page=1', 'page=501&per_page=100', 'page=90000000000', 'page=2501']) {
      const answer = await anonymous(query)
      assert.deepEqual([answer.status, answer.body], [405, body], query)
    }
    assert.equal((await anonymous('page=50000&per_page=1')).status, 200)
    assert.equal((await get('/groups?page=50001&per_page=1')).status, 200)
  })
  test('GEN-14: a cursor of one’s own making is refused', async () => {
    for (const cursor of [
      'x',
      'bnVsbA',
      Buffer.from('{"name":["a"],"id":"1"}').toString('base64url'),
      Buffer.from(String.raw`{"name":"\u0000","id":"1"}`).toString('base64url'),
      Buffer.from('{"name":"a","id":"1 or 1=1"}').toString('base64url'),
    ]) {
      const answer = await world().get(`/groups?pagination=keyset&cursor=${cursor}`)
      assert.deepEqual([answer.status, answer.body], [400, { error: 'cursor is invalid' }], cursor)
    }
  })
})

suite('addresses', () => {
  const badAddress = { error: 'the request address is not valid' }

  // NUL ends a text in C, and PostgreSQL refuses it.
  test('GEN-15: a NUL in an id, a title or a search is refused by name', async () => {
    for (const [path, name] of [
      ['/groups/a%00b', 'id'],
      ['/projects/a%00b/repository/commits', 'id'],
      ['/namespaces/a%00b', 'id'],
      [`${labels}/a%00b`, 'label_id'],
      ['/groups?search=%00', 'search'],
      ['/project_aliases/%00', 'name'],
      ['/namespaces/%00/exists', 'namespace'],
    ] as const) {
      const answer = await get(path, admin)
      assert.deepEqual([answer.status, answer.body], [400, { error: `${name} is invalid` }], path)
    }
  })
  test('GEN-16: bytes that are not UTF-8 are refused', async () => {
    for (const path of [
      '/groups/%ff',
      '/groups?search=%ff',
      '/groups/%ed%a0%80',
      '/groups?%c3=1',
      '/groups/%',
      '/groups/%zz',
    ]) {
      const answer = await get(path)
      assert.deepEqual([answer.status, answer.body], [400, badAddress], path)
    }
  })

  // Decoding twice turns these into other paths.
  test('GEN-17: an address is decoded once', async () => {
    const inner = await world().make.group({ parent: group, visibility: 'public' })
    assert.equal((await get(`/groups/${encodeURIComponent(inner.full_path)}`)).status, 200)
    for (const id of [
      encodeURIComponent(encodeURIComponent(inner.full_path)),
      '%2e%2e%2f' + encodeURIComponent(inner.full_path),
      '..%2f..%2fetc%2fpasswd',
      `${encodeURIComponent(inner.full_path)}%2f..`,
      encodeURIComponent(inner.full_path.replace('/', '//')),
    ]) {
      const answer = await get(`/groups/${id}`)
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 Group Not Found' }], id)
    }
  })

  test('a slash at the end changes nothing, and an encoded dot is a dot', async () => {
    const inner = await world().make.group({ parent: group, visibility: 'public', path: 'v1.2' })
    const encoded = encodeURIComponent(inner.full_path)
    const shown = await get(`/groups/${encoded}`)
    assert.equal(shown.status, 200)
    for (const path of [
      `/groups/${encoded}/`,
      `/groups/${encoded.replaceAll('.', '%2E')}`,
      `/groups/${inner.id}/`,
    ])
      assert.equal((await get(path)).text, shown.text, path)
    assert.equal((await get('/groups/?per_page=1')).headers['x-per-page'], '1')
  })

  // Loose number parsers read all of these as the first project.
  test('GEN-18: only digits are an id', async () => {
    const first = await world().make.project({ group: group, visibility: 'public', repository: 'empty' })
    const id = String(first.id)
    assert.equal((await get(`/projects/${id}/repository/commits`)).status, 200)
    for (const ref of [
      `${id} OR 1=1`,
      `${id}/../2`,
      `0x${id}`,
      `${id}.0`,
      `+${id}`,
      `-${id}`,
      ` ${id}`,
      `${id}e0`,
      `${id};`,
      `'${id}'`,
      `${id}\t`,
      '1'.repeat(20),
      '9'.repeat(400),
      `١`,
    ]) {
      const answer = await get(`/projects/${encodeURIComponent(ref)}/repository/commits`)
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 Project Not Found' }], ref)
    }
  })
  test('GEN-18: an id longer than any path is refused', async () => {
    const answer = await get(`/groups/${'1'.repeat(5_000)}`)
    assert.deepEqual([answer.status, answer.body], [414, { error: '414 URI Too Long' }])
  })
})

suite('addresses of projects that moved', () => {
  const commits = (ref: number | string, query = ''): string =>
    `/projects/${encodeURIComponent(ref)}/repository/commits${query}`
  const ABSENT = [404, '{"message":"404 Project Not Found"}']
  const found = async (path: string, as?: Someone): Promise<unknown[]> => {
    const { status, text } = await world().get(path, as)
    return [status, text]
  }
  const change = (path: string, body: object): Promise<Answered> =>
    world().call('PUT', path, { as: admin, body })

  test('reads of an old path are redirected by id, and writes are refused', async () => {
    const { id, full_path } = await world().make.project({ group, visibility: 'public', repository: 'empty' })
    assert.equal((await change(`/projects/${id}`, { path: 'renamed' })).status, 200)
    const query = `?private_token=${admin.token}&path=a%2Fb&per_page=5`
    const to = `https://guild.example/api/v4/projects/${id}/repository/commits?path=a%2Fb&per_page=5`
    for (const old of [full_path, full_path.toUpperCase()]) {
      const led = await world().get(commits(old, query))
      assert.deepEqual(
        [led.status, led.text, led.headers.location, led.headers['content-type']],
        [301, `This resource has been moved permanently to ${to}.`, to, 'text/plain'],
      )
    }
    const head = await world().call('HEAD', `/projects/${encodeURIComponent(full_path)}`)
    assert.deepEqual(
      [head.status, head.headers.location, head.text],
      [301, `https://guild.example/api/v4/projects/${id}`, ''],
    )
    for (const [method, path] of [
      ['POST', commits(full_path)],
      ['DELETE', `/projects/${encodeURIComponent(full_path)}`],
    ] as const) {
      const answer = await world().call(method, path, { as: admin, body: {} })
      const message = 'Non GET methods are not allowed for moved projects'
      assert.deepEqual([answer.status, answer.body], [405, { message }])
    }
    assert.equal((await get(commits(id))).status, 200)
  })
  test('where another project stands now, that one is meant; and back home is no way round', async () => {
    const { make } = world()
    const first = await make.project({ group, visibility: 'public', repository: 'empty', path: 'berth' })
    await change(`/projects/${first.id}`, { path: 'berth-2' })
    const second = await make.project({ group, visibility: 'public', name: 'Second', path: 'berth' })
    const shown = await get(`/projects/${encodeURIComponent(first.full_path)}`)
    assert.deepEqual([shown.status, (shown.body as { id: number }).id], [200, second.id])
    await world().call('DELETE', `/projects/${second.id}`, { as: admin })
    assert.deepEqual(await found(commits(first.full_path)), ABSENT)
    await change(`/projects/${first.id}`, { path: 'berth' })
    assert.equal((await get(commits(first.full_path))).status, 200)
    assert.equal((await get(commits(`${group.full_path}/berth-2`))).status, 301)
  })
  test('a group that is renamed leads on to its projects, and nobody hears of one that is hidden', async () => {
    const { make } = world()
    const home = await make.group({ visibility: 'public' })
    const open = await make.project({ group: home, visibility: 'public', repository: 'empty' })
    const hidden = await make.project({ group: home, repository: 'empty' })
    const member = await make.memberOf('reporter', { project: hidden })
    await change(`/groups/${home.id}`, { path: `${home.path}-now` })
    assert.equal((await get(commits(open.full_path))).status, 301)
    assert.equal((await get(commits(hidden.full_path), member)).status, 301)
    for (const as of [undefined, await make.user()])
      assert.deepEqual(await found(commits(hidden.full_path), as), ABSENT)
    assert.deepEqual(await found(`/groups/${home.path}`), [404, '{"message":"404 Group Not Found"}'])
  })
})
