import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  dice,
  gitLines,
  gitText,
  initRepository,
  openTestGit,
  scratch,
  writeHistory,
} from '../../../test/support/git_fixtures.ts'
import { isGitError } from '../errors.ts'
import type { MergeResult } from './merge.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'a/merges.git')
writeHistory(directory, 300, 23)
const repository = git.repository('a/merges.git')
const work = mkdtempSync(join(scratch(), 'work-'))
const all = gitLines(directory, ['rev-list', '--all'])

const stored = (): string[] => [
  ...gitLines(directory, ['cat-file', '--batch-all-objects', '--batch-check']),
  ...gitLines(directory, ['for-each-ref']),
  ...readdirSync(directory, { recursive: true }).map(String).toSorted(),
]

/** The result of `git cherry-pick` or `git revert` for the same question in a working tree. */
function byHand(verb: 'cherry-pick' | 'revert', commit: string, onto: string): MergeResult {
  const run = (args: readonly string[]): string =>
    gitText(directory, [`--work-tree=${work}`, '-c', 'core.bare=false', ...args])
  run(['checkout', '--quiet', '--force', '--detach', onto])
  run(['clean', '--quiet', '-ffdx'])
  const isMerge = gitText(directory, ['rev-list', '--parents', '-1', commit]).split(' ').length > 2
  try {
    run([verb, '--no-commit', ...(isMerge ? ['-m', '1'] : []), commit])
  } catch {
    run(['reset', '--quiet', '--hard'])
    return { fault: 'conflict' }
  }
  const tree = run(['write-tree'])
  run(['reset', '--quiet', '--hard'])
  return tree === gitText(directory, ['rev-parse', `${onto}^{tree}`]) ? { fault: 'empty' } : { tree }
}

const kindOf = (result: MergeResult): string => ('fault' in result ? result.fault : 'clean')

void test('picks and reverts come out as with the git command line', async () => {
  const roll = dice(31)
  const seen: Record<string, number> = {}
  for (let round = 0; round < 130; round += 1) {
    const place = roll(all.length)
    const commit = all[place] ?? ''
    // Far apart nearly everything conflicts.
    const onto = all[roll(3) === 0 ? roll(all.length) : Math.max(place - roll(5), 0)] ?? ''
    for (const verb of ['cherry-pick', 'revert'] as const) {
      const expected = byHand(verb, commit, onto)
      const found = await repository[verb === 'revert' ? 'revert' : 'pick']({
        commit,
        onto,
        dryRun: roll(2) === 0,
      })
      assert.deepEqual(found, expected, `${verb} ${commit} on ${onto}`)
      const kind = `${verb} ${kindOf(found)}`
      seen[kind] = (seen[kind] ?? 0) + 1
    }
  }
  assert.equal(Object.keys(seen).length, 6, JSON.stringify(seen))
  gitText(directory, ['fsck', '--strict', '--unreachable'])
})

void test('a dry run leaves no object, ref or file in the repository', async () => {
  const before = stored()
  let clean = 0
  for (const [index, commit] of all.entries()) {
    const result = await repository[index % 2 === 0 ? 'pick' : 'revert']({
      commit,
      onto: all[(index * 7) % all.length] ?? '',
      dryRun: true,
    })
    if ('tree' in result) clean += 1
  }
  assert.ok(clean > 10, String(clean))
  assert.deepEqual(stored(), before)
})

void test('all objects of a merge are in the repository unless it was a dry run', async () => {
  const room = openTestGit(root)
  for (const [index, commit] of all.slice(0, 60).entries()) {
    const question = { commit, onto: all[(index * 11) % all.length] ?? '' }
    await repository.pick({ ...question, dryRun: true })
    const result = await repository.pick(question)
    if (!('tree' in result)) continue
    // Another room knows nothing of where this one merges.
    const entries = await room
      .repository('a/merges.git')
      .entries(result.tree, { path: '', recursive: true, skip: 0, limit: 1_000 })
    for (const { type, id } of entries ?? []) assert.equal(gitText(directory, ['cat-file', '-t', id]), type)
  }
  gitText(directory, ['fsck', '--strict', '--unreachable'])
})

void test('branches are merged as git merges them', async () => {
  const tips = gitLines(directory, ['for-each-ref', '--format=%(objectname)', 'refs/heads'])
  const seen = new Set<string>()
  const pairs = tips.flatMap((ours) => tips.map((theirs): [string, string] => [ours, theirs]))
  for (const [index, ours] of all.slice(0, 40).entries())
    pairs.push([ours, all[(index * 13) % all.length] ?? ''])
  for (const [ours, theirs] of pairs) {
    const found = await repository.mergeTrees(ours, theirs)
    let expected: MergeResult
    try {
      const args = ['merge-tree', '--write-tree', '--allow-unrelated-histories', ours, theirs]
      const tree = gitText(directory, args)
      expected = tree === gitText(directory, ['rev-parse', `${ours}^{tree}`]) ? { fault: 'empty' } : { tree }
    } catch {
      expected = { fault: 'conflict' }
    }
    assert.deepEqual(found, expected)
    seen.add(kindOf(found))
  }
  assert.deepEqual(seen, new Set(['clean', 'conflict', 'empty']))
})

const nothing = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const chosen = join(root, 'a/chosen.git')
initRepository(chosen)

