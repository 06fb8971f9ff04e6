import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { dice, gitLines, gitText } from '../../../test/support/git_fixtures.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

// Merge requests are compared with git's view of the same branches, which are random.

const PAIRS = 12
let shop: Workshop
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
})

const git = (...args: string[]): string => gitText(shop.directory, args)
const names = ['a.txt', 'b.txt', 'deep/c.txt', 'ümläut.md']
const textOf = (roll: (bound: number) => number): string =>
  Array.from({ length: 3 + roll(20) }, () => `line ${roll(12)}\n`).join('')

/** Two branches that parted, with some commits each, of which some touch the same files. */
async function makePair(seed: number): Promise<{ source: string; target: string }> {
  const roll = dice(seed)
  const [source, target] = [`source-${seed}`, `target-${seed}`]
  const one = async (branch: string): Promise<unknown> =>
    shop.commit(branch, { [names[roll(names.length)] ?? 'a.txt']: textOf(roll) }, `Commit ${roll(1_000)}`)
  await shop.commit('main', { [`${seed}.txt`]: 'base\n', ...(seed === 1 && { 'a.txt': textOf(roll) }) })
  await shop.commit(source, { [`${source}.txt`]: 'x\n' })
  await shop.commit(target, { [`${target}.txt`]: 'x\n' })
  for (let i = roll(4); i > 0; i -= 1) await one(source)
  for (let i = roll(3); i > 0; i -= 1) await one(target)
  return { source, target }
}

suite('a merge request says what git says', () => {
  for (let seed = 1; seed <= PAIRS; seed += 1)
    test(`of branches made from seed ${seed}`, async () => {
      const { source, target } = await makePair(seed)
      const made = await shop.ask('POST', '', {
        body: { source_branch: source, target_branch: target, title: 'x' },
      })
      const { iid, diff_refs: refs } = made.body as { iid: number; diff_refs: Record<string, string> }
      const range = `${target}..${source}`
      assert.deepEqual(refs, {
        base_sha: git('merge-base', target, source),
        head_sha: git('rev-parse', source),
        start_sha: git('rev-parse', target),
      })
      const commits = (await shop.ask('GET', `/${iid}/commits?per_page=100`)).body as { id: string }[]
      assert.deepEqual(
        commits.map(({ id }) => id),
        gitLines(shop.directory, ['log', '--format=%H', range]),
      )
      const raw = (await shop.ask('GET', `/${iid}/raw_diffs`)).text.trimEnd()
      assert.equal(raw, git('diff', `${target}...${source}`))
      const diffs = (await shop.ask('GET', `/${iid}/diffs?per_page=100`)).body as {
        new_path: string
        diff: string
      }[]
      assert.deepEqual(
        diffs.map((diff) => diff.new_path).sort(),
        gitText(shop.directory, ['diff', '-z', '--name-only', `${target}...${source}`])
          .split('\0')
          .filter((name) => name !== '')
          .sort(),
      )
      for (const { diff } of diffs) assert.ok(raw.includes(diff.trimEnd()))

      const isClean = await clean(target, source)
      const shown = (await shop.ask('GET', `/${iid}`)).body as { detailed_merge_status: string }
      assert.equal(shown.detailed_merge_status, isClean === undefined ? 'conflict' : 'mergeable')
      const merged = await shop.ask('PUT', `/${iid}/merge`)
      assert.equal(merged.status, isClean === undefined ? 422 : 200)
      if (isClean !== undefined) assert.equal(git('rev-parse', `${target}^{tree}`), isClean)
    })

  test('and git finds nothing amiss afterwards', () => {
    git('fsck', '--strict', '--no-dangling')
    assert.ok(world().logs.every((line) => !line.includes('"level":50')))
  })
})

/** The tree that git merges two branches into; undefined where they conflict. */
async function clean(target: string, source: string): Promise<string | undefined> {
  try {
    return git('merge-tree', '--write-tree', target, source).split('\n')[0]
  } catch {
    return undefined
  }
}
