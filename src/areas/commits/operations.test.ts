import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  COMMITS,
  writeSmallHistory,
  type CommitName,
  type SmallHistory,
} from '../../../test/support/small_history.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'
import { gitText, initRepository, scratch } from '../../../test/support/git_fixtures.ts'
import type { Project } from '../../db/schema/tables.ts'

let world: World
let history: SmallHistory
let project: Project
before(async () => {
  world = await openWorld()
  history = writeSmallHistory()
  project = await world.make.project({ visibility: 'public', repository: history.directory })
})
after(() => world.close())

type Query = Record<string, string>
const list = (query: Query = {}, of = project): Promise<Answered> =>
  world.call('GET', `/projects/${of.id}/repository/commits`, { query })
/** The names of the commits that a list shows, or the whole hash of one that has none. */
async function listed(query: Query): Promise<string[]> {
  const answer = await list(query)
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as { id: string }[]).map(({ id }) => nameOf(id))
}
const nameOf = (id: string): string => COMMITS.find((name) => history.sha[name] === id) ?? id
const NEWEST_FIRST: readonly CommitName[] = COMMITS.toReversed()

async function expectAll(rows: readonly (readonly [Query, readonly string[]])[]): Promise<void> {
  for (const [query, names] of rows) assert.deepEqual(await listed(query), names, JSON.stringify(query))
}

