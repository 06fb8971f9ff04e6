import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratch, writeHistory } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import { importRepository } from '../../core/pushes/import_job.ts'
import { removeRepository } from '../../core/places/project_removal.ts'
import { repositoryPath } from '../../core/places/projects.ts'

const at = sharedWorld()
type Body = Record<string, unknown> & { readonly id: number }

const post = async (as: Someone, path: string, body: object): Promise<{ status: number; body: Body }> =>
  (await at().call('POST', path, { as, body })) as { status: number; body: Body }
const transfer = async (as: Someone, id: number, namespace: string | number) =>
  (await at().call('PUT', `/projects/${id}/transfer`, { as, body: { namespace } })) as {
    status: number
    body: Body
  }
const history = (): string => {
  const source = join(scratch(), `history-${Math.random()}.git`)
  writeHistory(source, 60, 1)
  return source
}

const onMain = { branch: 'main', commit_message: 'm' }

test('a fork is a project of its own, whose repository outlives the one it was copied from', async () => {
  const { make, opened } = at()
  const project = await make.project({ visibility: 'public', repository: history() })
  const user = await make.user()
  const fork = await post(user, `/projects/${project.id}/fork`, {})
  assert.equal(fork.status, 201)
  assert.equal(fork.body['path_with_namespace'], `${user.username}/${project.path}`)
  assert.equal(fork.body['import_status'], 'scheduled')
  assert.equal((fork.body['forked_from_project'] as Body).id, project.id)
  // Until it is filled there is nothing to read from and write to.
  const early = await at().get(`/projects/${fork.body.id}/repository/branches`, user)
  assert.deepEqual([early.status, early.body], [404, { message: '404 Repository Not Found' }])
  const write = await post(user, `/projects/${fork.body.id}/repository/commits`, {
    ...onMain,
    actions: [{ action: 'create', file_path: 'a', content: 'a' }],
  })
  assert.deepEqual([write.status, write.body], [404, { message: '404 Repository Not Found' }])
  for (const [method, rest, sent] of [
    ['POST', 'files/zz', { ...onMain, content: 'a' }],
    ['PUT', 'files/zz', { ...onMain, content: 'a' }],
    ['DELETE', 'files/zz', onMain],
    ['POST', 'branches', { branch: 'new', ref: 'main' }],
    ['POST', 'tags', { tag_name: 'new', ref: 'main' }],
    ['DELETE', 'merged_branches', {}],
    ['PUT', 'submodules/zz', { branch: 'main', commit_sha: '0'.repeat(40) }],
  ] as const) {
    const path = `/projects/${fork.body.id}/repository/${rest}`
    const { status, body } = await at().call(method, path, { as: user, body: sent })
    assert.deepEqual([status, body], [404, { message: '404 Repository Not Found' }], `${method} ${rest}`)
  }

  await importRepository.run(opened.instance, { project_id: fork.body.id })
  await importRepository.run(opened.instance, { project_id: fork.body.id })
  const full = (await at().get(`/projects/${fork.body.id}`, user)).body as Body
  assert.deepEqual(
    [full['import_status'], full['empty_repo'], full['default_branch']],
    ['finished', false, 'main'],
  )
  const listed = (await at().get(`/projects/${project.id}/forks`, user)).body as Body[]
  assert.deepEqual(
    listed.map(({ id }) => id),
    [full.id],
  )
  assert.equal(((await at().get(`/projects/${project.id}`, user)).body as Body)['forks_count'], 1)

  await make.sql(`delete from projects where id = ${project.id}`)
  await removeRepository.run(opened.instance, { project_id: project.id })
  const commits = await at().get(`/projects/${full.id}/repository/commits`, user)
  assert.equal((commits.body as unknown[]).length, 20)
  const orphan = (await at().get(`/projects/${full.id}`, user)).body as Body
  assert.equal('forked_from_project' in orphan, false)
})

test('a second fork into one namespace, and one into a namespace of others, are refused', async () => {
  const { make } = at()
  const [project, user] = [
    await make.project({ visibility: 'public', repository: 'empty' }),
    await make.user(),
  ]
  await post(user, `/projects/${project.id}/fork`, {})
  const before = await contents(at())
  const again = await post(user, `/projects/${project.id}/fork`, {})
  const taken = ['has already been taken']
  assert.deepEqual([again.status, again.body], [409, { message: { name: taken, path: taken } }])
  const other = await make.user()
  for (const namespace_path of [other.username, 'no/such'])
    assert.deepEqual((await post(user, `/projects/${project.id}/fork`, { namespace_path })).body, {
      message: '404 Target Namespace Not Found',
    })
  const guest = await make.memberOf('guest', { project: await make.project() })
  const hidden = await make.project()
  await make.member(guest, 'guest', { project: hidden })
  assert.equal((await post(guest, `/projects/${hidden.id}/fork`, {})).status, 404)
  assert.equal(
    (await rowsOf(at(), `select 1 from projects where forked_from_project_id = ${hidden.id}`)).length,
    0,
  )
  assert.ok(before.includes(project.path))
})

