import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { npmDocument } from '../../../test/support/npm_packages.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let [group, project, hidden, open] = [] as unknown as [Namespace, Project, Project, Project]
let owner: Someone
before(async () => {
  const { make } = world()
  group = await make.group()
  project = await make.project({ group })
  hidden = await make.project()
  open = await make.project({ visibility: 'public' })
  owner = await make.memberOf('owner', { group })
})

interface Token {
  readonly id: number
  readonly token: string
  readonly username: string
}
const issue = async (scopes: readonly string[], parent = `projects/${project.id}`): Promise<Token> =>
  (await world().call('POST', `/${parent}/deploy_tokens`, { as: owner, body: { name: 'one', scopes } }))
    .body as Token
type Headers = Readonly<Record<string, string>>
const header = ({ token }: Token): Headers => ({ 'deploy-token': token })
const bearer = ({ token }: Token): Headers => ({ authorization: `Bearer ${token}` })
const basic = ({ token, username }: Token, name = username): Headers => ({
  authorization: `Basic ${Buffer.from(`${name}:${token}`).toString('base64')}`,
})
const file = ({ id }: { id: number }): string => `/projects/${id}/packages/generic/tool/1.0/tool.bin`
const put = (where: Project, headers: Headers, path = file(where)): Promise<Answered> =>
  world().call('PUT', path, {
    body: 'x',
    headers: { 'content-type': 'application/octet-stream', ...headers },
  })
const get = (path: string, headers: Headers): Promise<Answered> => world().call('GET', path, { headers })
const statuses = async (asked: readonly Promise<Answered>[]): Promise<number[]> =>
  (await Promise.all(asked)).map(({ status }) => status)

test('a write token publishes and reads by header, bearer and password; a read token only reads', async () => {
  const [writing, reading] = [await issue(['write_package_registry']), await issue(['read_package_registry'])]
  for (const form of [header, bearer, basic]) {
    assert.equal((await put(project, form(writing))).status, 201)
    assert.equal((await get(file(project), form(writing))).text, 'x')
    assert.equal((await get(file(project), form(reading))).text, 'x')
    assert.equal((await put(project, form(reading))).status, 403)
  }
  const other = await issue(['read_repository'])
  assert.deepEqual(
    await statuses([get(file(project), header(other)), put(project, header(other))]),
    [403, 403],
  )
  const packages = await rowsOf(world(), 'select creator_id from packages where project_id = $1', [
    project.id,
  ])
  assert.deepEqual(packages, [{ creator_id: null }])
})

test('a token of a group reaches the projects below it and the routes of the group', async () => {
  const token = await issue(['write_package_registry'], `groups/${group.id}`)
  const ofProject = await issue(['write_package_registry'])
  const npm = { name: `@${group.path}/known`, version: '1.0.0' }
  const publish = (): Promise<Answered> =>
    world().call('PUT', `/projects/${project.id}/packages/npm/${encodeURIComponent(npm.name)}`, {
      body: npmDocument(npm),
      headers: { ...bearer(token) },
    })
  assert.deepEqual(await statuses([publish(), put(project, header(token))]), [200, 201])
  const path = `/groups/${group.id}/-/packages/npm/${encodeURIComponent(npm.name)}`
  assert.deepEqual(await statuses([get(path, bearer(token)), get(path, bearer(ofProject))]), [200, 404])
  const tags = `/projects/${project.id}/packages/npm/-/package/${encodeURIComponent(npm.name)}/dist-tags/latest`
  const untag = (by: Token): Promise<Answered> => world().call('DELETE', tags, { headers: { ...bearer(by) } })
  assert.equal((await untag(await issue(['read_package_registry']))).status, 403)
  assert.equal((await untag(token)).status, 204)
})

test('beyond its reach a token reads what is public, and publishes nothing', async () => {
  const headers = header(await issue(['write_package_registry']))
  assert.deepEqual(await statuses([put(hidden, headers), put(open, headers)]), [404, 403])
  assert.deepEqual(
    await statuses([
      get(`/projects/${hidden.id}/packages/pypi/simple`, headers),
      get(`/projects/${open.id}/packages/pypi/simple`, headers),
    ]),
    [404, 200],
  )
})

test('unknown, revoked and expired tokens and another user name are refused', async () => {
  const token = await issue(['write_package_registry'])
  assert.equal((await put(project, basic(token, 'other'))).status, 401)
  assert.equal((await put(project, { 'deploy-token': 'gldt-unknown' })).status, 401)
  for (const end of ["expires_at = now() - interval '1 second'", 'expires_at = null, revoked = true']) {
    await world().make.sql(`update deploy_tokens set ${end} where id = ${token.id}`)
    for (const form of [header, bearer, basic])
      assert.deepEqual(
        await statuses([put(project, form(token)), get(file(project), form(token))]),
        [401, 401],
      )
  }
})

test('no operation beside the registries takes a deploy token', async () => {
  const token = await issue(['write_package_registry', 'read_repository'])
  for (const path of [`/projects/${project.id}`, `/projects/${project.id}/packages`, '/user', '/projects'])
    for (const headers of [header(token), bearer(token), { 'private-token': token.token }])
      assert.equal((await get(path, headers)).status, 401)
  assert.equal((await get('/packages/npm/@a%2fb', header(token))).status, 401)
})

test('a rule refuses every deploy token, and an archived project takes no package', async () => {
  const token = await issue(['write_package_registry'])
  const { make } = world()
  await make.sql(`
    insert into package_protection_rules
      (project_id, package_name_pattern, package_type, minimum_access_level_for_push)
    values (${project.id}, 'guarded*', 'generic', 'maintainer')`)
  const guarded = file(project).replace('/tool/', '/guarded-tool/')
  const refused = await put(project, header(token), guarded)
  assert.deepEqual([refused.status, refused.body], [403, { message: '403 Forbidden - Package protected.' }])
  await make.sql(`update projects set archived = true where id = ${project.id}`)
  assert.deepEqual(
    await statuses([put(project, header(token)), get(file(project), header(token))]),
    [403, 200],
  )
  await make.sql(`update projects set archived = false where id = ${project.id}`)
})
