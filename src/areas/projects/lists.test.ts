import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let group: Namespace
let open: Project
let internal: Project
let hidden: Project
let mine: Project
let member: Someone
const at = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'public', path: 'harbour' })
  const closed = await make.group({ visibility: 'private', path: 'closed' })
  open = await make.project({ group, visibility: 'public', path: 'open', name: 'Open Sea' })
  internal = await make.project({ group, visibility: 'internal', path: 'internal' })
  hidden = await make.project({ group: closed, path: 'hidden' })
  mine = await make.project({ group: closed, path: 'mine' })
  member = await make.memberOf('developer', { project: mine })
  await make.sql(`
    update projects set topics = '{sea,tide}', star_count = 3, description = 'Of whales',
                        settings = '{"issues_enabled":false}' where id = ${open.id};
    update projects set archived = true, last_activity_at = '2001-01-01', updated_at = '2001-01-01'
     where id = ${internal.id}`)
})
const paths = async (query = '', as?: Someone): Promise<unknown[]> => {
  const answer = await at().get(`/projects?${query}`, as)
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as { path: string }[]).map(({ path }) => path)
}

test('everybody is listed what they see and no more, in items and in totals', async () => {
  const { make } = at()
  const total = async (as?: Someone): Promise<unknown> => (await at().get('/projects', as)).headers['x-total']
  assert.deepEqual(await paths(), ['open'])
  assert.deepEqual(await paths('', await make.user()), ['internal', 'open'])
  assert.deepEqual(await paths('', member), ['mine', 'internal', 'open'])
  assert.deepEqual(await paths('', await make.admin()), ['mine', 'hidden', 'internal', 'open'])
  assert.deepEqual([await total(), await total(member), await total(await make.admin())], ['1', '3', '4'])
  const inherited = await make.memberOf('guest', { group })
  assert.deepEqual(await paths('membership=true', inherited), ['internal', 'open'])
  await make.member(inherited, 'no_access', { project: internal })
  assert.deepEqual(await paths('membership=true', inherited), ['open'])
})

test('a filter leaves what it says', async () => {
  const admin = await at().make.admin()
  const owner = await at().make.memberOf('owner', { group })
  for (const [query, expected] of [
    ['visibility=internal', ['internal']],
    ['archived=true', ['internal']],
    ['archived=false', ['mine', 'hidden', 'open']],
    ['search=OPEN', ['open']],
    ['search=whales', ['open']],
    ['search=harbour', []],
    ['search=harbour&search_namespaces=true', ['internal', 'open']],
    ['topic=sea,tide', ['open']],
    ['topic=sea,land', []],
    ['with_issues_enabled=true', ['mine', 'hidden', 'internal']],
    ['last_activity_before=2002-01-01', ['internal']],
    ['last_activity_after=2002-01-01', ['mine', 'hidden', 'open']],
    ['updated_before=2002-01-01&order_by=updated_at', ['internal']],
    [`id_after=${hidden.id}`, ['mine']],
    [`id_before=${internal.id}`, ['open']],
    ['membership=true', []],
    ['active=true', ['mine', 'hidden', 'open']],
    ['active=false', ['internal']],
    ['active=true&archived=true', []],
    ['active=true&archived=false', ['mine', 'hidden', 'open']],
    ['topic_id=1', []],
    ['marked_for_deletion_on=2026-01-01', []],
    ['repository_checksum_failed=true', []],
    ['wiki_checksum_failed=true', []],
    ['repository_checksum_failed=false&imported=false', ['mine', 'hidden', 'internal', 'open']],
    ['imported=true', []],
    ['pagination=keyset&order_by=id&topic_id=1', []],
  ] as const)
    assert.deepEqual(await paths(query, admin), expected, query)
  assert.deepEqual(await paths('owned=true', owner), ['internal', 'open'])
  assert.deepEqual(await paths('min_access_level=40', member), [])
  assert.deepEqual(await paths('min_access_level=30', member), ['mine'])
  await at().call('POST', `/projects/${open.id}/star`, { as: member })
  assert.deepEqual(await paths('starred=true', member), ['open'])
})

