import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertSound, files, openCode, post, stored, tip, type Code } from '../../../test/support/code.ts'
import { gitLines, gitText } from '../../../test/support/git_fixtures.ts'
import { freshenTokens, rowOf } from '../../../test/support/rows.ts'
import type { Answered } from '../../../test/support/world.ts'

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

let count = 0
/** A branch of its own for each case, which starts at main. */
const fresh = (): { branch: string; start_branch: string } => ({
  branch: `case-${(count += 1)}`,
  start_branch: 'main',
})

type Body = Record<string, unknown> & { branch: string }
async function commit(body: Body): Promise<Answered & { sha: string }> {
  const answer = await post(code, code.maintainer, { commit_message: 'A case', ...body })
  assert.equal(answer.status, 201, answer.text)
  const sha = (answer.body as { id: string }).id
  assert.equal(tip(code.directory, body.branch), sha)
  return { ...answer, sha }
}
/** Files of main that the actions changed. */
async function changed(...actions: object[]): Promise<Record<string, string>> {
  const { sha } = await commit({ ...fresh(), actions })
  const before = files(code.directory, 'main')
  const now = files(code.directory, sha)
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (path) => before[path] !== now[path],
  )
  return Object.fromEntries(paths.map((path) => [path, now[path] ?? 'gone']))
}

test('a commit answers with itself in whole', async () => {
  const { maintainer, project, directory } = code
  const parent = tip(directory, 'main')
  const began = Math.floor(Date.now() / 1000) * 1000
  const answer = await commit({
    ...fresh(),
    commit_message: 'Say it\n\nIn full.\n\nChangelog: added',
    actions: [{ action: 'create', file_path: 'new.txt', content: 'one\ntwo\n' }],
  })
  const { created_at: at, ...rest } = answer.body as { created_at: string }
  assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000\+00:00$/)
  assert.ok(Date.parse(at) >= began && Date.parse(at) <= Date.now())
  assert.deepEqual(rest, {
    id: answer.sha,
    short_id: answer.sha.slice(0, 8),
    parent_ids: [parent],
    title: 'Say it',
    message: 'Say it\n\nIn full.\n\nChangelog: added',
    author_name: maintainer.name,
    author_email: maintainer.email,
    authored_date: at,
    committer_name: maintainer.name,
    committer_email: maintainer.email,
    committed_date: at,
    trailers: {},
    extended_trailers: {},
    web_url: `https://guild.example/${project.full_path}/-/commit/${answer.sha}`,
    stats: { additions: 2, deletions: 0, total: 2 },
    status: null,
    project_id: project.id,
    last_pipeline: null,
  })
  const read = await code.world.get(`/projects/${project.id}/repository/commits/${answer.sha}`, maintainer)
  assert.deepEqual(read.body, answer.body)
  assertSound(directory)
})

test('without stats no lines are counted, and the key is not there', async () => {
  const actions = [{ action: 'create', file_path: 'x', content: 'x' }]
  for (const stats of [false, 'false', 0])
    assert.ok(!('stats' in ((await commit({ ...fresh(), actions, stats })).body as object)))
  for (const stats of [true, undefined])
    assert.ok('stats' in ((await commit({ ...fresh(), actions, stats })).body as object))
})

test('a file is created, with what is sent, in folders that are made on the way', async () => {
  assert.deepEqual(await changed({ action: 'create', file_path: 'a/b/c.txt', content: 'x\n' }), {
    'a/b/c.txt': '100644 x\n',
  })
  assert.deepEqual(await changed({ action: 'create', file_path: '/rooted', content: '' }), {
    rooted: '100644 ',
  })
  assert.deepEqual(await changed({ action: 'create', file_path: 'null', content: null }), { null: '100644 ' })
  assert.deepEqual(await changed({ action: 'create', file_path: 'Ü 日本.txt', content: 'é' }), {
    'Ü 日本.txt': '100644 Ã©',
  })
  assert.deepEqual(await changed({ action: 'create', file_path: 'nul', content: 'a\0b' }), {
    nul: '100644 a\0b',
  })
  assert.deepEqual(await changed({ action: 'create', file_path: 'number', content: 5 }), {
    number: '100644 5',
  })
})

test('a file created over a folder takes its place', async () => {
  assert.deepEqual(await changed({ action: 'create', file_path: 'src', content: 'x' }), {
    src: '100644 x',
    'src/a.ts': 'gone',
  })
})

test('content in base64 is stored decoded', async () => {
  const bytes = Buffer.from([0, 255, 10, 13, 137])
  const content = bytes.toString('base64')
  const expected = { bin: `100644 ${bytes.toString('latin1')}` }
  assert.deepEqual(
    await changed({ action: 'create', file_path: 'bin', encoding: 'base64', content }),
    expected,
  )
  assert.deepEqual(await changed({ action: 'create', file_path: 'bin', encoding: 'text', content }), {
    bin: `100644 ${content}`,
  })
})