test('a fork is no more visible than what it comes from, nor where it goes', async () => {
  const { make } = at()
  const group = await make.group({ visibility: 'private' })
  const owner = await make.memberOf('owner', { group })
  const open = await make.project({ visibility: 'public', repository: 'empty' })
  const into = await post(owner, `/projects/${open.id}/fork`, { namespace_id: group.id })
  assert.equal(into.body['visibility'], 'private')
  const internal = await make.project({ visibility: 'internal', repository: 'empty' })
  const wide = await post(owner, `/projects/${internal.id}/fork`, { visibility: 'public' })
  assert.equal(wide.body['visibility'], 'internal')
})

test('a fork never becomes more visible than its source, and follows where that becomes less so', async () => {
  const { make, call, opened } = at()
  const source = await make.project({ visibility: 'public', repository: 'empty' })
  const owner = await make.memberOf('owner', { project: source })
  const [one, other] = [await make.user(), await make.user()]
  const fork = (await post(one, `/projects/${source.id}/fork`, {})).body
  const second = (await post(other, `/projects/${fork.id}/fork`, {})).body
  const set = (as: Someone, id: number, visibility: string) =>
    call('PUT', `/projects/${id}`, { as, body: { visibility } })
  const all = async (): Promise<unknown[]> =>
    (
      await rowsOf(at(), 'select visibility from projects where id = any($1) order by id', [
        [source.id, fork.id, second.id],
      ])
    ).map(({ visibility }) => visibility)
  assert.equal((await set(owner, source.id, 'internal')).status, 200)
  assert.deepEqual(await all(), ['internal', 'internal', 'internal'])
  assert.equal((await set(owner, source.id, 'private')).status, 200)
  assert.deepEqual(await all(), ['private', 'private', 'private'])
  for (const [as, id, wanted] of [
    [one, fork.id, 'public'],
    [one, fork.id, 'internal'],
    [await make.admin(), second.id, 'public'],
  ] as const) {
    const { status, body } = await set(as, id, wanted)
    const why = `${wanted} is not allowed since the fork source project has lower visibility.`
    assert.deepEqual([status, body], [400, { message: { visibility_level: [why] } }])
  }
  // The constraint refuses writes past the operation too, and a transfer takes its forks along.
  const wider = (id: number) =>
    opened.instance.db.script(`update projects set visibility = 'public' where id = ${id}`)
  await assert.rejects(wider(fork.id), { constraint: 'projects_fork_visibility' })
  await wider(source.id)
  await wider(fork.id)
  const group = await make.group({ visibility: 'internal' })
  await make.member(owner, 'owner', { group })
  assert.equal((await transfer(owner, source.id, group.id)).status, 200)
  assert.deepEqual(await all(), ['internal', 'internal', 'private'])
  assert.deepEqual((await set(one, fork.id, 'private')).status, 200)
})

test('a project is imported after the answer; addresses of this network are refused before it', async () => {
  const { make, opened } = at()
  const admin = await make.admin()
  const local = await post(admin, '/projects', { name: 'mine', import_url: 'http://127.0.0.1/x.git' })
  assert.equal(local.status, 400)
  assert.match(JSON.stringify(local.body), /import_url":\["is blocked: 127\.0\.0\.1 is a private address/)
  for (const import_url of ['/etc', 'file:///etc', 'ssh://host/x', 'ext::sh'])
    assert.match(
      JSON.stringify((await post(admin, '/projects', { name: 'm', import_url })).body),
      /is blocked/,
    )
  await make.sql(`insert into settings values ('allow_local_requests_from_web_hooks_and_services', 'true')`)
  await opened.instance.settings.reload()
  const url = 'http://me:secret@127.0.0.1:9/gone.git'
  const project = await post(admin, '/projects', { name: 'gone', import_url: url })
  assert.deepEqual([project.status, project.body['import_status']], [201, 'scheduled'])
  assert.equal(project.body['import_url'], 'http://127.0.0.1:9/gone.git')
  assert.ok(!(await contents(at())).includes('secret@'))
  await importRepository.run(opened.instance, { project_id: project.body.id })
  const failed = (await at().get(`/projects/${project.body.id}`, admin)).body as Body
  assert.deepEqual(
    [failed['import_status'], failed['import_error']],
    ['failed', 'The repository could not be read'],
  )
  assert.equal(await opened.instance.git.repository(repositoryPath(failed.id)).exists(), true)
})