test('one finds what one imported by its address oneself, and faults in what is asked are told', async () => {
  const { make, get } = at()
  const [user, other] = [await make.user(), await make.user()]
  const made: number[] = []
  for (const path of ['by-address', 'forked', 'anew', 'by-another'])
    made.push((await make.project({ group, path, visibility: 'public' })).id)
  const [byAddress, forked, , byAnother] = made
  await make.sql(`
    update projects set creator_id = ${user.id} where id in (${made.join()});
    update projects set creator_id = ${other.id} where id = ${byAnother};
    insert into project_imports (project_id, kind, status)
    values (${byAddress}, 'url', 'finished'), (${forked}, 'fork', 'finished'), (${byAnother}, 'url', 'failed')`)
  assert.deepEqual(await paths('imported=true', user), ['by-address'])
  assert.deepEqual(await paths('imported=true&order_by=name&search=by-a', other), ['by-another'])
  assert.deepEqual(await paths('imported=true&membership=true', user), [])
  assert.deepEqual(await paths('imported=true'), [])
  for (const [query, error] of [
    ['topic_id=sea', 'topic_id is invalid'],
    ['imported=perhaps', 'imported is invalid'],
    ['active=perhaps', 'active is invalid'],
    ['marked_for_deletion_on=someday', 'marked_for_deletion_on is invalid'],
  ]) {
    const { status, body } = await get(`/projects?${query}`, user)
    assert.deepEqual([status, body], [400, { error }])
  }
  await make.sql(`delete from projects where id in (${made.join()})`)
})

test('an order holds, both ways', async () => {
  const admin = await at().make.admin()
  for (const order of ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at', 'star_count']) {
    const up = await paths(`order_by=${order}&sort=asc`, admin)
    assert.equal(up.length, 4)
    assert.deepEqual(await paths(`order_by=${order}&sort=desc`, admin), up.toReversed(), order)
  }
  assert.deepEqual(await paths('order_by=path&sort=asc', admin), ['hidden', 'internal', 'mine', 'open'])
  assert.deepEqual(await paths('order_by=similarity&search=INTE', admin), ['internal'])
  assert.deepEqual(await paths('search=in', admin), [], 'two letters are no part of a name')
})

test('a walk by id follows links without totals; other orders have none', async () => {
  const admin = await at().make.admin()
  const walk = async (sort: string): Promise<unknown[]> => {
    const found: unknown[] = []
    let path = `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=1&visibility=private`
    for (;;) {
      const { body, headers } = await at().get(path, admin)
      found.push(...(body as { path: string }[]).map((project) => project.path))
      assert.equal(headers['x-total'], undefined)
      const next = /<https:\/\/guild\.example\/api\/v4([^>]+)>; rel="next"/.exec(
        String(headers['link'] ?? ''),
      )
      if (next === null) return found
      path = String(next[1])
      assert.match(path, sort === 'asc' ? /id_after=\d+/ : /id_before=\d+/)
    }
  }
  assert.deepEqual(await walk('asc'), ['hidden', 'mine'])
  assert.deepEqual(await walk('desc'), ['mine', 'hidden'])
  const other = await at().get('/projects?pagination=keyset&order_by=name', admin)
  assert.deepEqual(
    [other.status, other.body],
    [405, { error: 'Keyset pagination is not yet available for this type of request' }],
  )
  const deep = await at().get('/projects?page=5000&per_page=100', admin)
  assert.equal(deep.status, 405)
  assert.match(deep.text, /maximum allowed offset of 50000 for requests that return objects of type Project/)
  const alone = await at().get('/projects?updated_after=2002-01-01', admin)
  assert.deepEqual(
    [alone.status, alone.body],
    [400, { message: '`updated_at` filter and `updated_at` sorting must be paired' }],
  )
})

test('a page costs the same statements however many it shows, and is brief where asked', async () => {
  const one = await at().statements(() => at().get('/projects?per_page=1', member))
  const many = await at().statements(() => at().get('/projects?per_page=100', member))
  assert.equal(one.length, many.length)
  const [brief] = (await at().get('/projects?simple=true', member)).body as object[]
  assert.equal('permissions' in (brief ?? {}), false)
  const [whole] = (await at().get('/projects', member)).body as { permissions: unknown }[]
  assert.deepEqual(whole?.permissions, {
    project_access: { access_level: 30, notification_level: 3 },
    group_access: null,
  })
})

