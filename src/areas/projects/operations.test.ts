import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import { findMissingReadmes } from '../../core/repositories/readmes.ts'
import { removeRepository } from '../../core/places/project_removal.ts'

const at = sharedWorld()
type Body = Record<string, unknown> & { readonly id: number }
const TAKEN = ['has already been taken']

async function created(as: Someone, body: object): Promise<Body> {
  const answer = await at().call('POST', '/projects', { as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body
}
async function refused(as: Someone, body: object): Promise<unknown> {
  const before = await contents(at())
  const answer = await at().call('POST', '/projects', { as, body })
  assert.equal(answer.status, 400, answer.text)
  assert.equal(await contents(at()), before)
  return (answer.body as { message: unknown }).message
}
const change = async (as: Someone, id: number, body: object): Promise<{ status: number; body: Body }> =>
  (await at().call('PUT', `/projects/${id}`, { as, body })) as { status: number; body: Body }

test('a project is made in its creator’s own namespace, and read back as it was answered', async () => {
  const user = await at().make.user()
  const project = await created(user, { name: 'Harbour Works', description: 'Cranes & <quays>' })
  const path = `${user.username}/harbour-works`
  const self = `https://guild.example/api/v4/projects/${project.id}`
  const expected = {
    name: 'Harbour Works',
    path: 'harbour-works',
    path_with_namespace: path,
    visibility: 'private',
    default_branch: 'main',
    empty_repo: true,
    readme_url: null,
    http_url_to_repo: `https://guild.example/${path}.git`,
    description_html: 'Cranes &amp; &lt;quays&gt;',
    creator_id: user.id,
    import_status: 'none',
    merge_method: 'merge',
    squash_option: 'default_off',
    repository_access_level: 'enabled',
    permissions: { project_access: { access_level: 50, notification_level: 3 }, group_access: null },
  }
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(project[name], value, name)
  assert.equal((project['owner'] as Body).id, user.id)
  assert.equal((project['_links'] as Record<string, string>)['self'], self)
  assert.deepEqual((await at().get(`/projects/${project.id}`, user)).body, project)
  assert.deepEqual((await at().get(`/projects/${encodeURIComponent(path)}`, user)).body, project)
})

test('one of name and path will do, and the other follows from it', async () => {
  const user = await at().make.user()
  for (const [given, name, path] of [
    [{ name: 'Große Möwe' }, 'Große Möwe', 'gro-e-mowe'],
    [{ name: 'plain.name' }, 'plain.name', 'plain.name'],
    [{ path: 'a-path' }, 'a-path', 'a-path'],
    [{ name: 'Both', path: 'other' }, 'Both', 'other'],
  ] as const) {
    const project = await created(user, given)
    assert.deepEqual([project['name'], project['path']], [name, path])
  }
  const missing = await at().call('POST', '/projects', { as: user, body: { description: 'x' } })
  assert.deepEqual(missing.body, {
    error: 'name, path are missing, at least one parameter must be provided',
  })
})

test('names and paths that cannot be, or are taken, are refused by attribute', async () => {
  const user = await at().make.user()
  await created(user, { name: 'taken' })
  assert.deepEqual(await refused(user, { name: 'taken' }), { name: TAKEN, path: TAKEN })
  assert.deepEqual(await refused(user, { name: 'taken', path: 'free' }), { name: TAKEN })
  assert.deepEqual(await refused(user, { name: 'Free', path: 'TAKEN' }), { path: TAKEN })
  assert.deepEqual(await refused(user, { name: 'tree', path: 'tree' }), {
    path: ['tree is a reserved name'],
  })
  assert.deepEqual(await refused(user, { name: 'x', path: '-x' }), {
    path: [
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
    ],
  })
  assert.deepEqual(await refused(user, { name: 'n'.repeat(256), path: 'n' }), {
    name: ['is too long (maximum is 255 characters)'],
  })
  assert.deepEqual(await refused(user, { name: 'd', description: 'd'.repeat(2_001) }), {
    description: ['is too long (maximum is 2000 characters)'],
  })
})

test('a group takes projects of those whom its setting lets in; to all others it is no namespace', async () => {
  const { make } = at()
  const group = await make.group({ visibility: 'internal' })
  const reporter = await make.memberOf('reporter', { group })
  const developer = await make.memberOf('developer', { group })
  const message = { namespace: ['is not valid'] }
  assert.deepEqual(await refused(reporter, { name: 'a', namespace_id: group.id }), message)
  assert.deepEqual(await refused(reporter, { name: 'a', namespace_id: 999_999 }), message)
  const project = await created(developer, { name: 'a', namespace_id: group.id, visibility: 'internal' })
  assert.deepEqual(project['permissions'], {
    project_access: null,
    group_access: { access_level: 30, notification_level: 3 },
  })
  assert.deepEqual(await refused(developer, { name: 'b', namespace_id: group.id, visibility: 'public' }), {
    visibility_level: ['public is not allowed in a internal group.'],
  })
  await make.sql(
    `update namespaces set settings = '{"project_creation_level":"maintainer"}' where id = ${group.id}`,
  )
  assert.deepEqual(await refused(developer, { name: 'b', namespace_id: group.id }), message)
})

test('the address of the readme is that of a file that is there, or null', async () => {
  const user = await at().make.user()
  const project = await created(user, { name: 'told', default_branch: '' })
  assert.equal(project['default_branch'], 'main')
  const commit = async (branch: string, actions: object[], more: object = {}): Promise<unknown> => {
    const body = { branch, commit_message: 'Change files', actions, ...more }
    const path = `/projects/${project.id}/repository/commits`
    assert.equal((await at().call('POST', path, { as: user, body })).status, 201)
    return ((await at().get(`/projects/${project.id}`, user)).body as Body)['readme_url']
  }
  const write = (file_path: string): object => ({ action: 'create', file_path, content: 'x' })
  const web = `${String(project['web_url'])}/-/blob`
  assert.equal(await commit('main', [write('docs/README.md'), write('CONTRIBUTING.md')]), null)
  assert.equal(await commit('main', [write('readme.txt')]), `${web}/main/readme.txt`)
  assert.equal(await commit('main', [write('README.rst')]), `${web}/main/README.rst`)
  const other = [{ action: 'delete', file_path: 'README.rst' }, write('Readme.md')]
  assert.equal(await commit('other', other, { start_branch: 'main' }), `${web}/main/README.rst`)
  const { body } = await change(user, project.id, { default_branch: 'other' })
  assert.equal(body['readme_url'], `${web}/other/Readme.md`)
  assert.equal((await change(user, project.id, { default_branch: '' })).body['default_branch'], 'other')
  await at().make.sql(`update projects set readme_path = null where id = ${project.id}`)
  await findMissingReadmes(at().opened.instance)
  const listed = (await at().get('/projects?owned=true&simple=true', user)).body as Body[]
  assert.equal(listed.find(({ id }) => id === project.id)?.['readme_url'], `${web}/other/Readme.md`)
})

test('an empty avatar takes the picture of a project or user away', async () => {
  const [user, admin] = [await at().make.user(), await at().make.admin()]
  const project = await created(user, { name: 'pictured', avatar: '' })
  const picture = "avatar_url = 'https://a.example/p.png'"
  await at().make.sql(`update projects set ${picture} where id = ${project.id};
    update users set ${picture} where id = ${user.id}`)
  const kept = await change(user, project.id, { description: 'still pictured' })
  assert.equal(kept.body['avatar_url'], 'https://a.example/p.png')
  assert.equal((await change(user, project.id, { avatar: '' })).body['avatar_url'], null)
  const answer = await at().call('PUT', `/users/${user.id}`, { as: admin, body: { avatar: '' } })
  assert.equal((answer.body as Body)['avatar_url'], null)
  const refusal = await change(user, project.id, { avatar: 'picture' })
  assert.deepEqual([refusal.status, refusal.body], [400, { error: 'avatar is invalid' }])
})

test('a readme is a real first commit by the creator, on the branch asked for', async () => {
  const user = await at().make.user()
  const project = await created(user, {
    name: 'read',
    description: 'All about it',
    initialize_with_readme: true,
    default_branch: 'trunk',
  })
  assert.deepEqual([project['default_branch'], project['empty_repo']], ['trunk', false])
  assert.equal(project['readme_url'], `${String(project['web_url'])}/-/blob/trunk/README.md`)
  const [commit] = (await at().get(`/projects/${project.id}/repository/commits`, user)).body as Body[]
  assert.deepEqual(
    [commit?.['title'], commit?.['author_name'], commit?.['author_email']],
    ['Initial commit', user.name, user.email],
  )
  const raw = await at().get(`/projects/${project.id}/repository/files/README.md/raw?ref=trunk`, user)
  assert.equal(raw.text, '# read\n\nAll about it\n')
  const rules = await at().get(`/projects/${project.id}/protected_branches`, user)
  assert.deepEqual(
    (rules.body as Body[]).map((rule) => rule['name']),
    ['trunk'],
  )
  const counted = await at().get(`/projects/${project.id}?statistics=true&license=true`, user)
  assert.equal((counted.body as { statistics: { commit_count: number } }).statistics.commit_count, 1)
  assert.equal((counted.body as Body)['license'], null)
  const counts = async (as: Someone): Promise<unknown[]> => {
    const listed = await at().get(`/projects?statistics=true&search=${String(project['path'])}`, as)
    return (listed.body as (Body & { statistics?: { commit_count: number } })[]).map(
      ({ statistics }) => statistics?.commit_count,
    )
  }
  const guest = await at().make.memberOf('guest', { project })
  const reporter = await at().make.memberOf('reporter', { project })
  assert.deepEqual([await counts(user), await counts(reporter), await counts(guest)], [[1], [1], [undefined]])
})

test('a denied user has no role in a public project, whatever the group grants', async () => {
  const { make, get } = at()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const maintainer = await make.memberOf('maintainer', { group })
  const seen = async (): Promise<unknown[]> => {
    const { body } = await get(`/projects/${project.id}?statistics=true`, maintainer)
    const { statistics, can_create_merge_request_in } = body as Body
    return [statistics === undefined, can_create_merge_request_in]
  }
  assert.deepEqual(await seen(), [false, true])
  await make.sql(
    `insert into members (project_id, user_id, access_level) values (${project.id}, ${maintainer.id}, 0)`,
  )
  assert.deepEqual(await seen(), [true, false])
})

test('twenty who make one path at once get one project and nineteen refusals', async () => {
  const user = await at().make.user()
  const body = { name: 'contested' }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => at().call('POST', '/projects', { as: user, body })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 201))
    assert.deepEqual([answer.status, answer.body], [400, { message: { name: TAKEN, path: TAKEN } }])
  assert.equal((await rowsOf(at(), `select id from projects where name = 'contested'`)).length, 1)
})

