import { createHash } from 'node:crypto'
import { copyFile, mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { selectFiles } from './files.ts'
import type { CacheSpec, JobPayload } from './payload.ts'
import { expand, type Values } from './variables.ts'
import { readZip } from './zip_reader.ts'
import { writeZip } from './zip_writer.ts'

// Caches lie on this machine: another machine's runner has its own.

interface Caching {
  readonly directory: string
  readonly job: JobPayload
  readonly values: Values
  readonly project: string
  readonly temporary: string
  readonly untracked: () => Promise<readonly string[]>
  readonly say: (line: string) => void
}

const pathOf = ({ directory, job }: Caching, key: string): string =>
  join(
    directory,
    String(job.job_info.project_id),
    `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.zip`,
  )
const keyOf = ({ values }: Caching, key: string): string => expand(key, values) || 'default'

/** Unpacks the caches that the job reads; one that cannot be read is as none. */
export async function restoreCaches(caching: Caching): Promise<void> {
  for (const { key, fallback_keys, policy } of caching.job.cache ?? []) {
    if (policy === 'push') continue
    const keys = [key, ...(fallback_keys ?? [])].map((each) => keyOf(caching, each))
    caching.say(`Checking cache for ${keys[0]}...`)
    const found = await firstOf(keys, async (each) => {
      const path = pathOf(caching, each)
      return (await stat(path).catch(() => undefined)) === undefined ? undefined : { each, path }
    })
    if (found === undefined) caching.say('No cache on this machine')
    else
      await readZip(found.path, caching.project).then(
        () => caching.say(`Successfully extracted cache ${found.each}`),
        (error: unknown) => caching.say(`WARNING: Failed to extract cache: ${String(error)}`),
      )
  }
}

async function firstOf<T>(
  keys: readonly string[],
  find: (key: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const key of keys) {
    const found = await find(key)
    if (found !== undefined) return found
  }
  return undefined
}

const isDue = ({ policy, when }: CacheSpec, isSuccess: boolean): boolean =>
  policy !== 'pull' && (when === 'always' || (when === 'on_failure') === !isSuccess)

/** Packs what the job writes into caches. */
export async function archiveCaches(caching: Caching, isSuccess: boolean): Promise<void> {
  for (const [at, spec] of (caching.job.cache ?? []).entries()) {
    if (!isDue(spec, isSuccess)) continue
    const key = keyOf(caching, spec.key)
    caching.say(`Creating cache ${key}...`)
    const { files, notes } = await selectFiles(caching.project, {
      paths: (spec.paths ?? []).map((path) => expand(path, caching.values)),
      exclude: [],
      untracked: spec.untracked ? await caching.untracked() : [],
    })
    for (const note of notes) caching.say(note)
    if (files.length === 0) continue
    const target = pathOf(caching, key)
    const packed = join(caching.temporary, `cache-${at}.zip`)
    await mkdir(join(caching.directory, String(caching.job.job_info.project_id)), { recursive: true })
    await writeZip(caching.project, files, packed)
    // Jobs that read it meanwhile have the old one.
    const beside = `${target}.${caching.job.id}`
    await copyFile(packed, beside)
    await rename(beside, target)
    caching.say('Created cache')
  }
}
