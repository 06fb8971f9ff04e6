import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import { gitLines, gitText, scratch, writeHistory } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf } from '../../../test/support/rows.ts'
import { listOf, pick } from '../../../test/support/shares.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

let top: Namespace
let group: Namespace
let project: Project
let owner: Someone
let sha: string
before(async () => {
  const { make, opened } = world()
  const source = join(scratch(), 'badges.git')
  writeHistory(source, 60, 1)
  gitText(source, ['tag', '-d', ...gitLines(source, ['tag'])])
  top = await make.group({ name: 'Top Level', visibility: 'public' })
  group = await make.group({ parent: top, visibility: 'public' })
  project = await make.project({ group, name: 'My "boat"', visibility: 'public', repository: source })
  owner = await make.memberOf('owner', { group: top })
  const directory = opened.instance.git.directory(repositoryPath(project.id))
  sha = gitText(directory, ['rev-parse', `refs/heads/${project.default_branch}`]).trim()
  gitText(directory, ['tag', 'v1', `${sha}~1`])
  gitText(directory, ['tag', 'a-later-one', sha])
})

type Body = Record<string, unknown> & { readonly id: number }
const of = (where: { readonly id: number }): string =>
  `/${'namespace_id' in where ? 'projects' : 'groups'}/${where.id}/badges`