test('feature levels and their older switches are shown consistently', async () => {
  const user = await at().make.user()
  const { id } = await created(user, { name: 'set', topics: ['Sea', ' sea ', 'Land'], issues_enabled: false })
  const read = async (): Promise<Body> => (await at().get(`/projects/${id}`, user)).body as Body
  assert.deepEqual((await read())['topics'], ['Sea', 'Land'])
  assert.deepEqual(
    [(await read())['issues_enabled'], (await read())['issues_access_level']],
    [false, 'disabled'],
  )
  const changed = await change(user, id, {
    description: 'new',
    merge_method: 'ff',
    squash_option: 'always',
    snippets_access_level: 'private',
    repository_access_level: 'private',
    issues_access_level: 'enabled',
    tag_list: 'one,two',
    emails_disabled: true,
    packages_enabled: false,
  })
  assert.equal(changed.status, 200)
  const now = await read()
  assert.deepEqual(changed.body, now)
  assert.deepEqual(
    [
      'merge_method',
      'squash_option',
      'snippets_access_level',
      'snippets_enabled',
      'repository_access_level',
    ].map((name) => now[name]),
    ['ff', 'always', 'private', true, 'private'],
  )
  assert.deepEqual(
    [now['issues_enabled'], now['topics'], now['emails_enabled'], now['packages_enabled']],
    [true, ['one', 'two'], false, false],
  )
  assert.deepEqual((await change(user, id, { merge_method: 'octopus' })).body, {
    error: 'merge_method does not have a valid value',
  })
  assert.equal((await change(user, id, { description: '' })).body['description'], null)
})

