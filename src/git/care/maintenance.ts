import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../git.ts'
import { receivingBounds } from '../objects/received.ts'

/** Maintenance that was done for a repository. */
export interface Maintained {
  readonly packedRefs: boolean
  readonly packedObjects: boolean
  readonly expired: boolean
}

/** Tasks besides those that the repository's state asks for. */
export interface MaintainOptions {
  /**
   * True to put everything into one pack and to let go of what nothing has reached for two weeks; by default this is
   * done when it was last done a week ago.
   */
  expire?: boolean
}

const limits = { looseObjects: 2_000, packs: 30, looseRefs: 1_000 }
/**
 * How long an object stays that nothing reaches. Whoever writes gives what they write the present as its time
 * (storeObjects), and git keeps all that a younger object reaches: nothing goes that somebody is about to refer to.
 */
const grace = '2.weeks.ago'
const longMs = 3_600_000
// Of large contents no differences are looked for: they would be held in memory, several at once.
const repacking = ['core.bigFileThreshold=32m', 'pack.windowMemory=128m', 'pack.threads=2'].flatMap((one) => [
  '-c',
  one,
])
const expiryMs = 7 * 24 * 3_600_000
/** Files of loose objects are spread evenly: of 256 directories these tell the number of all. */
const samples = ['17', '5b', 'a0', 'e9']

/**
 * Packs the refs and objects of a repository when there are many of them by themselves, and replaces the processes
 * that know the old files. Reading and writing go on beside it. Throws GitError, also `busy` when it is being done already.
 */
export async function maintain(
  git: Git,
  relativePath: string,
  options: MaintainOptions = {},
): Promise<Maintained> {
  const repository = git.repository(relativePath)
  const gitDirectory = git.directory(relativePath)
  const run = { gitDirectory, lane: 'slow', timeoutMs: longMs } as const
  return repository.locked(['maintenance'], async () => {
    const marker = join(gitDirectory, 'info/expired')
    const expire = options.expire ?? (await ageOf(marker, join(gitDirectory, 'config'))) > expiryMs
    const counts = await count(gitDirectory)
    const packRefs = expire || counts.looseRefs > limits.looseRefs
    const packObjects = expire || counts.looseObjects > limits.looseObjects || counts.packs > limits.packs
    if (packRefs) await git.spawner.run(['pack-refs', '--all', '--prune'], run)
    // Of a geometric repack everything is in the new pack that was in the old ones and in files, reached or not.
    const args = expire
      ? ['--cruft', `--cruft-expiration=${grace}`]
      : ['--geometric=2', '--no-write-bitmap-index']
    if (packObjects)
      await git.spawner.run([...repacking, 'repack', '-d', '-q', ...args], {
        ...run,
        bounds: receivingBounds(),
      })
    if (expire) {
      await git.spawner.run(['prune', `--expire=${grace}`], run)
      // It may name commits that are gone now.
      await git.spawner.run(['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'], run)
    }
    if (expire) {
      await mkdir(join(gitDirectory, 'info'), { recursive: true })
      await writeFile(marker, '')
    }
    if (packObjects) git.forget(relativePath)
    return { packedRefs: packRefs, packedObjects: packObjects, expired: expire }
  })
}

async function count(
  gitDirectory: string,
): Promise<{ looseObjects: number; packs: number; looseRefs: number }> {
  const objects = join(gitDirectory, 'objects')
  const sampled = await Promise.all(samples.map((sample) => names(join(objects, sample))))
  const packs = await names(join(objects, 'pack'))
  const refs = await readdir(join(gitDirectory, 'refs'), { recursive: true, withFileTypes: true })
  return {
    looseObjects: (sampled.flat().length * 256) / samples.length,
    packs: packs.filter((name) => name.endsWith('.pack')).length,
    looseRefs: refs.filter((entry) => entry.isFile()).length,
  }
}

/** Milliseconds since the first of these files that is there was written. */
async function ageOf(...files: readonly string[]): Promise<number> {
  for (const file of files) {
    const found = await stat(file).catch(() => undefined)
    if (found !== undefined) return Date.now() - found.mtimeMs
  }
  return 0
}

function names(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => [])
}
