import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let author: Someone
let project: Project
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  author = await make.user({ name: 'Ada' })
  project = await make.project({ visibility: 'public', repository: history.directory })
})
const path = (rev: string, of = project): string =>
  `/projects/${of.id}/repository/commits/${encodeURIComponent(rev)}/comments`
const comment = (rev: string, body: object, as: Someone | undefined = author): Promise<Answered> =>
  world().call('POST', path(rev), { as, body })

test('a comment stands on a commit, whatever name the commit is called by', async () => {
  const answer = await comment('v1.0', { note: 'Looks **good** — Grüße' })
  assert.equal(answer.status, 201, answer.text)
  const { created_at, ...rest } = answer.body as { created_at: string }
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, {
    note: 'Looks **good** — Grüße',
    path: null,
    line: null,
    line_type: null,
    author: {
      id: author.id,
      username: author.username,
      name: 'Ada',
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: `https://guild.example/${author.username}`,
    },
  })
  assert.deepEqual((await world().get(path(history.sha.change))).body, [answer.body])
  assert.deepEqual((await world().get(path(history.sha.root))).body, [])
})

test('a comment stands on a line only where the commit adds or removes it', async () => {
  const { sha } = history
  // The commit `change` turns line 2 of src/a.ts into another.
  const rows: [object, (string | number | null)[]][] = [
    [{ path: 'src/a.ts', line: 2 }, ['src/a.ts', 2, 'new']],
    [{ path: 'src/a.ts', line: 2, line_type: 'old' }, ['src/a.ts', 2, 'old']],
    [{ path: 'src/a.ts', line: 1 }, [null, null, null]],
    [{ path: 'src/a.ts', line: 99 }, [null, null, null]],
    [{ path: 'README', line: 1 }, [null, null, null]],
    [{ path: '../x', line: 1 }, [null, null, null]],
  ]
  for (const [at, expected] of rows) {
    const answer = await comment(sha.change, { note: 'x', ...at })
    assert.equal(answer.status, 201, answer.text)
    const shown = answer.body as { path: unknown; line: unknown; line_type: unknown }
    assert.deepEqual([shown.path, shown.line, shown.line_type], expected)
  }
  const merged = await comment('main', { note: 'x', path: 'docs/ümläut.md', line: 1 })
  assert.equal((merged.body as { path: null }).path, null, 'nothing is changed by an empty commit')
  const merge = await comment(sha.merge, { note: 'x', path: 'docs/ümläut.md', line: 1 })
  assert.equal((merge.body as { path: string }).path, 'docs/ümläut.md')
})

test('comments are listed oldest first, by pages, at the same cost', async () => {
  const { sha } = history
  const cost = async (): Promise<number> =>
    (await world().statements(() => world().get(path(sha.docs, project)))).length
  await comment(sha.docs, { note: '0' })
  const one = await cost()
  for (let i = 1; i < 5; i += 1) await comment(sha.docs, { note: String(i) })
  assert.equal(await cost(), one)
  const page = await world().get(`${path(sha.docs)}?per_page=2&page=2`)
  assert.deepEqual(
    (page.body as { note: string }[]).map(({ note }) => note),
    ['2', '3'],
  )
  assert.deepEqual([page.headers['x-total'], page.headers['x-next-page']], ['5', '3'])
})

test('nonsense is refused and changes nothing', async () => {
  const before = await contents(world())
  const rows: [object, unknown][] = [
    [{}, { error: 'note is missing' }],
    [{ note: 'x', path: 'README' }, { error: 'line is missing' }],
    [{ note: 'x', path: 'README', line: 'x' }, { error: 'line is invalid' }],
    [
      { note: 'x', path: 'README', line: 1, line_type: 'both' },
      { error: 'line_type does not have a valid value' },
    ],
    [{ note: ' \n' }, { message: `Failed to save note {:note=>["can't be blank"]}` }],
    [{ note: 'a\0b' }, { error: 'note is invalid' }],
  ]
  for (const [body, refusal] of rows) {
    const answer = await comment('main', body)
    assert.deepEqual([answer.status, answer.body], [400, refusal])
  }
  assert.deepEqual((await comment('gone', { note: 'x' })).body, { message: '404 Commit Not Found' })
  assert.deepEqual((await world().call('POST', path('main'), { body: { note: 'x' } })).body, {
    message: '401 Unauthorized',
  })
  assert.equal(await contents(world()), before)
})

test('the right to read code gives the right to comment on commits', async () => {
  const { make } = world()
  const hidden = await make.project({ visibility: 'private', repository: history.directory })
  const least: [RoleName, number][] = [
    ['guest', 403],
    ['planner', 403],
    ['reporter', 201],
    ['developer', 201],
  ]
  for (const [role, status] of least) {
    const as = await make.memberOf(role, { project: hidden })
    const answer = await world().call('POST', path('main', hidden), { as, body: { note: role } })
    assert.equal(answer.status, status, role)
  }
  const outside = await world().call('POST', path('main', hidden), { as: author, body: { note: 'x' } })
  assert.deepEqual([outside.status, outside.body], [404, { message: '404 Project Not Found' }])
})

test('comments from before notes were notes are shown as they were', async () => {
  const { make } = world()
  const old = await make.project({ visibility: 'public', repository: history.directory })
  const sha = history.sha.change
  const read = (name: string): Promise<string> =>
    readFile(new URL(`../../db/migrations/${name}`, import.meta.url), 'utf8')
  const [table = ''] = /create table commit_notes[^;]*;/.exec(await read('0003_commit_statuses.sql')) ?? []
  await make.sql(`
    ${table}
    insert into commit_notes (project_id, author_id, sha, note, path, line, line_type, created_at)
      values (${old.id}, ${author.id}, '${sha}', 'whole', null, null, null, '2024-01-02T03:04:05Z'),
             (${old.id}, ${author.id}, '${sha}', 'new', 'src/a.ts', 2, 'new', '2024-01-03T03:04:05Z'),
             (${old.id}, null, '${sha}', 'old', 'src/a.ts', 2, 'old', '2024-01-04T03:04:05Z');
    ${await read('0015_conversation.sql')}`)
  const shown = (await world().get(path(sha, old))).body as Record<string, unknown>[]
  assert.deepEqual(
    shown.map((row) => [row['note'], row['path'], row['line'], row['line_type'], row['created_at']]),
    [
      ['whole', null, null, null, '2024-01-02T03:04:05.000Z'],
      ['new', 'src/a.ts', 2, 'new', '2024-01-03T03:04:05.000Z'],
      ['old', 'src/a.ts', 2, 'old', '2024-01-04T03:04:05.000Z'],
    ],
  )
  assert.deepEqual([shown[0]?.['author'] === null, shown[2]?.['author']], [false, null])
})