test('the projects of a user are those of the personal namespace, as far as the caller sees them', async () => {
  const [user, other] = [await at().make.user(), await at().make.user()]
  for (const visibility of ['private', 'public'])
    await at().call('POST', '/projects', { as: user, body: { name: visibility, visibility } })
  const names = async (as?: Someone): Promise<unknown[]> =>
    ((await at().get(`/users/${user.id}/projects`, as)).body as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(await names(user), ['public', 'private'])
  assert.deepEqual([await names(other), await names()], [['public'], ['public']])
  assert.deepEqual((await at().get('/users/999999/projects')).body, { message: '404 User Not Found' })
})

test('the languages of a project are counted by the bytes of its default branch', async () => {
  const user = await at().make.user()
  const made = await at().call('POST', '/projects', { as: user, body: { name: 'Tongues' } })
  const { id } = made.body as { id: number }
  const languages = async (as?: Someone): Promise<unknown> =>
    (await at().get(`/projects/${id}/languages`, as)).body
  assert.deepEqual(await languages(user), {}, 'without a commit')
  const commit = async (files: Record<string, string>): Promise<void> => {
    const actions = Object.entries(files).map(([path, content]) => ({
      action: 'create',
      file_path: path,
      content,
    }))
    const body = { branch: 'main', commit_message: 'Speak', actions }
    const answer = await at().call('POST', `/projects/${id}/repository/commits`, { as: user, body })
    assert.equal(answer.status, 201, answer.text)
  }
  await commit({ 'lib/a.rb': 'x'.repeat(200), Dockerfile: 'x'.repeat(100), 'README.md': 'x'.repeat(900) })
  assert.deepEqual(await languages(user), { Ruby: 66.67, Dockerfile: 33.33 })
  await commit({ 'vendor/b.c': 'x'.repeat(5_000), 'größe/c.TS': 'x'.repeat(700) })
  assert.deepEqual(Object.entries((await languages(user)) as object), [
    ['TypeScript', 70],
    ['Ruby', 20],
    ['Dockerfile', 10],
  ])
  assert.deepEqual(await languages(await at().make.user()), { message: '404 Project Not Found' })
})

test('the groups above a project are listed, and those it is shared with as far as the caller sees them', async () => {
  const top = await at().make.group({ visibility: 'public', path: 'ridge' })
  const group = await at().make.group({ parent: top, visibility: 'public', path: 'slope', name: 'The Slope' })
  const project = await at().make.project({ group, visibility: 'public' })
  const [open, closed] = [await at().make.group({ visibility: 'public' }), await at().make.group()]
  await at().make.sql(`insert into project_group_links (project_id, group_id, group_access)
    values (${project.id}, ${open.id}, 20), (${project.id}, ${closed.id}, 30)`)
  const ids = async (query = '', as?: Someone): Promise<unknown[]> => {
    const { body, headers } = await at().get(`/projects/${project.id}/groups${query}`, as)
    assert.equal(headers['x-total'], String((body as unknown[]).length))
    return (body as { id: number }[]).map((each) => each.id)
  }
  const insider = await at().make.memberOf('guest', { group: closed })
  assert.deepEqual(await ids(), [top.id, group.id])
  assert.deepEqual(await ids('?with_shared=true'), [top.id, group.id, open.id])
  assert.deepEqual(await ids('?with_shared=true', insider), [top.id, group.id, open.id, closed.id])
  assert.deepEqual(await ids('?with_shared=true&shared_min_access_level=30', insider), [
    top.id,
    group.id,
    closed.id,
  ])
  assert.deepEqual(await ids(`?skip_groups[]=${top.id}&search=SLO`), [group.id])
  const { body } = await at().get(`/projects/${project.id}/groups?search=slope`)
  assert.deepEqual(body, [
    {
      id: group.id,
      web_url: 'https://guild.example/groups/ridge/slope',
      name: 'The Slope',
      avatar_url: null,
      full_name: group.full_name,
      full_path: 'ridge/slope',
    },
  ])
  const users = await at().get(`/projects/${project.id}/users`, insider)
  assert.deepEqual(users.body, [
    {
      id: insider.id,
      username: insider.username,
      name: insider.name,
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: `https://guild.example/${insider.username}`,
    },
  ])
})