test('a moved project answers at its new place, and those of the old one have lost it', async () => {
  const { make } = at()
  const [from, to] = [
    await make.group({ visibility: 'internal' }),
    await make.group({ visibility: 'private' }),
  ]
  const project = await make.project({ group: from, visibility: 'internal', repository: 'empty' })
  const owner = await make.memberOf('owner', { group: from })
  await make.member(owner, 'owner', { group: to })
  const member = await make.memberOf('developer', { group: from })
  assert.equal((await at().get(`/projects/${project.id}`, member)).status, 200)
  const moved = await transfer(owner, project.id, to.full_path)
  assert.equal(moved.status, 200)
  assert.deepEqual(
    [moved.body['path_with_namespace'], moved.body['visibility']],
    [`${to.full_path}/${project.path}`, 'private'],
  )
  assert.equal((await at().get(`/projects/${project.id}`, member)).status, 404)
  const before = `/projects/${encodeURIComponent(project.full_path)}`
  assert.deepEqual(
    [(await at().get(before, owner)).status, (await at().get(before, member)).status],
    [301, 404],
  )
  const already = await transfer(owner, project.id, to.id)
  assert.deepEqual(already.body, {
    message: 'Failed to transfer project {:new_namespace=>["Project is already in this namespace."]}',
  })
})

test('a project moves only where its owner may make projects, and not onto another', async () => {
  const { make } = at()
  const [from, hidden] = [await make.group(), await make.group({ visibility: 'private' })]
  const seen = await make.group({ visibility: 'public' })
  const project = await make.project({ group: from, path: 'same' })
  const owner = await make.memberOf('owner', { group: from })
  const before = await contents(at())
  for (const namespace of [hidden.full_path, 'no/such'])
    assert.deepEqual((await transfer(owner, project.id, namespace)).body, {
      message: '404 Namespace Not Found',
    })
  assert.match(String((await transfer(owner, project.id, seen.id)).body['message']), /don't have permission/)
  assert.equal(await contents(at()), before)
  const mine = await make.group({ visibility: 'public' })
  await make.member(owner, 'owner', { group: mine })
  await make.project({ group: mine, path: 'SAME', name: 'x' })
  const conflict = await transfer(owner, project.id, mine.id)
  assert.equal(conflict.status, 400)
  assert.match(String(conflict.body['message']), /same name or path in target namespace already exists/)
})

test('labels and milestones of the group that is left are kept as the project’s own', async () => {
  const { make } = at()
  const [from, to] = [await make.group(), await make.group()]
  const project = await make.project({ group: from })
  const owner = await make.memberOf('owner', { group: from })
  await make.member(owner, 'owner', { group: to })
  await make.sql(`
    insert into labels (group_id, title, color) values
      (${from.id}, 'lost', '#111111'), (${from.id}, 'known', '#222222'), (${to.id}, 'known', '#333333');
    insert into milestones (group_id, iid, title) values (${from.id}, 1, 'soon');
    with i as (insert into issues (project_id, iid, title, milestone_id)
      select ${project.id}, 1, 'x', id from milestones where group_id = ${from.id} returning id)
    insert into label_links (label_id, noteable_id) select l.id, i.id from i, labels l where l.group_id = ${from.id}`)
  assert.equal((await transfer(owner, project.id, to.id)).status, 200)
  assert.deepEqual(
    await rowsOf(
      at(),
      `select l.title, l.color, l.project_id, l.group_id from label_links k join labels l on l.id = k.label_id
        join issues i on i.id = k.noteable_id where i.project_id = ${project.id} order by l.title`,
    ),
    [
      { title: 'known', color: '#333333', project_id: null, group_id: to.id },
      { title: 'lost', color: '#111111', project_id: project.id, group_id: null },
    ],
  )
  assert.deepEqual(
    await rowsOf(
      at(),
      `select m.title, m.project_id from issues i join milestones m on m.id = i.milestone_id
        where i.project_id = ${project.id}`,
    ),
    [{ title: 'soon', project_id: project.id }],
  )
})

test('a share lets the group’s members in at once, as far as it goes, and its end shuts them out', async () => {
  const { make } = at()
  const group = await make.group()
  const project = await make.project()
  const maintainer = await make.memberOf('maintainer', { project })
  await make.member(maintainer, 'guest', { group })
  const member = await make.memberOf('owner', { group })
  const path = `/projects/${project.id}/share`
  assert.equal((await at().get(`/projects/${project.id}`, member)).status, 404)
  const shared = await post(maintainer, path, {
    group_id: group.id,
    group_access: 20,
    expires_at: '2099-01-01',
  })
  assert.equal(shared.status, 201)
  assert.deepEqual(
    { ...shared.body, id: 0 },
    { id: 0, project_id: project.id, group_id: group.id, group_access: 20, expires_at: '2099-01-01' },
  )
  const seen = (await at().get(`/projects/${project.id}`, member)).body as Body
  assert.deepEqual(seen['permissions'], {
    project_access: { access_level: 20, notification_level: 3 },
    group_access: null,
  })
  assert.equal((seen['shared_with_groups'] as Body[])[0]?.['group_id'], group.id)
  const again = await post(maintainer, path, { group_id: group.id, group_access: 30 })
  assert.deepEqual([again.status, again.body], [409, { message: 'Group already shared with this group' }])
  // One that is over is as good as none.
  await make.sql(`update project_group_links set expires_at = today() where project_id = ${project.id}`)
  const anew = await post(maintainer, path, { group_id: group.id, group_access: 30 })
  assert.deepEqual([anew.status, anew.body['group_access'], anew.body['expires_at']], [201, 30, null])
  const gone = await at().call('DELETE', `${path}/${group.id}`, { as: maintainer, body: {} })
  assert.equal(gone.status, 204)
  assert.equal((await at().get(`/projects/${project.id}`, member)).status, 404)
  const absent = await at().call('DELETE', `${path}/${group.id}`, { as: maintainer })
  assert.deepEqual([absent.status, absent.body], [404, { message: '404 Group Link Not Found' }])
})

test('shares with groups that cannot be seen, with the own group, and of more than is held are refused', async () => {
  const { make } = at()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group })
  const maintainer = await make.memberOf('maintainer', { group })
  const hidden = await make.group({ visibility: 'private' })
  const open = await make.group({ visibility: 'public' })
  const share = (group_id: number, group_access = 20) =>
    post(maintainer, `/projects/${project.id}/share`, { group_id, group_access })
  for (const id of [hidden.id, 999_999])
    assert.deepEqual((await share(id)).body, { message: '404 Group Not Found' })
  assert.equal((await share(group.id)).status, 409)
  assert.equal((await share(open.id, 50)).status, 403)
  assert.deepEqual((await share(open.id, 15_000)).body, { error: 'group_access does not have a valid value' })
  await make.sql(`update namespaces set settings = '{"share_with_group_lock":true}' where id = ${group.id}`)
  assert.deepEqual((await share(open.id)).body, { message: 'The project sharing with group is disabled' })
})