test('a file is updated, emptied, moved, moved and changed, deleted, made executable', async () => {
  assert.deepEqual(await changed({ action: 'update', file_path: 'README', content: 'new' }), {
    README: '100644 new',
  })
  for (const content of ['', null])
    assert.deepEqual(await changed({ action: 'update', file_path: 'README', content }), { README: '100644 ' })
  const move = { action: 'move', file_path: 'docs/readme', previous_path: 'README' }
  const whole = '100644 one\ntwo\nthree\n'
  assert.deepEqual(await changed(move), { README: 'gone', 'docs/readme': whole })
  assert.deepEqual(await changed({ ...move, content: null }), { README: 'gone', 'docs/readme': whole })
  assert.deepEqual(await changed({ ...move, content: '' }), { README: 'gone', 'docs/readme': '100644 ' })
  assert.deepEqual(await changed({ ...move, content: 'new' }), {
    README: 'gone',
    'docs/readme': '100644 new',
  })
  assert.deepEqual(await changed({ action: 'delete', file_path: 'src/a.ts' }), { 'src/a.ts': 'gone' })
  assert.deepEqual(await changed({ action: 'chmod', file_path: 'README', execute_filemode: true }), {
    README: whole.replace('644', '755'),
  })
})

test('the mode of a file stays, whatever else changes', async () => {
  const executable = { action: 'chmod', file_path: 'README', execute_filemode: true }
  assert.deepEqual(await changed(executable, { action: 'update', file_path: 'README', content: 'x' }), {
    README: '100755 x',
  })
  assert.deepEqual(await changed(executable, { action: 'move', file_path: 'r', previous_path: 'README' }), {
    README: 'gone',
    r: '100755 one\ntwo\nthree\n',
  })
  assert.deepEqual(await changed(executable, { ...executable, execute_filemode: false }), {})
})

test('later actions see what earlier ones did', async () => {
  const actions = [
    { action: 'create', file_path: 'a', content: '1' },
    { action: 'chmod', file_path: 'a', execute_filemode: true },
    { action: 'move', file_path: 'b/c', previous_path: 'a' },
    { action: 'update', file_path: 'b/c', content: '2' },
    { action: 'create', file_path: 'a', content: '3' },
    { action: 'delete', file_path: 'a' },
    { action: 'delete', file_path: 'README' },
    { action: 'create', file_path: 'README', content: 'again' },
  ]
  assert.deepEqual(await changed(...actions), { 'b/c': '100755 2', README: '100644 again' })
})

test('a commit without changes is created', async () => {
  const parent = tip(code.directory, 'main')
  const same = { action: 'update', file_path: 'README', content: 'one\ntwo\nthree\n' }
  for (const action of [same, { action: 'chmod', file_path: 'README', execute_filemode: false }]) {
    const { sha } = await commit({ ...fresh(), actions: [action] })
    assert.deepEqual(gitText(code.directory, ['rev-parse', `${sha}^`, `${sha}^{tree}`]).split('\n'), [
      parent,
      gitText(code.directory, ['rev-parse', `${parent}^{tree}`]),
    ])
  }
})

test('the author is the caller unless another is named, the committer always the caller', async () => {
  const { maintainer, directory } = code
  const mine = `${maintainer.name} <${maintainer.email}>`
  const rows: [object, string][] = [
    [{}, mine],
    [{ author_name: 'Ada', author_email: 'ada@example.org' }, 'Ada <ada@example.org>'],
    [{ author_name: 'Ünï Cödé' }, `Ünï Cödé <${maintainer.email}>`],
    [{ author_email: 'ada@example.org' }, `${maintainer.name} <ada@example.org>`],
    [{ author_name: '', author_email: ' ' }, mine],
    [{ author_name: null, author_email: null }, mine],
  ]
  for (const [body, author] of rows) {
    const { sha } = await commit({
      ...fresh(),
      ...body,
      actions: [{ action: 'create', file_path: 'x', content: '' }],
    })
    assert.deepEqual(gitText(directory, ['log', '-1', '--format=%an <%ae>%n%cn <%ce>', sha]).split('\n'), [
      author,
      mine,
    ])
  }
  assertSound(directory)
})