/** A commit of these files on `parent`; a text, a link's target after `->`, or a submodule's hash after `@`. */
function commit(
  files: Readonly<Record<string, string>>,
  parents: readonly string[] = [],
  executable: readonly string[] = [],
): string {
  gitText(chosen, ['read-tree', '--empty'])
  for (const [path, text] of Object.entries(files)) {
    const id = text.startsWith('@')
      ? text.slice(1)
      : gitText(chosen, ['hash-object', '-w', '--stdin'], text.replace(/^->/, ''))
    const mode = text.startsWith('@')
      ? '160000'
      : text.startsWith('->')
        ? '120000'
        : executable.includes(path)
          ? '100755'
          : '100644'
    gitText(chosen, ['update-index', '--add', '--cacheinfo', `${mode},${id},${path}`])
  }
  return gitText(chosen, [
    'commit-tree',
    '-m',
    'x',
    ...parents.flatMap((parent) => ['-p', parent]),
    gitText(chosen, ['write-tree']),
  ])
}

void test('renames, modes, links and submodules are merged each in its way', async () => {
  const room = git.repository('a/chosen.git')
  const long = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join('')
  const [one, two, three] = ['1', '2', '3'].map((digit) => `@${digit.repeat(40)}`)
  const base = commit({ file: long, run: 'x', link: '->a', sub: one ?? '', 'old/x': 'x1', 'old/y': 'y1' })
  const files = { file: long, run: 'x', link: '->a', sub: one ?? '', 'old/x': 'x1', 'old/y': 'y1' }
  const edit = commit({ ...files, file: `${long}end\n` }, [base])
  const { file, ...rest } = files
  const renamed = commit({ ...rest, 'new/name': `start\n${file}` }, [base])
  const expected = commit({ ...rest, 'new/name': `start\n${file}end\n` })
  const treeOf = (id: string): string => gitText(chosen, ['rev-parse', `${id}^{tree}`])
  assert.deepEqual(await room.pick({ commit: edit, onto: renamed }), { tree: treeOf(expected) })
  assert.deepEqual(await room.pick({ commit: renamed, onto: edit }), { tree: treeOf(expected) })
  const mode = commit(files, [base], ['run'])
  const both = await room.pick({ commit: mode, onto: edit })
  assert.deepEqual(both, { tree: treeOf(commit({ ...files, file: `${long}end\n` }, [], ['run'])) })
  const linked = commit({ ...files, link: '->b' }, [base])
  assert.deepEqual(await room.pick({ commit: linked, onto: commit({ ...files, link: '->c' }, [base]) }), {
    fault: 'conflict',
  })
  const moved = commit({ ...files, sub: two ?? '' }, [base])
  assert.deepEqual(await room.pick({ commit: moved, onto: edit }), {
    tree: treeOf(commit({ ...files, sub: two ?? '', file: `${long}end\n` })),
  })
  assert.deepEqual(await room.pick({ commit: moved, onto: commit({ ...files, sub: three ?? '' }, [base]) }), {
    fault: 'conflict',
  })
  assert.deepEqual(await room.revert({ commit: moved, onto: moved }), { tree: treeOf(base) })
  assert.deepEqual(await room.revert({ commit: moved, onto: base }), { fault: 'empty' })
  assert.deepEqual(await room.pick({ commit: base, onto: edit }), { fault: 'conflict' })
  assert.deepEqual(await room.revert({ commit: base, onto: base }), { tree: nothing })
  assert.equal(gitText(chosen, ['ls-tree', nothing]), '')
  gitText(chosen, ['fsck', '--strict'])
})

void test('of a merge commit the change against its first parent is picked and undone', async () => {
  const room = git.repository('a/chosen.git')
  const base = commit({ a: '1' })
  const left = commit({ a: '1', l: 'l' }, [base])
  const right = commit({ a: '1', r: 'r' }, [base])
  const merge = commit({ a: '1', l: 'l', r: 'r' }, [left, right])
  const treeOf = (id: string): string => gitText(chosen, ['rev-parse', `${id}^{tree}`])
  assert.deepEqual(await room.pick({ commit: merge, onto: base }), { tree: treeOf(right) })
  assert.deepEqual(await room.revert({ commit: merge, onto: merge }), { tree: treeOf(left) })
})

void test('a commit that is not there is told as such, and the others go on', async () => {
  const [tip = ''] = all
  for (const missing of [
    '1'.repeat(40),
    'main',
    `${tip}^`,
    gitText(directory, ['rev-parse', 'main^{tree}']),
  ]) {
    await assert.rejects(repository.pick({ commit: missing, onto: tip }), (error) =>
      isGitError(error, 'gone'),
    )
    await assert.rejects(repository.mergeTrees(tip, missing), (error) => isGitError(error, 'gone'))
  }
  assert.deepEqual(await repository.pick({ commit: tip, onto: tip }), { fault: 'empty' })
})

void test('where answers cannot be had from a long-lived process a short one gives the same', async () => {
  const programs = scratch()
  const found =
    process.env['PATH']
      ?.split(':')
      .map((part) => join(part, 'git'))
      .find(existsSync) ?? ''
  symlinkSync(found, join(programs, 'git'))
  const bare = openTestGit(root, { path: programs })
  for (const [index, id] of all.slice(0, 40).entries()) {
    const question = { commit: id, onto: all[(index * 5) % all.length] ?? '', dryRun: true }
    assert.deepEqual(await bare.repository('a/merges.git').pick(question), await repository.pick(question))
  }
})
