import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gitText, initRepository, scratch } from '../../../test/support/git_fixtures.ts'
import { ChangeRefused, applyChanges } from './changes.ts'
import { isSafeGitmodules } from './gitmodules.ts'

const of = (settings: string, name = 'a'): string => `[submodule "${name}"]\n\tpath = lib/a\n${settings}\n`
const url = (text: string): string => of(`\turl = ${text}`)

// Judged by our reader as by the real git.
const FILES: readonly string[] = [
  '',
  url('https://example.com/a.git'),
  url('../a.git'),
  url('git@example.com:a/b.git'),
  url('./a'),
  url('-u./payload'),
  url('"-u./payload"'),
  url('\\\n-u./payload'),
  url('# nothing'),
  url('ok ; -u'),
  url('https://example.com/a%0ab'),
  url('"https://example.com/a\\nb"'),
  url('https:///example.com'),
  url('../../:x'),
  url('.././/x'),
  url('ssh://-oProxyCommand=x/y'),
  of('\tupdate = !rm'),
  of('\tupdate = rebase'),
  of('\tUPDATE = !rm'),
  of('\tpath = -x'),
  of('', '..'),
  of('', 'a/../b'),
  of('', 'a\\\\..\\\\b'),
  of('', 'a..b'),
  '[submodule ""]\n\tpath = a\n',
  '[submodule.old]\n\turl = -u\n',
  '[SubModule "a"] url = -u\n',
  '[other "a"]\n\turl = -u\n',
  '[submodule "a"]\n\tbroken "line\n\turl = -u\n',
  '[submodule "a"]\n\turl = -u\n[broken\n',
  '# comment\n; another\n[submodule "a"] # here\n\turl = -u # end\n',
  '[submodule "a"]\r\n\turl = -u\r\n',
]

const room = scratch()

/** Whether git's check of objects lets a tree with that file pass. */
function isSound(content: string): boolean {
  const directory = join(room, `${Math.random()}.git`)
  initRepository(directory)
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], content)
  gitText(directory, ['mktree'], `100644 blob ${blob}\t.gitmodules\n`)
  try {
    gitText(directory, ['fsck', '--no-dangling'])
    return true
  } catch {
    return false
  }
}

test('a .gitmodules is judged as git judges one that is pushed', () => {
  for (const content of FILES) assert.equal(isSafeGitmodules(Buffer.from(content)), isSound(content), content)
  assert.equal(isSafeGitmodules(Buffer.alloc(2_000_000, '#')), false)
})

test('no change brings one that is not safe, in whatever spelling and by whatever way', async () => {
  const bad = Buffer.from(url('-u./payload'))
  const none = (): Promise<never> => Promise.reject(new Error('nothing is read'))
  const refusal = async (change: Parameters<typeof applyChanges>[1][number]): Promise<unknown> =>
    applyChanges(undefined, [change], none).then(
      () => 'made',
      (error: unknown) => (error instanceof ChangeRefused ? error.reason : error),
    )
  for (const path of ['.gitmodules', 'deep/.gitmodules', '.GitModules', 'gitmod~1'])
    assert.equal(await refusal({ action: 'create', path, content: bad }), 'gitmodules', path)
  assert.equal(await refusal({ action: 'update', path: '.gitmodules', content: bad }), 'gitmodules')
  assert.equal(await refusal({ action: 'move', path: '.gitmodules', from: 'x' }), 'invalid_path')
  assert.equal(await refusal({ action: 'create', path: '.gitmodules/x', content: bad }), 'invalid_path')
  assert.equal(await refusal({ action: 'link', path: '.gitmodules', sha: 'a'.repeat(40) }), 'invalid_path')
  const good = Buffer.from(url('https://example.com/a.git'))
  assert.equal(await refusal({ action: 'create', path: '.gitmodules', content: good }), 'made')
})
