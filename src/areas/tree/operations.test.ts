import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gitLines, gitText } from '../../../test/support/git_fixtures.ts'
import { ODD_NAMES, writeOddTree, type OddTree } from '../../../test/support/odd_tree.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let odd: OddTree
let project: Project
let oddProject: Project
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  odd = writeOddTree()
  project = await make.project({ visibility: 'public', repository: history.directory })
  oddProject = await make.project({ visibility: 'public', repository: odd.directory })
})
const list = (query: Record<string, string> = {}, of = project): Promise<Answered> =>
  world().call('GET', `/projects/${of.id}/repository/tree`, { query })
const paths = ({ body }: Answered): string[] => (body as { path: string }[]).map(({ path }) => path)

test('a directory is listed with its directories first', async () => {
  const answer = await list()
  const id = (rev: string): string => gitText(history.directory, ['rev-parse', rev])
  assert.deepEqual(answer.body, [
    { id: id('main:docs'), name: 'docs', type: 'tree', path: 'docs', mode: '040000' },
    { id: id('main:src'), name: 'src', type: 'tree', path: 'src', mode: '040000' },
    { id: id('main:*.glob'), name: '*.glob', type: 'blob', path: '*.glob', mode: '100644' },
    { id: id('main:README'), name: 'README', type: 'blob', path: 'README', mode: '100644' },
  ])
  assert.deepEqual([answer.headers['x-total'], answer.headers['x-total-pages']], ['4', '1'])
  assert.deepEqual(paths(await list({ path: 'docs' })), ['docs/ümläut.md'])
  assert.deepEqual(paths(await list({ path: '/docs/' })), ['docs/ümläut.md'])
  assert.deepEqual(paths(await list({ ref: history.sha.root })), ['README'])
  assert.deepEqual(paths(await list({ ref: 'v1.0', path: 'src' })), ['src/a.ts'])
})

test('links, submodules and programs are shown as what they are, and never followed', async () => {
  const { body } = await list({}, oddProject)
  const kinds = (body as Record<string, string>[]).map(({ name, type, mode, id }) => [name, type, mode, id])
  assert.deepEqual(
    kinds.map(([name, type, mode]) => [name, type, mode]),
    [
      ['bin', 'tree', '040000'],
      ['odd', 'tree', '040000'],
      ['empty', 'blob', '100644'],
      ['large', 'blob', '100644'],
      ['large.txt', 'blob', '100644'],
      ['link', 'blob', '120000'],
      ['module', 'commit', '160000'],
    ],
  )
  assert.equal(kinds.at(-1)?.[3], odd.pointer)
  const bin = (await list({ path: 'bin' }, oddProject)).body as { mode: string }[]
  assert.deepEqual(
    bin.map(({ mode }) => mode),
    ['100644', '100755'],
  )
  for (const path of [
    'link',
    'module',
    'link/etc',
    'empty',
    'gone',
    '../..',
    'bin/../odd',
    '*',
    ':(glob)**',
    'a\0b',
  ]) {
    const answer = await list({ path }, oddProject)
    if (path.includes('\0')) assert.equal(answer.status, 400)
    else
      assert.deepEqual(
        [answer.status, answer.body],
        [404, { message: '404 invalid revision or path Not Found' }],
        path,
      )
  }
})

test('with all below it, a tree is what git lists', async () => {
  const found = await list({ recursive: 'true', per_page: '100' }, oddProject)
  const listed = gitText(odd.directory, ['ls-tree', '-r', '-t', '-z', '--name-only', 'main'])
    .split('\0')
    .filter((path) => path !== '')
  assert.deepEqual(paths(found), listed)
  assert.equal(listed.length, ODD_NAMES.length + 9)
  assert.deepEqual(paths(await list({ recursive: 'true', path: 'odd' }, oddProject)).length, ODD_NAMES.length)
  assert.deepEqual(
    paths(await list({ recursive: 'true' })).toSorted(),
    [...gitLines(history.directory, ['ls-tree', '-r', '-t', '-z', '--name-only', 'main'])]
      .join('')
      .split('\0')
      .filter((path) => path !== '')
      .toSorted(),
  )
})

test('pages by number and by link have everything once', async () => {
  for (const recursive of ['true', 'false'])
    for (const pagination of ['offset', 'keyset']) {
      const first = { recursive, pagination, per_page: '3' }
      const all: string[] = []
      let next: string | undefined =
        `/projects/${oddProject.id}/repository/tree?${new URLSearchParams(first).toString()}`
      for (let turn = 0; next !== undefined && turn < 20; turn += 1) {
        const answer: Answered = await world().get(next)
        all.push(...paths(answer))
        next = /<https:\/\/guild\.example\/api\/v4([^>]*)>; rel="next"/.exec(
          String(answer.headers['link']),
        )?.[1]
        if (pagination === 'keyset') assert.equal(answer.headers['x-page'], undefined)
      }
      const whole = paths(await list({ recursive, per_page: '100' }, oddProject))
      assert.deepEqual(all, whole, `${recursive} ${pagination}`)
    }
  assert.deepEqual(paths(await list({ pagination: 'keyset', per_page: '2', page_token: '2' })), [
    '*.glob',
    'README',
  ])
  for (const page_token of ['x', '-1', '1e9', '9'.repeat(20)]) {
    const answer = await list({ pagination: 'keyset', page_token })
    assert.deepEqual([answer.status, answer.body], [400, { error: 'page_token is invalid' }])
  }
})

test('where there is no commit there is no tree', async () => {
  const { make } = world()
  const empty = await make.project({ visibility: 'public', repository: 'empty' })
  const none = await make.project({ visibility: 'public' })
  for (const answer of [
    await list({}, empty),
    await list({}, none),
    await list({ ref: 'gone' }),
    await list({ ref: '--all' }),
    await list({ ref: 'HEAD:src' }),
  ])
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Tree Not Found' }])
})