const send = (
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
  as = owner,
): Promise<Answered> => world().call(method, path, { as, ...(body && { body }) })
async function made(where: { readonly id: number }, body: object): Promise<Body> {
  const answer = await send('POST', of(where), body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body
}

const ALL = `https://x.example/?${[
  'project_path',
  'project_title',
  'project_name',
  'project_id',
  'project_namespace',
  'group_name',
  'gitlab_server',
  'gitlab_pages_domain',
  'default_branch',
  'commit_sha',
  'latest_tag',
  'unknown',
]
  .map((name) => `${name}=%{${name}}`)
  .join('&')}`

test('a badge keeps its addresses as they were written and shows them filled in', async () => {
  const badge = await made(project, {
    name: 'All',
    link_url: ` ${ALL} `,
    image_url: 'https://x.example/i.svg',
  })
  const filled = `https://x.example/?${[
    `project_path=${project.full_path}`,
    'project_title=My%20%22boat%22',
    `project_name=${project.path}`,
    `project_id=${project.id}`,
    `project_namespace=${group.full_path}`,
    'group_name=Top%20Level',
    'gitlab_server=guild.example',
    'gitlab_pages_domain=pages.guild.example',
    `default_branch=${project.default_branch}`,
    `commit_sha=${sha}`,
    'latest_tag=a-later-one',
    'unknown=%{unknown}',
  ].join('&')}`
  assert.deepEqual(badge, {
    id: badge.id,
    name: 'All',
    link_url: ALL,
    image_url: 'https://x.example/i.svg',
    rendered_link_url: filled,
    rendered_image_url: 'https://x.example/i.svg',
    kind: 'project',
  })
  assert.deepEqual((await world().get(`${of(project)}/${badge.id}`)).body, badge)
})

test('a badge is rendered at the time of the request', async () => {
  const { make } = world()
  const moving = await make.project({ group, visibility: 'public' })
  const badge = await made(moving, {
    link_url: 'https://x.example/%{project_path}/%{commit_sha}%{latest_tag}',
    image_url: 'https://x.example/%{project_title}',
  })
  assert.equal(badge['rendered_link_url'], `https://x.example/${moving.full_path}/`)
  await make.sql(`update projects set name = 'Renamed' where id = ${moving.id}`)
  const now = (await world().get(`${of(moving)}/${badge.id}`)).body as Body
  assert.equal(now['rendered_image_url'], 'https://x.example/Renamed')
})

test('a badge follows the default branch, its head and the latest tag', async () => {
  const { call } = world()
  const badge = await made(project, {
    link_url: 'https://x.example/%{default_branch}/%{commit_sha}/%{latest_tag}',
    image_url: 'https://x.example',
  })
  const seen = async (): Promise<unknown> =>
    ((await world().get(`${of(project)}/${badge.id}`)).body as Body)['rendered_link_url']
  const before = `https://x.example/${project.default_branch}/${sha}/a-later-one`
  assert.equal(await seen(), before)
  const repository = `/projects/${project.id}/repository`
  const { commit } = (await call('GET', `${repository}/tags/v1`)).body as { commit: { id: string } }
  await send('POST', `${repository}/branches`, { branch: 'other', ref: 'v1' })
  await send('POST', `${repository}/tags`, { tag_name: 'a-new-one', ref: 'v1', message: 'now' })
  const turn = (default_branch: string | null): Promise<Answered> =>
    send('PUT', `/projects/${project.id}`, { default_branch })
  assert.equal((await turn('other')).status, 200)
  assert.equal(await seen(), `https://x.example/other/${commit.id}/a-new-one`)
  await turn(project.default_branch)
  await send('DELETE', `${repository}/tags/a-new-one`)
  assert.equal(await seen(), before)
})

test('in a personal namespace there is no group to name', async () => {
  const { make } = world()
  const user = await make.user()
  const home = await rowOf<Namespace>(world(), 'select * from namespaces where full_path = $1', [
    user.username,
  ])
  const own = await make.project({ group: home, visibility: 'public' })
  await make.member(user, 'owner', { project: own })
  const urls = {
    link_url: 'https://x.example/%{project_namespace}/%{group_name}.',
    image_url: 'https://x.example',
  }
  const { body } = await send('POST', of(own), urls, user)
  assert.equal((body as Body)['rendered_link_url'], `https://x.example/${user.username}/.`)
})

test('a project shows its own badges and those of the groups above it, the oldest first, by their whole name', async () => {
  const { make } = world()
  const place = await make.project({ group, visibility: 'public' })
  await make.sql(`delete from badges`)
  const urls = { link_url: 'https://x.example/%{project_id}', image_url: 'https://x.example' }
  const first = await made(top, { ...urls, name: 'Coverage' })
  const second = await made(place, { ...urls, name: 'Coverage' })
  const third = await made(group, { ...urls, name: 'coverage' })
  await made(
    await make.group({ parent: group, visibility: 'public' }).then(async (below) => {
      await make.member(owner, 'owner', { group: below })
      return below
    }),
    urls,
  )
  const list = await world().get(of(place))
  assert.deepEqual(pick(list, 'id'), [first.id, second.id, third.id])
  assert.deepEqual(pick(list, 'kind'), ['group', 'project', 'group'])
  assert.deepEqual(new Set(pick(list, 'rendered_link_url')), new Set([`https://x.example/${place.id}`]))
  assert.equal(list.headers['x-total'], '3')
  assert.deepEqual(pick(await world().get(`${of(place)}?name=Coverage`), 'id'), [first.id, second.id])
  assert.deepEqual(pick(await world().get(`${of(place)}?name=Cover`), 'id'), [])
  assert.deepEqual(pick(await world().get(`${of(place)}?per_page=1&page=2`), 'id'), [second.id])
  assert.deepEqual(pick(await world().get(of(group)), 'id'), [third.id])
})

test('a badge of a group comes out in its first project that the caller sees, and raw where there is none', async () => {
  const { make } = world()
  const home = await make.group({ visibility: 'public' })
  await make.member(owner, 'owner', { group: home })
  const link = 'https://x.example/%{project_name}'
  const badge = await made(home, { link_url: link, image_url: link })
  assert.equal(badge['rendered_link_url'], link)
  const secret = await make.project({ group: home, path: 'secret' })
  await make.project({ group: home, path: 'open', visibility: 'public' })
  const seen = async (as?: Someone): Promise<unknown> =>
    ((await world().get(`${of(home)}/${badge.id}`, as)).body as Body)['rendered_link_url']
  assert.equal(await seen(owner), `https://x.example/${secret.path}`)
  assert.equal(await seen(), 'https://x.example/open')
})

test('a badge shows no commit and no tag without the right to read code', async () => {
  const { make } = world()
  await make.sql(`update projects set visibility = 'private' where id = ${project.id}`)
  const guest = await make.memberOf('guest', { project })
  const badge = await made(project, {
    link_url: 'https://x.example/%{commit_sha}/%{latest_tag}',
    image_url: 'https://x.example',
  })
  const seen = async (as: Someone): Promise<unknown> =>
    ((await world().get(`${of(project)}/${badge.id}`, as)).body as Body)['rendered_link_url']
  assert.equal(await seen(guest), 'https://x.example//')
  assert.equal(await seen(owner), `https://x.example/${sha}/a-later-one`)
  await make.sql(`update projects set visibility = 'public' where id = ${project.id}`)
})

test('an address that is none of the web is refused in the published words, and nothing is kept', async () => {
  const schemes = 'is blocked: Only allowed schemes are http, https'
  const form = 'is blocked: URI is invalid'
  const badge = await made(project, { link_url: 'https://x.example', image_url: 'https://x.example' })
  const before = await contents(world())
  const cases = [
    ['', 'must be a valid URL'],
    ['   ', 'must be a valid URL'],
    ['whatever', schemes],
    ['javascript:alert(1)', schemes],
    ['JavaScript://x.example/%0aalert(1)', schemes],
    ['data:text/html,x', schemes],
    ['//x.example', schemes],
    ['%{project_title}://x.example', schemes],
    ['%{project_title}', schemes],
    ['ftp://x.example', schemes],
    ['https://', form],
    ['https://x.example/a b', form],
    ['https://x.example/\u0001', form],
    ['https://x.example/\njavascript:alert(1)', form],
    ['https://x.example/"><script>', form],
    ['https://-user@x.example', 'is blocked: Username needs to start with an alphanumeric character'],
  ] as const
  for (const [url, text] of cases) {
    const both = { link_url: url, image_url: url }
    const refusal = { message: { link_url: [text], image_url: [text] } }
    const answers = [
      await send('POST', of(project), both),
      await send('PUT', `${of(project)}/${badge.id}`, both),
      await world().call('GET', `${of(project)}/render`, { as: owner, query: both }),
      await send('POST', of(group), both),
    ]
    for (const answer of answers) assert.deepEqual([answer.status, answer.body], [400, refusal], url)
  }
  for (const link_url of [
    'http://localhost:3000/a',
    'http://192.168.0.1/a',
    'http://[::1]/a',
    'https://%{gitlab_server}/%{project_path}',
    'HTTPS://x.example',
  ])
    assert.equal((await send('PUT', `${of(project)}/${badge.id}`, { link_url })).status, 200)
  await send('PUT', `${of(project)}/${badge.id}`, { link_url: 'https://x.example' })
  const stamp = /"updated_at":"[^"]*"/g
  assert.equal((await contents(world())).replaceAll(stamp, ''), before.replaceAll(stamp, ''))
})

