import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCode, type Code } from '../../../test/support/code.ts'
import { gitLines, gitText } from '../../../test/support/git_fixtures.ts'
import { COMMITS } from '../../../test/support/small_history.ts'
import type { Answered } from '../../../test/support/world.ts'

let code: Code
before(async () => {
  code = await openCode()
  for (const name of ['b/2', 'b/10', 'ümlaut', 'z'])
    gitText(code.directory, ['branch', name, code.history.sha.readme])
  gitText(code.directory, ['update-ref', 'refs/keep/x', code.history.sha.empty])
})
after(() => code.world.close())

const get = (rev: string, rest: string): Promise<Answered> =>
  code.world.get(
    `/projects/${code.project.id}/repository/commits/${encodeURIComponent(rev)}/${rest}`,
    code.developer,
  )

/** Branches, then tags, as git itself tells. */
const containing = (sha: string, kinds: readonly ('branch' | 'tag')[]): object[] =>
  kinds.flatMap((type) => {
    const place = type === 'branch' ? 'refs/heads' : 'refs/tags'
    return gitLines(code.directory, [
      'for-each-ref',
      '--contains',
      sha,
      '--format=%(refname:lstrip=2)',
      place,
    ]).map((name) => ({ type, name }))
  })

test('a commit tells which branches and tags hold it', async () => {
  for (const name of COMMITS) {
    const sha = code.history.sha[name]
    for (const [query, kinds] of [
      ['', ['branch', 'tag']],
      ['?type=all', ['branch', 'tag']],
      ['?type=branch', ['branch']],
      ['?type=tag', ['tag']],
    ] as const) {
      const answer = await get(sha, `refs${query}`)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(answer.body, containing(sha, kinds), `${name} ${query}`)
    }
  }
  assert.deepEqual((await get('v1.0', 'refs')).body, [
    { type: 'branch', name: 'main' },
    { type: 'tag', name: 'v1.0' },
    { type: 'tag', name: 'v2.0' },
  ])
})

test('references come in pages, without totals', async () => {
  const all = containing(code.history.sha.root, ['branch', 'tag'])
  assert.equal(all.length, 9)
  const second = await get(code.history.sha.root, 'refs?per_page=4&page=2')
  assert.deepEqual(second.body, all.slice(4, 8))
  const {
    'x-page': page,
    'x-per-page': size,
    'x-next-page': next,
    'x-prev-page': prev,
    'x-total': total,
    'x-total-pages': pages,
  } = second.headers
  assert.deepEqual([page, size, next, prev, total, pages], ['2', '4', '3', '1', undefined, undefined])
  assert.ok(!String(second.headers.link).includes('rel="last"'))
  assert.deepEqual((await get(code.history.sha.root, 'refs?per_page=4&page=4')).body, [])
})

test('a commit tells how many there are up to it', async () => {
  for (const name of COMMITS) {
    const sha = code.history.sha[name]
    for (const [query, args] of [
      ['', []],
      ['?first_parent=false', []],
      ['?first_parent=true', ['--first-parent']],
    ] as const) {
      const answer = await get(sha, `sequence${query}`)
      assert.deepEqual(
        [answer.status, answer.body],
        [200, { count: Number(gitText(code.directory, ['rev-list', '--count', ...args, sha])) }],
      )
    }
  }
  assert.deepEqual((await get('main', 'sequence')).body, { count: 7 })
  assert.deepEqual((await get('main', 'sequence?first_parent=1')).body, { count: 5 })
})

test('invalid requests are refused in the published order', async () => {
  for (const rest of ['refs', 'sequence'])
    for (const rev of ['gone', '0'.repeat(40), 'main~99', '--all']) {
      const answer = await get(rev, rest)
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 Commit Not Found' }], rev)
    }
  const rows: [string, string][] = [
    ['refs?type=remote', 'type does not have a valid value'],
    ['refs?page=0', 'page does not have a valid value'],
    ['refs?per_page=-1', 'per_page does not have a valid value'],
    ['sequence?first_parent=perhaps', 'first_parent is invalid'],
  ]
  for (const [rest, error] of rows)
    for (const rev of ['main', 'gone']) {
      const answer = await get(rev, rest)
      assert.deepEqual([answer.status, answer.body], [400, { error }], rest)
    }
})

test('each costs one statement', async () => {
  for (const rest of ['refs', 'sequence', 'refs?per_page=1']) {
    await get('main', rest)
    assert.equal((await code.world.statements(() => get('main', rest))).length, 1, rest)
  }
})
