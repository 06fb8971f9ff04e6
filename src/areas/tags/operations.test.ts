import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gitText } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let developer: Someone
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  developer = await make.user({ name: 'Dé <v>', email: 'dev@example.com' })
})

async function fresh(visibility: 'public' | 'private' = 'public'): Promise<Project> {
  const { make } = world()
  const project = await make.project({ visibility, repository: history.directory })
  await make.member(developer, 'developer', { project })
  return project
}
const path = (project: { id: number }, name = ''): string =>
  `/projects/${project.id}/repository/tags${name === '' ? '' : `/${encodeURIComponent(name)}`}`
const git = (project: Project, ...args: string[]): string =>
  gitText(world().opened.instance.git.directory(repositoryPath(project.id)), args)
const names = ({ body }: Answered): string[] => (body as { name: string }[]).map(({ name }) => name)
const create = (project: Project, body: object, as: Someone | undefined = developer): Promise<Answered> =>
  world().call('POST', path(project), { as, body })

test('a tag is told in whole, with its message where it has one', async () => {
  const project = await fresh()
  const { sha } = history
  const plain = (await world().get(path(project, 'v1.0'))).body as { commit: Record<string, unknown> }
  assert.deepEqual(plain, {
    name: 'v1.0',
    message: null,
    target: sha.change,
    commit: plain.commit,
    release: null,
    protected: false,
    created_at: null,
  })
  assert.deepEqual(
    [plain.commit['id'], plain.commit['title'], plain.commit['parent_ids'], plain.commit['web_url']],
    [
      sha.change,
      'Change the source',
      [sha.source],
      `https://guild.example/${project.full_path}/-/commit/${sha.change}`,
    ],
  )
  const annotated = (await world().get(path(project, 'v2.0'))).body as Record<string, unknown>
  assert.deepEqual(
    [annotated['message'], annotated['target'], (annotated['commit'] as { id: string }).id],
    ['two', git(project, 'rev-parse', 'refs/tags/v2.0'), sha.merge],
  )
  assert.match(String(annotated['created_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000\+00:00$/)
  assert.notEqual(annotated['target'], sha.merge)
})

test('tags are ordered by date, name or version, searched and paged', async () => {
  const project = await fresh()
  for (const name of ['v1.10', 'v1.9', 'ä'])
    assert.equal((await create(project, { tag_name: name, ref: history.sha.root })).status, 201)
  const rows: [string, string[]][] = [
    ['?order_by=name&sort=asc', ['release/1', 'v1.0', 'v1.10', 'v1.9', 'v2.0', 'ä']],
    ['?order_by=name', ['ä', 'v2.0', 'v1.9', 'v1.10', 'v1.0', 'release/1']],
    ['?order_by=version&sort=asc&search=^v', ['v1.0', 'v1.9', 'v1.10', 'v2.0']],
    ['?search=RELEASE', ['release/1']],
    ['?search=0$&order_by=name&sort=asc', ['v1.0', 'v1.10', 'v2.0']],
    ['?order_by=name&sort=asc&per_page=2&page=2', ['v1.10', 'v1.9']],
  ]
  for (const [query, expected] of rows)
    assert.deepEqual(names(await world().get(path(project) + query)), expected, query)
  const newest = await world().get(path(project))
  assert.deepEqual([names(newest)[0], newest.headers['x-total']], ['v2.0', '6'])
  assert.deepEqual(names(newest).slice(1, 3), ['v1.0', 'release/1'])
  // Tags of one date follow by name in both directions.
  const byGit = (sort: string): string[] =>
    git(project, 'for-each-ref', `--sort=${sort}`, '--format=%(refname:strip=2)', 'refs/tags').split('\n')
  assert.deepEqual(names(newest), byGit('-creatordate'))
  assert.deepEqual(names(await world().get(`${path(project)}?sort=asc`)), byGit('creatordate'))
  assert.deepEqual((await world().get(`${path(project)}?order_by=size`)).body, {
    error: 'order_by does not have a valid value',
  })
})

test('tags of trees, of files and of tags are told too', async () => {
  const project = await fresh()
  git(project, 'tag', 'tree', 'main^{tree}')
  git(project, 'tag', 'file', 'main:README')
  git(project, 'tag', '-m', 'outer', 'nested', 'v2.0')
  const shown = async (name: string): Promise<unknown[]> => {
    const tag = (await world().get(path(project, name))).body as {
      message: unknown
      commit: { id: string } | null
    }
    return [tag.message, tag.commit?.id]
  }
  assert.deepEqual(await shown('tree'), [null, undefined])
  assert.deepEqual(await shown('file'), [null, undefined])
  assert.deepEqual(await shown('nested'), ['outer', history.sha.merge])
  assert.equal(names(await world().get(path(project))).length, 6)
})

test('a tag is made plain, or annotated by who makes it, and removed', async () => {
  const project = await fresh()
  const before = git(project, 'for-each-ref')
  const plain = await create(project, { tag_name: 'p/ä', ref: 'v2.0' })
  assert.equal(plain.status, 201, plain.text)
  assert.equal((plain.body as { target: string }).target, history.sha.merge)
  const noted = await create(project, { tag_name: 'noted', ref: 'main', message: 'Über\n\nalles' })
  assert.equal(noted.status, 201, noted.text)
  assert.deepEqual(noted.body, (await world().get(path(project, 'noted'))).body)
  assert.equal((noted.body as { message: string }).message, 'Über\n\nalles')
  const lines = git(project, 'cat-file', 'tag', 'noted').split('\n')
  assert.deepEqual(lines.slice(0, 3), [`object ${history.sha.empty}`, 'type commit', 'tag noted'])
  assert.match(lines[3] ?? '', /^tagger Dé v <dev@example.com> \d+ \+0000$/)
  assert.deepEqual(lines.slice(4), ['', 'Über', '', 'alles'])
  assert.equal(git(project, 'fsck', '--strict'), '')
  for (const name of ['p/ä', 'noted']) {
    const answer = await world().call('DELETE', path(project, name), { as: developer })
    assert.deepEqual([answer.status, answer.text], [204, ''])
  }
  assert.equal(git(project, 'for-each-ref'), before)
})

test('an invalid tag is refused and moves no ref', async () => {
  const project = await fresh()
  const before = git(project, 'for-each-ref')
  const rows: [object, unknown][] = [
    [{ ref: 'main' }, { error: 'tag_name is missing' }],
    [{ tag_name: 'x' }, { error: 'ref is missing' }],
    [{ tag_name: 'v1.0', ref: 'main' }, { message: 'Tag v1.0 already exists' }],
    [
      { tag_name: 'main', ref: history.sha.root },
      { message: 'You cannot use default branch name to create a tag' },
    ],
    [{ tag_name: 'x', ref: 'gone' }, { message: 'Target gone is invalid' }],
    [{ tag_name: 'x', ref: '--all' }, { message: 'Target --all is invalid' }],
    ...['', 'a b', '--x', 'a..b', 'release', 'v1.0/x', 'HEAD', 'f'.repeat(40)].map(
      (name): [object, unknown] => [{ tag_name: name, ref: 'main' }, { message: 'Tag name invalid' }],
    ),
    [{ tag_name: 'x', ref: 'main', message: 'a\0b' }, { error: 'message is invalid' }],
  ]
  for (const [body, refusal] of rows) {
    const answer = await create(project, body)
    assert.deepEqual([answer.status, answer.body], [400, refusal], JSON.stringify(body))
  }
  assert.equal(git(project, 'for-each-ref'), before)
})

test('tags that are not there, and repositories without any', async () => {
  const project = await fresh()
  for (const name of ['gone', 'main', '--x', 'release'])
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await world().call(method, path(project, name), { as: developer })
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 Tag Not Found' }], name)
    }
  const signature = await world().get(`${path(project, 'v2.0')}/signature`)
  assert.deepEqual([signature.status, signature.body], [404, { message: '404 Signature Not Found' }])
  const empty = await world().make.project({ visibility: 'public', repository: 'empty' })
  assert.deepEqual((await world().get(path(empty))).body, [])
  const none = await world().make.project({ visibility: 'public' })
  assert.deepEqual((await world().get(path(none))).body, { message: '404 Repository Not Found' })
})

test('a tag never stands in for the default branch that is named like it', async () => {
  const project = await fresh()
  const { sha } = history
  // As an import brings it, or a push into a project whose default branch changes afterwards.
  git(project, 'tag', 'main', sha.root)
  const tip = git(project, 'rev-parse', 'refs/heads/main')
  const at = `/projects/${project.id}/repository`
  for (const read of [
    'commits/main',
    'commits?ref_name=main',
    'commits',
    `compare?from=${sha.root}&to=main`,
  ]) {
    const { body } = await world().get(`${at}/${read}`)
    const first = Array.isArray(body)
      ? (body as unknown[])[0]
      : ((body as { commit?: unknown }).commit ?? body)
    assert.equal((first as { id?: string } | null)?.id, tip, read)
  }
  const file = (await world().get(`${at}/files/README?ref=main`)).body as { commit_id: string }
  assert.equal(file.commit_id, tip)
  for (const read of ['archive.tar', 'archive.tar?sha=main']) {
    const { headers } = await world().get(`${at}/${read}`)
    assert.match(String(headers['content-disposition']), new RegExp(`-main-${tip}\\.tar`), read)
  }
  const made = await world().call('POST', `${at}/branches`, {
    as: developer,
    body: { branch: 'b', ref: 'main' },
  })
  assert.equal((made.body as { commit: { id: string } }).commit.id, tip)
  const tagged = (await world().get(`${at}/commits/refs%2Ftags%2Fmain`)).body as { id: string }
  assert.equal(tagged.id, sha.root, 'by its full name the tag is there')
})

test('it takes a Developer to make and remove tags', async () => {
  const { make, call } = world()
  const project = await fresh('private')
  for (const role of ['guest', 'planner', 'reporter'] as const) {
    const as = await make.memberOf(role, { project })
    for (const answer of [
      await create(project, { tag_name: 'x', ref: 'main' }, as),
      await call('DELETE', path(project, 'v1.0'), { as }),
    ])
      assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }], role)
    assert.equal((await world().get(path(project), as)).status, role === 'reporter' ? 200 : 403)
  }
  const open = await fresh()
  const nobody = await call('POST', path(open), { body: { tag_name: 'x', ref: 'main' } })
  assert.deepEqual([nobody.status, nobody.body], [401, { message: '401 Unauthorized' }])
})

test('a tag whose commit changed since the caller looked stays', async () => {
  const project = await fresh()
  const since = (when: string): Promise<Answered> =>
    world().call('DELETE', path(project, 'v1.0'), { as: developer, headers: { 'if-unmodified-since': when } })
  assert.equal((await since('Mon, 01 Jan 2024 00:00:00 GMT')).status, 412)
  assert.equal((await since('Wed, 01 Jan 2025 00:00:00 GMT')).status, 204)
})