test('features without operations are announced nowhere, whatever is set', async () => {
  const user = await at().make.user()
  const { id } = await created(user, {
    name: 'announced',
    lfs_enabled: true,
    packages_enabled: true,
    wiki_enabled: true,
    container_registry_enabled: true,
  })
  const now = (await at().get(`/projects/${id}`, user)).body as Record<string, unknown>
  const off = ['lfs_enabled', 'wiki_enabled', 'container_registry_enabled']
  assert.deepEqual(
    off.map((name) => now[name]),
    off.map(() => false),
  )
  assert.equal(now['packages_enabled'], true)
  assert.deepEqual(
    [now['wiki_access_level'], now['container_registry_access_level']],
    ['disabled', 'disabled'],
  )
  assert.equal(now['ssh_url_to_repo'], null)
  const links = now['_links'] as Record<string, string>
  assert.ok(!('events' in links))
  for (const address of Object.values(links)) {
    const answer = await at().get(new URL(address).pathname.replace('/api/v4', ''), user)
    assert.ok(
      [200, 404].includes(answer.status) && !/404 Not Found/.test(answer.text),
      `${address}: ${answer.text}`,
    )
  }
})

test('a project moves to another path at once, for git’s address too, and not onto another’s', async () => {
  const user = await at().make.user()
  const { id } = await created(user, { name: 'before' })
  await created(user, { name: 'other' })
  const moved = await change(user, id, { path: 'after', name: 'After' })
  assert.equal(moved.body['http_url_to_repo'], `https://guild.example/${user.username}/after.git`)
  assert.equal((await at().get(`/projects/${user.username}%2Fafter`, user)).status, 200)
  assert.equal((await at().get(`/projects/${user.username}%2Fbefore`, user)).status, 301)
  assert.deepEqual((await change(user, id, { path: 'other' })).body, { message: { path: TAKEN } })
  assert.deepEqual((await change(user, id, { name: 'other' })).body, { message: { name: TAKEN } })
})

