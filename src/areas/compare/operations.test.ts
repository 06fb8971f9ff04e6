import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gitLines, gitText } from '../../../test/support/git_fixtures.ts'
import { COMMITS, writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let project: Project
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  project = await make.project({ visibility: 'public', repository: history.directory })
})
const compare = (
  from: string,
  to: string,
  more: Record<string, string> = {},
  of = project,
): Promise<Answered> =>
  world().call('GET', `/projects/${of.id}/repository/compare`, { query: { from, to, ...more } })
interface Shown {
  commit: { id: string } | null
  commits: { id: string; title: string }[]
  diffs: { new_path: string; diff: string }[]
  compare_timeout: boolean
  compare_same_ref: boolean
  web_url: string
}
const shown = async (from: string, to: string, more: Record<string, string> = {}): Promise<Shown> =>
  (await compare(from, to, more)).body as Shown
const nameOf = ({ id }: { id: string }): string => COMMITS.find((name) => history.sha[name] === id) ?? id
const git = (...args: string[]): string[] =>
  gitLines(world().opened.instance.git.directory(repositoryPath(project.id)), args)

test('a comparison tells the commits oldest first, and what they change together', async () => {
  const { sha } = history
  const one = await shown('v1.0', 'feature/login')
  assert.deepEqual(one.commits.map(nameOf), ['docs', 'readme'])
  assert.equal(nameOf(one.commit ?? { id: '' }), 'readme')
  assert.deepEqual(Object.keys(one), [
    'commit',
    'commits',
    'diffs',
    'compare_timeout',
    'compare_same_ref',
    'web_url',
  ])
  assert.deepEqual([one.compare_timeout, one.compare_same_ref], [false, false])
  assert.equal(one.web_url, `https://guild.example/${project.full_path}/-/compare/v1.0...feature/login`)
  assert.deepEqual(
    one.diffs.map(({ new_path, diff }) => [new_path, diff]),
    [
      ['README', '@@ -1,2 +1,3 @@\n one\n two\n+three\n'],
      ['docs/ümläut.md', '@@ -0,0 +1 @@\n+Grüße\n'],
    ],
  )
  const whole = await compare(sha.root, sha.source)
  assert.deepEqual((whole.body as { commits: object[] }).commits[0], {
    id: sha.source,
    short_id: sha.source.slice(0, 8),
    created_at: '2024-01-10T15:00:00.000+02:00',
    parent_ids: [sha.root],
    title: 'Füge Quelltext hinzu',
    message: 'Füge Quelltext hinzu\n',
    author_name: 'Jürgen Groß',
    author_email: 'juergen@straße.example',
    authored_date: '2024-01-09T15:00:00.000+02:00',
    committer_name: 'C. Ommitter',
    committer_email: 'c@example.org',
    committed_date: '2024-01-10T15:00:00.000+02:00',
    trailers: {},
    extended_trailers: {},
    web_url: `https://guild.example/${project.full_path}/-/commit/${sha.source}`,
  })
})

test('straight, the two are compared themselves', async () => {
  const straight = await shown('v1.0', 'feature/login', { straight: 'true', unidiff: 'true' })
  assert.deepEqual(straight.commits.map(nameOf), ['docs', 'readme'])
  assert.equal(straight.web_url, `https://guild.example/${project.full_path}/-/compare/v1.0..feature/login`)
  assert.deepEqual(
    straight.diffs.map(({ new_path }) => new_path),
    ['README', 'docs/ümläut.md', 'src/a.ts'],
  )
  assert.ok(straight.diffs[2]?.diff.startsWith('--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n'))
})

test('every two commits differ as git says', async () => {
  for (const from of COMMITS)
    for (const to of COMMITS) {
      const [a, b] = [history.sha[from], history.sha[to]]
      const one = await shown(a, b)
      assert.deepEqual(
        one.commits.map(({ id }) => id).toReversed(),
        git('rev-list', `${a}..${b}`),
        `${from} ${to}`,
      )
      assert.deepEqual(
        one.diffs.map(({ new_path }) => new_path),
        git('diff', '--name-only', '-z', `${a}...${b}`)
          .join('')
          .split('\0')
          .filter((path) => path !== ''),
        `${from} ${to}`,
      )
      assert.equal(one.compare_same_ref, from === to)
    }
})

test('without anything in common, everything differs', async () => {
  const directory = world().opened.instance.git.directory(repositoryPath(project.id))
  const tree = gitText(directory, ['rev-parse', `${history.sha.root}^{tree}`])
  const other = gitText(directory, ['commit-tree', '-m', 'Elsewhere', tree])
  gitText(directory, ['update-ref', 'refs/heads/other', other])
  const one = await shown('other', 'v1.0')
  assert.deepEqual(one.commits.map(nameOf), ['root', 'source', 'change'])
  assert.deepEqual(
    one.diffs.map(({ new_path }) => new_path),
    ['*.glob', 'src/a.ts'],
  )
  const base = await world().get(`/projects/${project.id}/repository/merge_base?refs[]=other&refs[]=main`)
  assert.deepEqual([base.status, base.body], [404, { message: '404 Merge Base Not Found' }])
})