test('a commit follows its branch, another branch, or a commit', async () => {
  const { history, directory } = code
  const actions = [{ action: 'create', file_path: 'start', content: 'x' }]
  const parents = ({ sha }: { sha: string }): string[] =>
    gitText(directory, ['log', '-1', '--format=%P', sha]).split(' ')
  const { branch } = fresh()
  const first = await commit({ branch, start_branch: 'feature/login', actions })
  assert.deepEqual(parents(first), [history.sha.readme])
  const second = await commit({ branch, actions: [{ action: 'delete', file_path: 'start' }] })
  assert.deepEqual(parents(second), [first.sha])
  const third = await commit({ branch, start_branch: branch, actions })
  assert.deepEqual(parents(third), [second.sha])
  assert.deepEqual(
    parents(await commit({ ...fresh(), start_branch: undefined, start_sha: history.sha.docs, actions })),
    [history.sha.docs],
  )
  const own = [
    code.project.id,
    String(code.project.id),
    code.project.full_path,
    code.project.full_path.toUpperCase(),
  ]
  for (const start_project of own)
    assert.deepEqual(parents(await commit({ ...fresh(), start_project, actions })), [history.sha.empty])
})

test('by force a branch is replaced by what starts elsewhere, or made', async () => {
  const { history, directory } = code
  const actions = [{ action: 'create', file_path: 'forced', content: 'x' }]
  const { branch } = fresh()
  for (const start of [
    { start_branch: 'main' },
    { start_sha: history.sha.root },
    { start_branch: 'feature/login' },
  ]) {
    const { sha } = await commit({ branch, ...start, force: true, actions })
    const from = 'start_sha' in start ? start.start_sha : start.start_branch
    assert.equal(gitText(directory, ['rev-parse', `${sha}^`]), gitText(directory, ['rev-parse', from]))
    assert.equal(
      gitLines(directory, ['rev-list', sha]).length,
      gitLines(directory, ['rev-list', from]).length + 1,
    )
  }
})

test('in an empty repository the first commit makes its branch, the default branch and its protection', async () => {
  const { world } = code
  for (const [branch, start] of [
    ['main', {}],
    ['trunk', {}],
    ['feature/1', { start_branch: 'main' }],
  ] as const) {
    const { project, maintainer, directory } = await code.another({ repository: 'empty' })
    const actions = [{ action: 'create', file_path: 'README', content: 'Hello\n' }]
    const answer = await post({ world, project }, maintainer, {
      branch,
      ...start,
      commit_message: 'Begin',
      actions,
    })
    assert.equal(answer.status, 201, answer.text)
    const { id, parent_ids, stats } = answer.body as { id: string; parent_ids: string[]; stats: object }
    assert.deepEqual([parent_ids, stats], [[], { additions: 1, deletions: 0, total: 1 }])
    assert.deepEqual(gitLines(directory, ['for-each-ref', '--format=%(refname) %(objectname)']), [
      `refs/heads/${branch} ${id}`,
    ])
    assert.equal(gitText(directory, ['symbolic-ref', 'HEAD']), `refs/heads/${branch}`)
    const row = await rowOf(world, 'select default_branch from projects where id = $1', [project.id])
    assert.deepEqual(row, { default_branch: branch })
    const rule = await rowOf(world, 'select name from protected_branches where project_id = $1', [project.id])
    assert.deepEqual(rule, { name: branch })
    assertSound(directory)
  }
})

test('a commit moves the activity of its project', async () => {
  const { world, project } = code
  await world.make.sql(`update projects set last_activity_at = '2020-01-01' where id = ${project.id}`)
  await commit({ ...fresh(), actions: [{ action: 'create', file_path: 'x', content: '' }] })
  const { fresh: recent } = await rowOf<{ fresh: boolean }>(
    world,
    `select last_activity_at > now() - interval '1 minute' as fresh from projects where id = $1`,
    [project.id],
  )
  assert.equal(recent, true)
})

test('a commit on one branch leaves every other ref where it was', async () => {
  const { directory } = code
  const refs = (): string[] => gitLines(directory, ['for-each-ref', '--format=%(refname) %(objectname)'])
  const before = refs()
  const { branch } = fresh()
  const { sha } = await commit({
    branch,
    start_branch: 'main',
    actions: [{ action: 'create', file_path: 'x', content: '' }],
  })
  assert.deepEqual(
    refs().filter((ref) => !before.includes(ref)),
    [`refs/heads/${branch} ${sha}`],
  )
  assert.deepEqual(
    before.filter((ref) => !refs().includes(ref)),
    [],
  )
  assert.ok(stored(directory).includes(sha))
})

test('a commit costs six statements at most, whatever it holds', async () => {
  const { world, maintainer } = code
  const { branch } = fresh()
  await commit({ branch, start_branch: 'main', actions: [{ action: 'create', file_path: 'x', content: '' }] })
  await freshenTokens(world, maintainer)
  for (const count of [1, 40]) {
    const actions = Array.from({ length: count }, (_, i) => ({
      action: 'create',
      file_path: `of-${count}/${i}`,
      content: '',
    }))
    // Caller and project, the rules, the activity, merge requests, the event, and the job that makes the pipeline.
    const sent = await world.statements(() => commit({ branch, actions }))
    assert.ok(sent.length <= 6, sent.join(', '))
  }
})
