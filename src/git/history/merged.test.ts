import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gitLines, openTestGit, scratch, writeHistory } from '../../../test/support/git_fixtures.ts'

const root = scratch()
const directory = join(root, 'r.git')
writeHistory(directory, 150, 3)
const repository = openTestGit(root).repository('r.git')

test('merged branches equal the list of git, from every tenth commit', async () => {
  const all = gitLines(directory, ['rev-list', '--all'])
  for (const [i, tip] of all.entries()) {
    if (i % 10 !== 0) continue
    const reached = new Set(gitLines(directory, ['rev-list', tip]))
    assert.deepEqual(
      await repository.mergedInto(tip, all),
      new Set(all.filter((sha) => reached.has(sha))),
      tip,
    )
    const [one = ''] = all.slice(i / 2)
    assert.equal((await repository.mergedInto(tip, [one])).has(one), reached.has(one))
  }
  assert.deepEqual(await repository.mergedInto(all[0] ?? '', []), new Set())
})

test('only commits are asked for, by full hashes', async () => {
  const [tip = ''] = gitLines(directory, ['rev-parse', 'main'])
  for (const bad of ['main', '--all', tip.slice(0, 10)])
    await assert.rejects(repository.mergedInto(tip, [bad]), TypeError)
  await assert.rejects(repository.mergedInto('a'.repeat(40), [tip]), { name: 'GitError' })
})

test('refs come by the date of their commits, and by the versions in their names', async () => {
  for (const [by, key] of [
    ['updated', 'creatordate'],
    ['version', 'version:refname'],
    ['name', 'refname'],
  ] as const)
    assert.deepEqual(
      (await repository.sortedRefs('refs/', { by })).map(({ id, name }) => `${id} ${name}`),
      gitLines(directory, [
        'for-each-ref',
        '--sort=refname',
        `--sort=${key}`,
        '--format=%(objectname) %(refname)',
      ]),
    )
})
