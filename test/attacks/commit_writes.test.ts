import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { assertSound, files, openCode, post, stored, type Code } from '../support/code.ts'
import { gitText } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { contents } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

const create = (file_path: string, content = 'x'): object => ({ action: 'create', file_path, content })
const good = { branch: 'main', commit_message: 'm', actions: [create('x')] }

/** Refused with 400, and neither refs, objects nor rows are other than before. */
async function refused(body: object, text?: string, as: Someone = code.maintainer): Promise<Answered> {
  const [before, rows] = [stored(code.directory), await contents(code.world)]
  const answer = await post(code, as, { ...good, ...body })
  assert.equal(answer.status, 400, `${JSON.stringify(body).slice(0, 200)}: ${answer.text}`)
  if (text !== undefined) assert.deepEqual(answer.body, { message: text })
  assert.equal(stored(code.directory), before)
  assert.equal(await contents(code.world), rows)
  return answer
}
let count = 0
async function taken(body: object): Promise<string> {
  const branch = `attack-${(count += 1)}`
  const answer = await post(code, code.maintainer, { ...good, branch, start_branch: 'main', ...body })
  assert.equal(answer.status, 201, answer.text)
  return branch
}

suite('paths that lead elsewhere', () => {
  // A committer tries to write outside the tree, or to make a tree that a clone would take for something else.
  for (const path of ['../x', 'a/../../b', 'a//b', './a', 'a/.', 'a/', '', '..', 'a/../b'])
    test(`COM-01: ${JSON.stringify(path)} is refused`, async () => {
      await refused({ actions: [create('ok'), create(path)] })
    })

  // Every spelling in which some file system takes a name for git's own folder.
  const dotGit = [
    '.git/config',
    '.GIT/hooks/x',
    '.gIt',
    'a/.git/x',
    'git~1/x',
    'GIT~1',
    '.git. /x',
    '.git /x',
    '.git./x',
    '.git::$INDEX_ALLOCATION/x',
  ]
  const ignorable = ['.g\u200cit/config', '\u200e.git', '.git\u206f/x', '.gi\ufefft/x']
  for (const path of [...dotGit, ...ignorable])
    test(`COM-02: ${JSON.stringify(path)} is refused`, async () => {
      await refused({ actions: [create(path)] }, `invalid path: '${path}'`)
    })

  // A link that leads out of the tree is there already; the next commit writes through it.
  test('COM-03: nothing is written through a symbolic link', async () => {
    const { directory } = code
    const target = gitText(directory, ['hash-object', '-w', '--stdin'], '../../..')
    const tree = gitText(directory, ['mktree'], `120000 blob ${target}\tl\n`)
    gitText(directory, [
      'update-ref',
      'refs/heads/linked',
      gitText(directory, ['commit-tree', '-m', 'l', tree]),
    ])
    const around = (): string[] => readdirSync(dirname(directory)).toSorted()
    const before = around()
    await refused(
      { branch: 'linked', actions: [{ action: 'update', file_path: 'l/x', content: 'x' }] },
      "A file with this name doesn't exist",
    )
    const answer = await post(code, code.maintainer, { ...good, branch: 'linked', actions: [create('l/x')] })
    // As with a file of that name: it is in the way.
    assert.ok([400, 201].includes(answer.status), answer.text)
    assert.deepEqual(around(), before)
    assertSound(directory)
  })

  test('COM-04: names that break lists or texts are refused, or stored as they are', async () => {
    await refused({ actions: [create('a\0b')] })
    await refused({ actions: [create('x'.repeat(4_097))] })
    await refused({ actions: [create('a\ud800')] })
    for (const path of ['a\nb', 'a\tb', 'a"b\\', ' ', '-q', '--output=x', ':(glob)**']) {
      const answer = await post(code, code.maintainer, {
        ...good,
        branch: `odd-${(count += 1)}`,
        start_branch: 'main',
        actions: [create(path)],
      })
      if (answer.status === 201) assert.equal(files(code.directory, `odd-${count}`)[path], '100644 x')
      else assert.deepEqual([answer.status, answer.body], [400, { message: `invalid path: '${path}'` }])
    }
    assertSound(code.directory)
  })

  test('COM-26: characters that mislead the eye are stored as they are sent', async () => {
    const [path, commit_message] = ['аdmin\u202etxt.exe', 'Fix \u202e\u2066// nothing']
    const branch = await taken({ commit_message, actions: [create(path)] })
    assert.ok(path in Object.fromEntries(Object.keys(files(code.directory, branch)).map((name) => [name, 1])))
    assert.equal(gitText(code.directory, ['log', '-1', '--format=%B', branch]).trim(), commit_message)
  })
})

