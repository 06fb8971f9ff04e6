import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertSound, files, openCode, stored, tip, type Code } from '../../../test/support/code.ts'
import { gitText } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import type { Answered } from '../../../test/support/world.ts'

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

type Verb = 'cherry_pick' | 'revert'
const VERBS = ['cherry_pick', 'revert'] as const
const call = (
  verb: Verb,
  rev: string,
  body: object,
  as: Someone | undefined = code.maintainer,
): Promise<Answered> =>
  code.world.call(
    'POST',
    `/projects/${code.project.id}/repository/commits/${encodeURIComponent(rev)}/${verb}`,
    { as, body },
  )

let count = 0
/** A branch of its own at the commit. */
function branchAt(rev: string): string {
  const name = `picks-${(count += 1)}`
  gitText(code.directory, ['update-ref', `refs/heads/${name}`, rev])
  return name
}
const SORRY = {
  cherry_pick:
    'Sorry, we cannot cherry-pick this commit automatically. This commit may already have been cherry-picked, or a more recent commit may have updated some of its content.',
  revert:
    'Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a more recent commit may have updated some of its content.',
}

/** Refused the same with and without a trial, and neither refs nor objects are other than before. */
async function refuses(verb: Verb, rev: string, branch: string, error_code: string): Promise<void> {
  const before = stored(code.directory)
  const real = await call(verb, rev, { branch })
  assert.deepEqual([real.status, real.body], [400, { message: SORRY[verb], error_code }])
  const tried = await call(verb, rev, { branch, dry_run: true })
  assert.deepEqual([tried.status, tried.body], [400, { message: SORRY[verb], error_code, dry_run: 'error' }])
  assert.equal(stored(code.directory), before)
}

test('a commit is made again on another branch, by its author, through the caller', async () => {
  const { history, maintainer, project, directory } = code
  const branch = branchAt(history.sha.root)
  const answer = await call('cherry_pick', history.sha.docs, { branch })
  assert.equal(answer.status, 201, answer.text)
  const sha = tip(directory, branch)
  const { committed_date: at, created_at, ...rest } = answer.body as Record<string, unknown>
  assert.equal(created_at, at)
  assert.match(String(at), /\.000\+00:00$/)
  assert.deepEqual(rest, {
    id: sha,
    short_id: sha.slice(0, 8),
    parent_ids: [history.sha.root],
    title: '文書',
    message: `文書\n\n(cherry picked from commit ${history.sha.docs})`,
    author_name: '山田 太郎',
    author_email: 'yamada@example.jp',
    authored_date: '2024-01-09T06:30:00.000-07:30',
    committer_name: maintainer.name,
    committer_email: maintainer.email,
    trailers: {},
    extended_trailers: {},
    web_url: `https://guild.example/${project.full_path}/-/commit/${sha}`,
  })
  assert.deepEqual(files(directory, sha), {
    README: '100644 one\ntwo\n',
    'docs/ümläut.md': `100644 ${Buffer.from('Grüße\n').toString('latin1')}`,
  })
  assertSound(directory)
})

test('a commit is undone, by the caller', async () => {
  const { history, maintainer, directory } = code
  const branch = branchAt(history.sha.empty)
  const answer = await call('revert', history.sha.readme, { branch })
  assert.equal(answer.status, 201, answer.text)
  const sha = tip(directory, branch)
  const { id, parent_ids, title, message, author_name, author_email, committer_name } = answer.body as Record<
    string,
    unknown
  >
  assert.deepEqual(
    { id, parent_ids, title, message, author_name, author_email, committer_name },
    {
      id: sha,
      parent_ids: [history.sha.empty],
      title: 'Revert "Say more"',
      message: `Revert "Say more"\n\nThis reverts commit ${history.sha.readme}`,
      author_name: maintainer.name,
      author_email: maintainer.email,
      committer_name: maintainer.name,
    },
  )
  assert.ok(!('stats' in (answer.body as object)) && !('status' in (answer.body as object)))
  assert.equal(files(directory, sha)['README'], '100644 one\ntwo\n')
  assertSound(directory)
})

test('a merge counts against its first parent', async () => {
  const { history, directory } = code
  const branch = branchAt(history.sha.change)
  assert.equal((await call('cherry_pick', history.sha.merge, { branch })).status, 201)
  const tree = (rev: string): string => gitText(directory, ['rev-parse', `${rev}^{tree}`])
  assert.equal(tree(branch), tree(history.sha.merge))
  assert.equal((await call('revert', history.sha.merge, { branch })).status, 201)
  assert.equal(tree(branch), tree(history.sha.change))
})

test('the message of a cherry-pick may be given, and replaces all of the other', async () => {
  const { history, directory } = code
  const message = 'Mine\n\nChangelog: added'
  const branch = branchAt(history.sha.root)
  const answer = await call('cherry_pick', history.sha.docs, { branch, message })
  assert.equal(answer.status, 201, answer.text)
  assert.equal(gitText(directory, ['log', '-1', '--format=%B', branch]).trimEnd(), message)
  for (const nothing of ['', ' \n']) {
    const blank = branchAt(history.sha.root)
    assert.equal(
      (await call('cherry_pick', history.sha.docs, { branch: blank, message: nothing })).status,
      201,
    )
    assert.match(
      gitText(directory, ['log', '-1', '--format=%B', blank]),
      /\(cherry picked from commit [0-9a-f]{40}\)/,
    )
  }
})

