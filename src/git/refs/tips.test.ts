import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gitLines, gitText, openTestGit, scratch, writeHistory } from '../../../test/support/git_fixtures.ts'

const root = scratch()

void test('branches and tags are listed as they stand after every kind of change', async () => {
  const directory = join(root, 'refs.git')
  writeHistory(directory, 120, 13)
  const git = openTestGit(root)
  const repository = git.repository('refs.git')
  const first = gitLines(directory, ['rev-list', '--max-parents=0', 'main']).at(-1) ?? ''
  const check = async (): Promise<void> => {
    const shown = ['for-each-ref', '--format=%(refname:lstrip=2)', `--contains=${first}`]
    const found = await repository.refsContaining(first, ['tag', 'branch'])
    assert.deepEqual(
      found.filter(({ type }) => type === 'branch').map(({ name }) => name),
      gitLines(directory, [...shown, 'refs/heads']),
    )
    assert.deepEqual(
      found.filter(({ type }) => type === 'tag').map(({ name }) => name),
      gitLines(directory, [...shown, 'refs/tags']),
    )
  }
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const changes = [
    ['update-ref', 'refs/heads/new/below', 'main'],
    ['update-ref', 'refs/heads/new/😀', 'main~1'],
    ['update-ref', 'refs/heads/new/\u{ffee}', 'main~1'],
    ['pack-refs', '--all'],
    ['update-ref', 'refs/heads/new/below', first],
    ['update-ref', '-d', 'refs/heads/new/below'],
    ['update-ref', 'refs/tags/of-a-tree', tree],
    ['tag', '-m', 'x', 'annotated-tree', tree],
    ['pack-refs', '--all'],
    ['tag', '-m', 'x', 'deep', 'nested'],
    ['pack-refs', '--all'],
    ['tag', '-d', 'deep'],
    ['update-ref', 'refs/other/thing', 'main'],
  ]
  await check()
  for (const change of changes) {
    gitText(directory, change)
    await check()
  }
})