suite('names of branches', () => {
  // Each of these is an option, an expression or another ref to somebody.
  for (const branch of [
    '--output=/tmp/guildhall-attack',
    '-q',
    'a..b',
    'a.lock',
    '@{-1}',
    'refs/heads/../x',
    'x^{commit}',
    ':/x',
    'a b',
    'a\nb',
  ])
    test(`COM-05: ${JSON.stringify(branch)} is no branch`, async () => {
      await refused({ branch })
      await refused({ branch, start_branch: 'main' })
      await refused({ branch, start_sha: code.history.sha.root, force: true })
      await refused({ branch: 'fresh', start_branch: branch })
    })

  // `git log <name>` would show the attacker's commit for that of the hash.
  test('COM-06: a branch is not named like a hash', async () => {
    for (const branch of [code.history.sha.root, 'ABCDEF0123'.repeat(4)])
      await refused(
        { branch, start_branch: 'main' },
        `Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`,
      )
  })
})

suite('what comes half', () => {
  test('COM-11: one of 100 actions is wrong, and nothing is written', async () => {
    const many = Array.from({ length: 99 }, (_, i) => create(`many/${i}`))
    const last = { action: 'update', file_path: 'gone', content: '' }
    await refused({ actions: [...many, last] }, "A file with this name doesn't exist")
    await refused(
      { branch: 'fresh', start_branch: 'main', actions: [...many, last] },
      "A file with this name doesn't exist",
    )
  })

  test('COM-13: a file is not written over from a view of it that is stale', async () => {
    const action = {
      action: 'update',
      file_path: 'README',
      content: 'x',
      last_commit_id: code.history.sha.root,
    }
    await refused({ actions: [action] }, 'The file has changed since you started editing it: README')
  })
})

suite('rights', () => {
  // The start lies where the caller may not look, or the hash is known from there.
  test('COM-20: nothing crosses from a project that the caller does not see', async () => {
    const hidden = await code.another()
    const secret = gitText(hidden.directory, ['commit-tree', '-m', 'secret', '-p', 'main', 'main^{tree}'])
    const member = await code.world.make.memberOf('maintainer', { project: code.project })
    const start = { branch: 'fresh', start_project: hidden.project.id, start_branch: 'main' }
    const answer = await post(code, member, { ...good, ...start })
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Project Not Found' }])
    assert.equal((await post(code, member, { ...good, ...start, start_project: 999_999 })).text, answer.text)
    await refused({ branch: 'fresh', start_sha: secret }, `Cannot find start_sha '${secret}'`, member)
  })

  test('COM-21: the default branch is forced by nobody who may not push into it', async () => {
    const { world, project, directory, history } = code
    const body = { ...good, force: true, start_sha: history.sha.root }
    for (const [role, text] of [
      ['guest', '403 Forbidden'],
      ['reporter', '403 Forbidden - You are not allowed to push into this branch'],
      ['developer', '403 Forbidden - You are not allowed to push into this branch'],
    ] as const) {
      const before = stored(directory)
      const answer = await post(code, await world.make.memberOf(role, { project }), body)
      assert.deepEqual([answer.status, answer.body], [403, { message: text }], role)
      assert.equal(stored(directory), before)
    }
    await refused(body, 'You are not allowed to force push code to a protected branch on this project.')
  })
})

suite('trials', () => {
  const call = (verb: string, rev: string, body: object): Promise<Answered> =>
    code.world.call('POST', `/projects/${code.project.id}/repository/commits/${rev}/${verb}`, {
      as: code.maintainer,
      body,
    })

  test('COM-24: a trial leaves neither refs nor objects, and fails as the real thing', async () => {
    const { sha } = code.history
    const before = stored(code.directory)
    for (const [verb, rev, status] of [
      ['cherry_pick', sha.root, 400],
      ['revert', sha.readme, 200],
      ['revert', sha.source, 400],
      ['cherry_pick', sha.docs, 400],
    ] as const) {
      const tried = await call(verb, rev, { branch: 'main', dry_run: true })
      assert.equal(tried.status, status, tried.text)
      if (status === 400)
        assert.deepEqual(
          { ...((await call(verb, rev, { branch: 'main' })).body as object), dry_run: 'error' },
          tried.body,
        )
    }
    assert.equal(stored(code.directory), before)
  })

  test('COM-25: applied already is empty, in contradiction is a conflict', async () => {
    const { sha } = code.history
    gitText(code.directory, ['update-ref', 'refs/heads/behind', sha.root])
    const codeOf = async (rev: string, branch: string): Promise<unknown> =>
      ((await call('cherry_pick', rev, { branch })).body as { error_code: string }).error_code
    assert.deepEqual(
      [await codeOf(sha.docs, 'main'), await codeOf(sha.change, 'behind')],
      ['empty', 'conflict'],
    )
  })
})