test('an unknown ref is 404, and both refs are required', async () => {
  for (const [from, to] of [
    ['gone', 'main'],
    ['main', 'gone'],
    ['--all', 'main'],
    ['main', 'main^9'],
    ['main..v1.0', 'main'],
  ] as const) {
    const answer = await compare(from, to)
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Ref Not Found' }], `${from} ${to}`)
  }
  const answer = await world().get(`/projects/${project.id}/repository/compare`)
  assert.deepEqual([answer.status, answer.body], [400, { error: 'from is missing, to is missing' }])
  const empty = await world().make.project({ visibility: 'public', repository: 'empty' })
  assert.equal((await compare('main', 'main', {}, empty)).status, 404)
})

test('where commits parted is found', async () => {
  const base = async (...refs: string[]): Promise<Answered> =>
    world().call('GET', `/projects/${project.id}/repository/merge_base`, { query: { 'refs[]': refs } })
  const name = async (...refs: string[]): Promise<string> =>
    nameOf((await base(...refs)).body as { id: string })
  assert.equal(await name('v1.0', 'feature/login'), 'source')
  assert.equal(await name('main', 'feature/login'), 'readme')
  assert.equal(await name('main', 'feature/login', 'v1.0'), 'readme')
  const { sha } = history
  for (const refs of [
    [sha.docs, sha.change, sha.root],
    [sha.root, sha.docs, sha.change],
    [sha.merge, sha.docs, sha.change],
    [sha.change, sha.merge, sha.docs, sha.source],
  ])
    assert.deepEqual([((await base(...refs)).body as { id: string }).id], git('merge-base', ...refs))
  for (const [refs, message] of [
    [['main', 'gone'], 'Could not find ref: gone'],
    [['gone', 'main', 'main^^^x'], 'Could not find refs: gone, main^^^x'],
    [['main'], 'Provide at least 2 refs'],
  ] as const)
    assert.deepEqual([(await base(...refs)).status, (await base(...refs)).body], [400, { message }])
})

test('a comparison with a fork needs the right to read the fork', async () => {
  const { make } = world()
  const kin = async (visibility: 'public' | 'private'): Promise<Project> => {
    const fork = await make.project({ visibility, repository: history.directory })
    await make.sql(`update projects set forked_from_project_id = ${project.id} where id = ${fork.id}`)
    return fork
  }
  const [fork, secret] = [await kin('public'), await kin('private')]
  const user = await make.memberOf('maintainer', { project: fork })
  await make.member(user, 'maintainer', { project: secret })
  const ahead = async (where: Project): Promise<void> => {
    const actions = [{ action: 'create', file_path: `of-${where.id}`, content: 'x' }]
    const body = { branch: 'ahead', start_branch: 'main', commit_message: 'Ahead', actions }
    const answer = await world().call('POST', `/projects/${where.id}/repository/commits`, { as: user, body })
    assert.equal(answer.status, 201, answer.text)
  }
  await ahead(fork)
  await ahead(secret)
  const ask = async (of: number, from: string, as?: typeof user): Promise<unknown[]> => {
    const query = { from, to: 'main', straight: 'true', from_project_id: String(of) }
    const { status, body } = await world().call('GET', `/projects/${project.id}/repository/compare`, {
      as,
      query,
    })
    return [status, status === 200 ? (body as Shown).diffs.map(({ new_path }) => new_path) : body]
  }
  const NO_REF = [404, { message: '404 Ref Not Found' }]
  assert.deepEqual(await ask(fork.id, 'main'), [200, []])
  assert.deepEqual(await ask(fork.id, 'ahead'), NO_REF, 'nobody has nothing brought')
  assert.deepEqual(await ask(fork.id, 'ahead', user), [200, [`of-${fork.id}`]])
  assert.deepEqual(await ask(project.id, 'main', user), [200, []])
  // Commits of a hidden fork are not copied to where everyone can read them.
  assert.deepEqual(await ask(secret.id, 'main', user), [200, []])
  assert.deepEqual(await ask(secret.id, 'ahead', user), NO_REF)
  const stranger = await make.user()
  const other = await make.project({ visibility: 'public', repository: history.directory })
  for (const id of [secret.id, other.id, 987_654_321])
    assert.deepEqual(await ask(id, 'main', stranger), [
      400,
      { message: `Target project id:${id} is not a fork of project id:${project.id}` },
    ])
})