test('nothing that a project is called makes an address of another kind or breaks out of it', async () => {
  const { make } = world()
  const odd = await make.project({ group, visibility: 'public' })
  const badge = await made(odd, {
    link_url: 'https://%{project_title}',
    image_url: 'https://x.example/%{project_title}',
  })
  const named = async (name: string): Promise<unknown[]> => {
    await make.sql(`update projects set name = $$${name}$$ where id = ${odd.id}`)
    const body = (await world().get(`${of(odd)}/${badge.id}`)).body as Body
    return [body['rendered_link_url'], body['rendered_image_url']]
  }
  assert.deepEqual(await named('"><script>\u0001'), [
    'https://%{project_title}',
    'https://x.example/%22%3E%3Cscript%3E%01',
  ])
  assert.deepEqual(await named('%{commit_sha}'), [
    'https://%{project_title}',
    'https://x.example/%%7Bcommit_sha%7D',
  ])
})

test('a badge is previewed with its own fields only, and nothing is kept of it', async () => {
  const before = await contents(world())
  const query = { link_url: 'https://x.example/%{project_name}', image_url: 'https://x.example' }
  const answer = await world().call('GET', `${of(project)}/render`, { as: owner, query })
  assert.deepEqual(
    [answer.status, answer.body],
    [
      200,
      {
        name: null,
        ...query,
        rendered_link_url: `https://x.example/${project.path}`,
        rendered_image_url: 'https://x.example',
      },
    ],
  )
  assert.equal(await contents(world()), before)
})

test('a badge is changed field by field and removed; one of a group only through the group', async () => {
  const urls = { link_url: 'https://x.example/a', image_url: 'https://x.example/b' }
  const own = await made(project, urls)
  const path = `${of(project)}/${own.id}`
  const changed = (await send('PUT', path, { name: 'New' })).body as Body
  assert.deepEqual(
    [changed['name'], changed['link_url'], changed['image_url']],
    ['New', urls.link_url, urls.image_url],
  )
  assert.deepEqual((await send('PUT', path, {})).body, changed)
  const later = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' }
  assert.equal((await world().call('DELETE', path, { as: owner, headers: later })).status, 412)
  assert.equal((await send('DELETE', path)).status, 204)
  assert.deepEqual((await world().get(path)).body, { message: '404 Not found' })
  const shared = await made(group, urls)
  const through = `${of(project)}/${shared.id}`
  assert.equal((await send('PUT', through, { name: 'x' })).status, 403)
  assert.deepEqual((await send('DELETE', through)).body, { message: '403 Forbidden' })
  assert.equal((await world().get(through)).status, 200)
  const there = `${of(group)}/${shared.id}`
  assert.equal((await world().call('DELETE', there, { as: owner, headers: later })).status, 412)
  assert.equal((await send('DELETE', there)).status, 204)
  assert.equal((await world().get(through)).status, 404)
})

test('a hundred badges cost as many statements and questions to git as one', async () => {
  const { make } = world()
  const add = (count: number): Promise<void> =>
    make.sql(`insert into badges (project_id, link_url, image_url)
      select ${project.id}, 'https://x.example/%{commit_sha}%{latest_tag}%{group_name}' || i, 'https://x.example'
        from generate_series(1, ${count}) i`)
  await make.sql('delete from badges')
  const repository = world().opened.instance.git.repository(repositoryPath(project.id))
  const [ref, sortedRefs] = [repository.ref.bind(repository), repository.sortedRefs.bind(repository)]
  let asked = 0
  Object.assign(repository, {
    ref: (name: string) => (asked++, ref(name)),
    sortedRefs: (...args: Parameters<typeof sortedRefs>) => (asked++, sortedRefs(...args)),
  })
  for (const [more, rows] of [
    [1, 1],
    [99, 100],
  ] as const) {
    await add(more)
    asked = 0
    const sent = await world().statements(async () =>
      assert.equal(listOf(await world().get(`${of(project)}?per_page=100`)).length, rows),
    )
    assert.deepEqual([sent.length, asked], [3, 2])
  }
  Object.assign(repository, { ref, sortedRefs })
})
