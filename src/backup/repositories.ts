import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isSha } from '../git/names.ts'
import { filesBelow, isMissing, type Target } from './files.ts'

/** The refs of a repository at one moment. */
export interface Captured {
  readonly id: number
  readonly directory: string
  /** Below `repositories/`. */
  readonly path: string
  readonly head: string
  readonly refs: ReadonlyMap<string, string>
  /** When a ref last moved, in milliseconds. */
  readonly movedAt: number
}

const textOf = async (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return ''
    throw error
  })
const timeOf = async (file: string): Promise<number> =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

/**
 * Reads the refs of a repository; undefined where there is none. Loose refs come before packed ones: `git pack-refs`
 * writes the packed file before it removes the loose one.
 */
export async function captureRefs(
  id: number,
  directory: string,
  path: string,
): Promise<Captured | undefined> {
  const head = await textOf(join(directory, 'HEAD'))
  if (head === '') return undefined
  const entries = await readdir(join(directory, 'refs'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  )
  const loose = new Map<string, string>()
  const times = [await timeOf(join(directory, 'packed-refs')), await timeOf(join(directory, 'refs'))]
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name)
    times.push(await timeOf(file))
    const text = entry.isFile() && !entry.name.endsWith('.lock') ? (await textOf(file)).trim() : ''
    if (isSha(text)) loose.set(file.slice(directory.length + 1), text)
  }
  const packed = (await textOf(join(directory, 'packed-refs')))
    .split('\n')
    .filter((line) => /^[0-9a-f]/.test(line))
    .map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))] as const)
  const refs = new Map(
    [...packed, ...loose].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  )
  return { id, directory, path, head, refs, movedAt: Math.max(...times) }
}

/** Temporary files of writes under way, and indexes over several packs, which git writes again. */
const PASSED_OVER = /(?:^|\/)(?:tmp_|\.tmp-|tmp-|multi-pack-index)|\.lock$/
const isObject = (path: string): boolean =>
  /^[0-9a-f]{2}\/[0-9a-f]+$/.test(path) || (path.startsWith('pack/') && !PASSED_OVER.test(path))

/** Writes the captured refs, and copies all objects that were there when they were captured. */
export async function copyRepository(captured: Captured, target: Target): Promise<void> {
  const { directory, path, head, refs } = captured
  const below = `repositories/${path}`
  for (const name of await readdir(directory))
    if (['config', 'description', 'shallow'].includes(name))
      await target.copy(join(directory, name), `${below}/${name}`)
  const lines = [...refs].map(([name, id]) => `${id} ${name}\n`).join('')
  await target.write(`${below}/packed-refs`, [Buffer.from(`# pack-refs with: sorted \n${lines}`)])
  // A repack writes new packs and then removes what they replace: a listing that lost a file is made again.
  while (!(await copyObjects(join(directory, 'objects'), `${below}/objects`, target)));
  // Last: a folder with a HEAD is a repository that is whole.
  await target.write(`${below}/HEAD`, [Buffer.from(head)])
}

async function copyObjects(objects: string, below: string, target: Target): Promise<boolean> {
  const packs = join(objects, 'pack')
  const before = await timeOf(packs)
  const paths = (await filesBelow(objects)).filter(isObject)
  if ((await timeOf(packs)) !== before) return false
  for (const path of paths) {
    if (target.has(`${below}/${path}`)) continue
    if (!(await target.copy(join(objects, path), `${below}/${path}`))) return false
  }
  return true
}