test('name, path and visibility are for owners; the rest for maintainers', async () => {
  const { make } = at()
  const group = await make.group({ visibility: 'public' })
  const project = await make.project({ group, visibility: 'public' })
  const maintainer = await make.memberOf('maintainer', { group })
  for (const body of [{ name: 'x' }, { path: 'x' }, { visibility: 'private' }])
    assert.equal((await change(maintainer, project.id, body)).status, 403)
  assert.equal((await change(maintainer, project.id, { description: 'x', name: project.name })).status, 200)
})

test('a group says what the first branch of its projects is called', async () => {
  const group = await at().make.group()
  const owner = await at().make.memberOf('owner', { group })
  await at().call('PUT', `/groups/${group.id}`, { as: owner, body: { default_branch: 'trunk' } })
  const body = { namespace_id: group.id, initialize_with_readme: true }
  const branchOf = async (id: number): Promise<unknown> =>
    ((await at().get(`/projects/${id}`, owner)).body as Body)['default_branch']
  assert.equal(await branchOf((await created(owner, { ...body, name: 'one' })).id), 'trunk')
  const named = await created(owner, { ...body, name: 'two', default_branch: 'own' })
  assert.equal(await branchOf(named.id), 'own')
  // It takes any text, and a project is made all the same.
  await at().call('PUT', `/groups/${group.id}`, { as: owner, body: { default_branch: 'no branch..' } })
  assert.equal(await branchOf((await created(owner, { ...body, name: 'three' })).id), 'main')
})

test('the default branch becomes one that is there', async () => {
  const user = await at().make.user()
  const { id } = await created(user, { name: 'branches', initialize_with_readme: true })
  assert.deepEqual((await change(user, id, { default_branch: 'next' })).body, {
    message: { base: ["Could not change HEAD: branch 'next' does not exist"] },
  })
  await at().call('POST', `/projects/${id}/repository/branches`, {
    as: user,
    body: { branch: 'next', ref: 'main' },
  })
  assert.equal((await change(user, id, { default_branch: 'next' })).body['default_branch'], 'next')
  const repository = at().opened.instance.git.repository(repositoryPath(id))
  assert.equal(await repository.defaultBranch(), 'next')
})

test('an archived project is read and not written until it is taken out again', async () => {
  const user = await at().make.user()
  const { id } = await created(user, { name: 'old', visibility: 'public', initialize_with_readme: true })
  const archived = await at().call('POST', `/projects/${id}/archive`, { as: user })
  assert.deepEqual([archived.status, (archived.body as Body)['archived']], [201, true])
  const write = () =>
    at().call('POST', `/projects/${id}/repository/branches`, {
      as: user,
      body: { branch: 'late', ref: 'main' },
    })
  const refusal = await write()
  assert.deepEqual([refusal.status, refusal.body], [403, { message: '403 Forbidden' }])
  assert.equal((await at().get(`/projects/${id}/repository/branches`, user)).status, 200)
  assert.equal((await at().call('POST', `/projects/${id}/star`, { as: user })).status, 201)
  await at().call('POST', `/projects/${id}/unarchive`, { as: user })
  assert.equal((await write()).status, 201)
})