test('a trial that goes well says so and leaves nothing behind', async () => {
  const { history, directory } = code
  const rows = [
    ['cherry_pick', history.sha.docs, history.sha.root],
    ['revert', history.sha.readme, history.sha.empty],
  ] as const
  for (const [verb, rev, at] of rows) {
    const branch = branchAt(at)
    const before = stored(directory)
    for (const dry_run of [true, 'true', 1]) {
      const answer = await call(verb, rev, { branch, dry_run })
      assert.deepEqual([answer.status, answer.body], [200, { dry_run: 'success' }])
    }
    const path = `/projects/${code.project.id}/repository/commits/${rev}/${verb}?dry_run=True`
    const asClientsSend = await code.world.call('POST', path, { as: code.maintainer, body: { branch } })
    assert.deepEqual([asClientsSend.status, asClientsSend.body], [200, { dry_run: 'success' }])
    assert.equal(stored(directory), before)
    assert.equal((await call(verb, rev, { branch, dry_run: false })).status, 201)
  }
})

test('an empty pick and a conflict have different answers', async () => {
  const { history } = code
  await refuses('cherry_pick', history.sha.docs, branchAt(history.sha.empty), 'empty')
  await refuses('cherry_pick', history.sha.empty, branchAt(history.sha.empty), 'empty')
  await refuses('cherry_pick', history.sha.change, branchAt(history.sha.root), 'conflict')
  await refuses('revert', history.sha.source, branchAt(history.sha.empty), 'conflict')
  await refuses('revert', history.sha.empty, branchAt(history.sha.empty), 'empty')
  const branch = branchAt(history.sha.empty)
  assert.equal((await call('revert', history.sha.readme, { branch })).status, 201)
  await refuses('revert', history.sha.readme, branch, 'empty')
  const twice = branchAt(history.sha.root)
  assert.equal((await call('cherry_pick', history.sha.docs, { branch: twice })).status, 201)
  await refuses('cherry_pick', history.sha.docs, twice, 'empty')
})

test('a commit that merged a merge request is called by that name', async () => {
  const { history, project, world } = code
  await world.make.sql(`
    insert into merge_requests (iid, project_id, source_project_id, title, source_branch, target_branch, state, merge_commit_sha)
    values (1, ${project.id}, ${project.id}, 'Log in', 'feature/login', 'main', 'merged', '${history.sha.merge}')`)
  const told = (verb: Verb): string =>
    SORRY[verb].replace(/this commit/gi, (text) => text.replace('commit', 'merge request'))
  for (const verb of VERBS)
    for (const trial of [{}, { dry_run: true }]) {
      const branch = branchAt(verb === 'revert' ? history.sha.root : history.sha.empty)
      const answer = await call(verb, history.sha.merge, { branch, ...trial })
      const { message } = answer.body as { message: string }
      assert.deepEqual([answer.status, message], [400, told(verb)])
    }
  await world.make.sql(`delete from merge_requests where project_id = ${project.id}`)
})

test('the order is: parameters, who calls, the right to push, the commit, the branch', async () => {
  const { world, project, directory } = code
  const reporter = await world.make.memberOf('reporter', { project })
  const developer = code.developer
  const before = stored(directory)
  const NO_PUSH = { message: '403 Forbidden - You are not allowed to push into this branch' }
  for (const verb of VERBS) {
    const rows: [Someone, string, object, number, object][] = [
      [reporter, 'gone', {}, 400, { error: 'branch is missing' }],
      [reporter, 'gone', { branch: null }, 400, { error: 'branch is missing' }],
      [reporter, 'gone', { branch: '' }, 400, { error: 'branch is empty' }],
      [reporter, 'gone', { branch: ' ' }, 400, { error: 'branch is empty' }],
      [reporter, 'gone', { branch: 'main', dry_run: 'perhaps' }, 400, { error: 'dry_run is invalid' }],
      [reporter, 'gone', { branch: 'a..b' }, 403, NO_PUSH],
      [developer, 'gone', { branch: 'main' }, 403, NO_PUSH],
      [developer, 'gone', { branch: 'a..b' }, 404, { message: '404 Commit Not Found' }],
      [developer, 'main~99', { branch: 'gone' }, 404, { message: '404 Commit Not Found' }],
      [developer, 'main', { branch: 'a..b' }, 400, { message: 'The branch refname is invalid' }],
      [developer, 'main', { branch: '--all' }, 400, { message: 'The branch refname is invalid' }],
      [developer, 'main', { branch: 'gone' }, 404, { message: '404 Branch Not Found' }],
      [developer, 'main', { branch: 'v1.0' }, 404, { message: '404 Branch Not Found' }],
    ]
    for (const [as, rev, body, status, expected] of rows)
      for (const trial of [{}, { dry_run: true }]) {
        const answer = await call(verb, rev, { ...trial, ...body }, as)
        assert.deepEqual(
          [answer.status, answer.body],
          [status, expected],
          `${verb} ${rev} ${JSON.stringify(body)}`,
        )
      }
  }
  assert.equal(stored(directory), before)
})

test('a Developer picks and reverts where nothing is protected', async () => {
  const { history, developer } = code
  const picked = await call(
    'cherry_pick',
    history.sha.docs,
    { branch: branchAt(history.sha.root) },
    developer,
  )
  assert.equal(picked.status, 201)
  assert.equal(
    (await call('revert', history.sha.readme, { branch: branchAt(history.sha.empty) }, developer)).status,
    201,
  )
})
