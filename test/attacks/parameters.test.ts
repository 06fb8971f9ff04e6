import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Namespace } from '../../src/db/schema.ts'
import type { Someone } from '../support/makers.ts'
import { contents, makeLabel, rows, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

let owner: Someone
let admin: Someone
let group: Namespace
let other: { id: number }
let labels: string

const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'public' })
  other = await make.group()
  owner = await make.memberOf('owner', { group })
  await make.member(owner, 'owner', { group: other })
  admin = await make.admin()
  labels = `/groups/${group.id}/labels`
})

const get = (path: string, as: Someone | undefined = owner): Promise<Answered> => world().get(path, as)

suite('one parameter in several places', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  // The check reads one value and the write another.
  test('GEN-11: the body wins over the query, and the path over both', async () => {
    const bug = await makeLabel(world(), group, owner)
    const foreign = await makeLabel(world(), other, owner, 'foreign')
    const answer = await world().call('PUT', `${labels}/${bug.id}`, {
      as: owner,
      query: { new_name: 'query', id: String(other.id), label_id: String(foreign.id) },
      body: { new_name: 'body', id: other.id, label_id: foreign.id, group_id: other.id },
    })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(await rows(world(), 'select id, group_id, title from labels order by id'), [
      { id: bug.id, group_id: group.id, title: 'body' },
      { id: foreign.id, group_id: other.id, title: 'foreign' },
    ])
  })
  test('GEN-11: of a parameter sent twice in one place the last counts', async () => {
    const answer = await world().call('POST', labels, {
      as: owner,
      body: 'name=first&name=last&color=red&color=blue',
      headers: form,
    })
    assert.equal(answer.status, 201, answer.text)
    const { name, color } = answer.body as { name: string; color: string }
    assert.deepEqual({ name, color }, { name: 'last', color: '#0000FF' })
  })

  // Fields that belong to the server, sent in the hope that somebody assigns all of them.
  test('AUTH-11: owner, author and place of a record cannot be sent along', async () => {
    const answer = await world().call('POST', labels, {
      as: owner,
      body: {
        name: 'mine',
        color: 'red',
        id: 99,
        group_id: other.id,
        project_id: 1,
        user_id: admin.id,
        owner_id: admin.id,
        created_by: admin.id,
        lock_on_merge: true,
        subscribed: true,
        admin: true,
      },
    })
    assert.equal(answer.status, 201, answer.text)
    const made = await rows(
      world(),
      `select group_id, project_id, lock_on_merge, id = 99 as forced from labels where title = 'mine'`,
    )
    assert.deepEqual(made, [{ group_id: group.id, project_id: null, lock_on_merge: false, forced: false }])
    assert.deepEqual(await rows(world(), 'select * from label_subscriptions'), [])
  })
})

suite('values of a wrong type', () => {
  const wrong = async (path: string, text: string, status = 400): Promise<void> => {
    const answer = await get(path, admin)
    assert.equal(answer.text, text)
    assert.equal(answer.status, status)
  }

  // Lists and trees where a text is wanted reach SQL builders and comparisons.
  for (const [query, name] of [
    ['search[]=x', 'search'],
    ['search[$ne]=1', 'search'],
    ['owned=yes', 'owned'],
    ['owned[]=true', 'owned'],
    ['min_access_level=thirty', 'min_access_level'],
    ['min_access_level=30.5', 'min_access_level'],
    ['min_access_level=0x1e', 'min_access_level'],
    ['skip_groups[]=a', 'skip_groups'],
    ['skip_groups[a]=1', 'skip_groups'],
    ['skip_groups[1]=1', 'skip_groups'],
    ['skip_groups[]=99999999999999999999', 'skip_groups'],
    ['marked_for_deletion_on=yesterday', 'marked_for_deletion_on'],
    ['marked_for_deletion_on=2023-02-30', 'marked_for_deletion_on'],
    ['marked_for_deletion_on=0000-01-01', 'marked_for_deletion_on'],
  ] as const)
    test(`GEN-12: ?${query} is refused by name`, () =>
      wrong(`/groups?${query}`, `{"error":"${name} is invalid"}`))
  for (const [query, name] of [
    ['min_access_level=9007199254740991', 'min_access_level'],
    ['min_access_level=-1', 'min_access_level'],
    ['order_by=name;drop', 'order_by'],
    ['order_by=__proto__', 'order_by'],
    ['sort=toString', 'sort'],
    ['visibility[]=public', 'visibility'],
  ] as const)
    test(`GEN-12: ?${query} is no listed value`, () =>
      wrong(`/groups?${query}`, `{"error":"${name} does not have a valid value"}`))
  test('GEN-12: every fault of a body is named, in the order of declaration', async () => {
    const before = await contents(world())
    const answer = await world().call('PUT', '/application/plan_limits', {
      as: admin,
      body: '{"dotenv_size":{},"ci_pipeline_size":1e400,"plan_name":["default"],"ci_active_jobs":"x"}',
      headers: { 'content-type': 'application/json' },
    })
    assert.deepEqual(answer.body, {
      error:
        'plan_name does not have a valid value, ci_pipeline_size is invalid, ci_active_jobs is invalid, dotenv_size is invalid',
    })
    assert.equal(await contents(world()), before)
  })
  test('GEN-12: a page of a wrong type is refused by name', async () => {
    await wrong('/groups?page[]=1', '{"error":"page is invalid"}')
    await wrong('/groups?per_page={}', '{"error":"per_page is invalid"}')
  })
})

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

  // Whoever decodes twice turns these into other paths.
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
    assert.deepEqual([answer.status, answer.body], [400, badAddress])
  })
})