test('a star is counted once for each who gives it', async () => {
  const [user, other] = [await at().make.user(), await at().make.user()]
  const { id } = await created(user, { name: 'bright', visibility: 'public' })
  const star = (as: Someone, deed = 'star') => at().call('POST', `/projects/${id}/${deed}`, { as })
  assert.equal((await star(user)).status, 201)
  assert.equal((await star(user)).status, 304)
  assert.equal(((await star(other)).body as Body)['star_count'], 2)
  assert.equal(((await star(user, 'unstar')).body as Body)['star_count'], 1)
  assert.equal((await star(user, 'unstar')).status, 304)
  const starred = await at().get(`/users/${other.username}/starred_projects?simple=true`, user)
  assert.deepEqual(
    (starred.body as Body[]).map((project) => project.id),
    [id],
  )
})

test('a deleted project is gone for the next request, and its repository after it', async () => {
  const user = await at().make.user()
  const { id } = await created(user, { name: 'brief', initialize_with_readme: true })
  const { instance } = at().opened
  const answer = await at().call('DELETE', `/projects/${id}`, { as: user, body: {} })
  assert.deepEqual([answer.status, answer.body], [202, { message: '202 Accepted' }])
  assert.deepEqual((await at().get(`/projects/${id}`, user)).body, { message: '404 Project Not Found' })
  assert.equal(await instance.git.repository(repositoryPath(id)).exists(), true)
  await removeRepository.run(instance, { project_id: id })
  assert.equal(await instance.git.repository(repositoryPath(id)).exists(), false)
  assert.notEqual((await created(user, { name: 'brief' })).id, id)
})

test('callers without a token are shown a public project briefly', async () => {
  const user = await at().make.user()
  const { id } = await created(user, { name: 'open', visibility: 'public' })
  const shown = (await at().get(`/projects/${id}`)).body as Body
  assert.deepEqual([shown['visibility'], shown['path'], 'permissions' in shown], ['public', 'open', false])
})

test('the default branch is shown to readers of the code only', async () => {
  const { make } = at()
  const group = await make.group({ visibility: 'public' })
  const [open, shut] = [await make.project({ group, visibility: 'public' }), await make.project({ group })]
  await make.sql(
    `update projects set default_branch = 'main', empty_repo = false, readme_path = 'README.md'
      where namespace_id = ${group.id}`,
  )
  await make.sql(
    `update projects set visibility = 'public', repository_access_level = 'private' where id = ${shut.id}`,
  )
  const [member, stranger] = [await make.memberOf('reporter', { project: shut }), await make.user()]
  const guest = await make.memberOf('guest', { project: shut })
  const fork = await make.project({ visibility: 'public' })
  await make.sql(`update projects set forked_from_project_id = ${shut.id} where id = ${fork.id}`)
  const readme = `https://guild.example/${shut.full_path}/-/blob/main/README.md`
  for (const [as, told] of [
    [undefined, [null, null]],
    [stranger, [null, null]],
    [guest, [null, null]],
    [member, ['main', readme]],
    [await make.admin(), ['main', readme]],
  ] as const) {
    const one = (await at().get(`/projects/${shut.id}`, as)).body as Body
    assert.deepEqual([one['default_branch'], one['readme_url']], told)
    const list = (await at().get('/projects', as)).body as Body[]
    const listed = list.find(({ id }) => id === shut.id)
    assert.deepEqual([listed?.['default_branch'], listed?.['readme_url']], told)
    const inGroup = (await at().get(`/groups/${group.id}/projects?order_by=id&sort=asc`, as)).body as Body[]
    assert.deepEqual(
      inGroup.map((project) => [project.id, project['default_branch']]),
      [
        [open.id, 'main'],
        [shut.id, told[0]],
      ],
    )
    const origin = ((await at().get(`/projects/${fork.id}`, as)).body as Body)['forked_from_project'] as
      Body | undefined
    if (as !== undefined) assert.deepEqual([origin?.['default_branch'], origin?.['readme_url']], told)
  }
})