test('git clients feel a move, a share and an archive with their very next request', async () => {
  const { make, app } = at()
  const [from, to] = [await make.group(), await make.group()]
  const project = await make.project({ group: from, repository: history() })
  const owner = await make.memberOf('owner', { group: from })
  await make.member(owner, 'owner', { group: to })
  const friend = await make.memberOf('developer', { group: await make.group({ path: 'friends' }) })
  const git = async (as: Someone, path: string, service = 'upload'): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`x:${as.token}`).toString('base64')}`
    const url = `/${path}.git/info/refs?service=git-${service}-pack`
    return (await app.inject({ url, headers: { authorization } })).statusCode
  }
  assert.deepEqual([await git(owner, project.full_path), await git(friend, project.full_path)], [200, 404])
  const { body } = await transfer(owner, project.id, to.id)
  const path = String(body['path_with_namespace'])
  assert.deepEqual([await git(owner, project.full_path), await git(owner, path)], [200, 200])
  assert.equal(await git(friend, project.full_path), 404)
  await make.member(owner, 'guest', { group: { id: (await groupOf(friend)).id } })
  await post(owner, `/projects/${project.id}/share`, {
    group_id: (await groupOf(friend)).id,
    group_access: 30,
  })
  assert.deepEqual([await git(friend, path), await git(friend, path, 'receive')], [200, 200])
  await post(owner, `/projects/${project.id}/archive`, {})
  assert.deepEqual([await git(friend, path), await git(friend, path, 'receive')], [200, 403])
  await at().call('DELETE', `/projects/${project.id}/share/${(await groupOf(friend)).id}`, { as: owner })
  assert.equal(await git(friend, path), 404)
  await at().call('DELETE', `/projects/${project.id}`, { as: owner })
  assert.equal(await git(owner, path), 404)
})

async function groupOf({ id }: Someone): Promise<{ id: number }> {
  const [row] = await rowsOf<{ id: number }>(
    at(),
    'select namespace_id as id from members where user_id = $1',
    [id],
  )
  return row ?? { id: 0 }
}