test('a commit of a list is shown in whole, in its own zone', async () => {
  const answer = await list({ per_page: '7' })
  const { sha } = history
  const byName = Object.fromEntries((answer.body as { id: string }[]).map((item) => [nameOf(item.id), item]))
  assert.deepEqual(byName['source'], {
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
  type Item = { parent_ids: string[]; title: string; message: string; created_at: string }
  const shown = (name: string): Item => byName[name] as unknown as Item
  assert.deepEqual(shown('root').parent_ids, [])
  assert.deepEqual(shown('merge').parent_ids, [sha.change, sha.readme])
  assert.deepEqual([shown('empty').title, shown('empty').message], ['Nothing', 'Nothing'])
  assert.equal(shown('change').title, 'Change the source')
  assert.equal(shown('docs').created_at, '2024-01-10T06:30:00.000-07:30')
  assert.equal(shown('empty').created_at, '2024-01-10T23:45:00.000+05:45')
})

test('history comes newest first, by lines of it, or along the first parents', async () => {
  const lines = ['empty', 'merge', 'readme', 'docs', 'change', 'source', 'root']
  await expectAll([
    [{}, NEWEST_FIRST],
    [{ order: 'default' }, NEWEST_FIRST],
    [{ order: 'topo' }, lines],
    [{ first_parent: 'true' }, ['empty', 'merge', 'change', 'source', 'root']],
    [{ first_parent: 'True', order: 'topo' }, ['empty', 'merge', 'change', 'source', 'root']],
    [{ first_parent: 'false' }, NEWEST_FIRST],
  ])
})

test('a list starts at a branch, a tag, a hash or the default branch', async () => {
  const { sha } = history
  const login = ['readme', 'docs', 'source', 'root']
  await expectAll([
    [{ ref_name: '' }, NEWEST_FIRST],
    [{ ref_name: 'HEAD' }, NEWEST_FIRST],
    [{ ref_name: 'main' }, NEWEST_FIRST],
    [{ ref_name: 'refs/heads/main' }, NEWEST_FIRST],
    [{ ref_name: 'feature/login' }, login],
    [{ ref_name: 'v1.0' }, ['change', 'source', 'root']],
    [{ ref_name: 'v2.0' }, NEWEST_FIRST.slice(1)],
    [{ ref_name: 'release/1' }, ['docs', 'source', 'root']],
    [{ ref_name: sha.readme }, login],
    [{ ref_name: sha.readme.slice(0, 8) }, login],
    [{ ref_name: sha.readme.toUpperCase() }, login],
  ])
})

test('a range lists what its right side has and its left side lacks', async () => {
  const { sha } = history
  await expectAll([
    [{ ref_name: 'v1.0..main' }, ['empty', 'merge', 'readme', 'docs']],
    [{ ref_name: 'v1.0..feature/login' }, ['readme', 'docs']],
    [{ ref_name: 'feature/login..v1.0' }, ['change']],
    [{ ref_name: `${sha.source}..${sha.docs}` }, ['docs']],
    [{ ref_name: 'v2.0..' }, ['empty']],
    [{ ref_name: '..v2.0' }, []],
    [{ ref_name: 'main..main' }, []],
    [{ ref_name: 'v1.0..main', first_parent: 'true' }, ['empty', 'merge']],
    [{ ref_name: 'main^..main' }, ['empty']],
    [{ ref_name: 'v1.0...feature/login' }, ['readme', 'change', 'docs']],
    [{ ref_name: 'feature/login...v1.0' }, ['readme', 'change', 'docs']],
    [{ ref_name: 'main~1' }, NEWEST_FIRST.slice(1)],
    [{ ref_name: '@' }, NEWEST_FIRST],
    [{ ref_name: 'main...gone' }, []],
    [{ ref_name: 'gone..main' }, []],
    [{ ref_name: 'main..gone' }, []],
  ])
})

test('a name that means no commit lists nothing, and no expression is evaluated', async () => {
  const names =
    'gone 0000000000000000000000000000000000000000 HEAD~99 main^9 main@{1} :/Begin HEAD^{/x} a..b..c'
  for (const ref_name of [...names.split(' '), 'refs/heads', 'x'.repeat(2_000)])
    assert.deepEqual(await listed({ ref_name }), [], ref_name)
})

test('a name that starts with a dash or holds a blank is refused', async () => {
  for (const ref_name of ['-', '--all', '-q', '--output=/tmp/x', 'a b', ' main', 'main ', 'a\tb', 'a\nb']) {
    const answer = await list({ ref_name })
    assert.deepEqual([answer.status, answer.body], [400, { message: 'ref_name is invalid' }], ref_name)
  }
})

test('all of history is every branch and tag, whatever name is given', async () => {
  await expectAll([
    [{ all: 'true' }, NEWEST_FIRST],
    [{ all: 'true', ref_name: 'v1.0' }, NEWEST_FIRST],
    [{ all: 'true', ref_name: 'gone' }, NEWEST_FIRST],
    [{ all: 'false', ref_name: 'v1.0' }, ['change', 'source', 'root']],
    [{ all: '1', first_parent: 'true', path: 'docs' }, ['merge', 'docs']],
  ])
})

test('since and until are inclusive, in any zone', async () => {
  const bound = (since: string, until: string): Query => ({
    ...(since && { since }),
    ...(until && { until }),
  })
  await expectAll([
    [bound('2024-01-10T16:00:00Z', ''), ['empty', 'merge', 'readme']],
    [bound('2024-01-10T16:00:00.001Z', ''), ['empty', 'merge']],
    [bound('2024-01-10T18:00:00+02:00', ''), ['empty', 'merge', 'readme']],
    [bound('', '2024-01-10T13:00:00Z'), ['source', 'root']],
    [bound('', '2024-01-10T12:59:59.999Z'), ['root']],
    [bound('2024-01-10T13:00:00Z', '2024-01-10T14:00:00Z'), ['docs', 'source']],
    [bound('2024-01-10', '2024-01-11'), NEWEST_FIRST],
    [bound('2024-01-11', ''), []],
    [bound('', '2024-01-10'), []],
    [bound('1900-01-01T00:00:00Z', '9999-12-31T23:59:59Z'), NEWEST_FIRST],
    [bound('2024-01-10T15:00:00Z', '2024-01-10T13:00:00Z'), []],
    [{ since: '', until: '' }, NEWEST_FIRST],
  ])
})

test('a moment without a zone is in UTC, wherever the server stands', async (t) => {
  const zone = process.env['TZ']
  t.after(() => (zone === undefined ? delete process.env['TZ'] : (process.env['TZ'] = zone)))
  process.env['TZ'] = 'America/New_York'
  assert.equal(new Date('2024-01-10T13:00:00').toISOString(), '2024-01-10T18:00:00.000Z')
  await expectAll([
    [{ since: '2024-01-10T13:00:00', until: '2024-01-10 14:00:00' }, ['docs', 'source']],
    [{ since: '2024-01-10T13:00', until: '2024-01-10T14:00:00.000' }, ['docs', 'source']],
    [{ since: '2024-01-10T13:00:00+0000', until: '2024-01-10t14:00:00z' }, ['docs', 'source']],
    [{ until: '2024-01-10T08:00:00-05:00' }, ['source', 'root']],
    [{ since: '2024-01-10', until: '2024-01-11' }, NEWEST_FIRST],
  ])
})

test('a path keeps the commits that changed it, taken to the letter', async () => {
  await expectAll([
    [{ path: 'README' }, ['readme', 'root']],
    [{ path: '/README' }, ['readme', 'root']],
    [{ path: 'src' }, ['change', 'source']],
    [{ path: 'src/' }, ['change', 'source']],
    [{ path: 'src/a.ts', ref_name: 'feature/login' }, ['source']],
    [{ path: 'docs/ümläut.md' }, ['docs']],
    [{ path: '*.glob' }, ['source']],
    [{ path: '*' }, []],
    [{ path: ':(glob)**' }, []],
    [{ path: ':(exclude)README' }, []],
    [{ path: '../README' }, []],
    [{ path: 'gone' }, []],
    [{ path: '' }, NEWEST_FIRST],
  ])
})

test('a file is followed over its renames on request', async () => {
  const directory = join(scratch(), 'renames.git')
  initRepository(directory)
  let parent: string[] = []
  const shas: string[] = []
  for (const [path, extra] of [
    ['before', ''],
    ['before', 'b\n'],
    ['after', 'b\n'],
    ['after', 'b\nc\n'],
  ] as const) {
    const text = `${Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n')}\n${extra}`
    const blob = gitText(directory, ['hash-object', '-w', '--stdin'], text)
    const tree = gitText(directory, ['mktree'], `100644 blob ${blob}\t${path}\n`)
    const sha = gitText(directory, ['commit-tree', '-m', path, ...parent, tree])
    parent = ['-p', sha]
    shas.unshift(sha)
  }
  gitText(directory, ['update-ref', 'refs/heads/main', shas[0] ?? ''])
  const renamed = await world.make.project({ visibility: 'public', repository: directory })
  const told = async (query: Query): Promise<unknown> =>
    ((await list({ path: 'after', ...query }, renamed)).body as { id: string }[]).map(({ id }) => id)
  assert.deepEqual(await told({}), shas.slice(0, 2))
  assert.deepEqual(await told({ follow: 'true' }), shas)
  assert.deepEqual(await told({ follow: 'true', per_page: '2', page: '2' }), shas.slice(2))
})

test('an author is looked for in name and address, in any case and to the letter', async () => {
  await expectAll([
    [{ author: 'Ada Lovelace' }, ['merge', 'change', 'root']],
    [{ author: 'ADA@example.org' }, ['merge', 'change', 'root']],
    [{ author: 'ada lovelace <ada@example.org>' }, ['merge', 'change', 'root']],
    [{ author: 'Groß' }, ['readme', 'source']],
    [{ author: '山田' }, ['docs']],
    [{ author: '(a+)+$' }, ['empty']],
    [{ author: '.*' }, []],
    [{ author: 'C. Ommitter' }, []],
    [{ author: 'x'.repeat(3_000) }, []],
    [{ author: '' }, NEWEST_FIRST],
  ])
})

test('filters hold together', async () => {
  await expectAll([
    [{ author: 'ada', path: 'src' }, ['change']],
    [{ author: 'ada', since: '2024-01-10T13:00:00Z', ref_name: 'v1.0' }, ['change']],
    [{ path: 'README', until: '2024-01-10T12:00:00Z', all: 'true' }, ['root']],
    [{ author: 'Jürgen', first_parent: 'true' }, ['source']],
  ])
})

test('lines are counted only on request, a merge against its first parent', async () => {
  const plain = (await list()).body as object[]
  for (const item of plain) assert.ok(!('stats' in item))
  const counted = (await list({ with_stats: 'true' })).body as { id: string; stats: object }[]
  assert.deepEqual(Object.fromEntries(counted.map(({ id, stats }) => [nameOf(id), stats])), {
    root: { additions: 2, deletions: 0, total: 2 },
    source: { additions: 4, deletions: 0, total: 4 },
    docs: { additions: 1, deletions: 0, total: 1 },
    change: { additions: 1, deletions: 1, total: 2 },
    readme: { additions: 1, deletions: 0, total: 1 },
    merge: { additions: 2, deletions: 0, total: 2 },
    empty: { additions: 0, deletions: 0, total: 0 },
  })
  assert.deepEqual(
    counted.map(({ stats: _stats, ...rest }) => rest),
    plain,
  )
})

test('trailers are parsed only on request, the last of a repeated key and all of them', async () => {
  const shown = async (trailers: string): Promise<unknown> => {
    const [item] = (await list({ ref_name: 'v1.0', per_page: '1', trailers })).body as Record<
      string,
      unknown
    >[]
    return [item?.['trailers'], item?.['extended_trailers']]
  }
  assert.deepEqual(await shown('false'), [{}, {}])
  assert.deepEqual(await shown('true'), [
    { 'Reviewed-by': 'C <c@x>', Changelog: 'added' },
    { 'Reviewed-by': ['B <b@x>', 'C <c@x>'], Changelog: ['added'] },
  ])
})
