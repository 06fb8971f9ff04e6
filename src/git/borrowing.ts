import { isSha } from './names.ts'
import type { Git } from './git.ts'
import { receivingBounds } from './objects/received.ts'

const fetchMs = 600_000

/**
 * Copies a commit and all it reaches from one repository of the room into another; no ref there moves. Throws GitError
 * when the source does not have it, TypeError for what is no full hash.
 */
export async function borrowCommit(
  git: Git,
  sha: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  if (!isSha(sha)) throw new TypeError('Commits are named by full hashes')
  // A requested commit may have stopped being the tip of its branch a moment ago.
  const settings = ['safe.directory=*', 'uploadpack.allowAnySHA1InWant=true'].map((one) => `-c '${one}'`)
  const uploadPack = `'${git.spawner.binary.replaceAll("'", `'\\''`)}' ${settings.join(' ')} upload-pack`
  const args = [
    '-c',
    'core.bigFileThreshold=32m',
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    `--upload-pack=${uploadPack}`,
  ]
  await git.spawner.run([...args, '--end-of-options', git.directory(from), sha], {
    gitDirectory: git.directory(to),
    environment: { GIT_ALLOW_PROTOCOL: 'file' },
    timeoutMs: fetchMs,
    bounds: receivingBounds(),
    lane: 'slow',
  })
}
