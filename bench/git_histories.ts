import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'

/** The shape of a made-up history. */
interface Shape {
  readonly name: string
  readonly commits: number
  readonly files: number
  readonly refs: number
}

const SHAPES: readonly Shape[] = [
  { name: 'small', commits: 4_000, files: 400, refs: 100 },
  { name: 'many-refs', commits: 16_000, files: 6_000, refs: 13_000 },
  { name: 'large', commits: 200_000, files: 8_000, refs: 150 },
]
/** Changes whenever the histories do, so that none of an older version is measured. */
const VERSION = 'v2'
const MERGE_EVERY = 9

export interface History {
  readonly name: string
  /** The repository's directory. */
  readonly path: string
}

/** The histories to measure on: three made-up ones, kept in the temporary folder, and those of `TEST_REPOSITORIES`. */
export async function histories(only: string, note: (text: string) => void): Promise<History[]> {
  const folder = join(tmpdir(), `guildhall-bench-histories-${VERSION}`)
  mkdirSync(folder, { recursive: true })
  const found: History[] = []
  for (const shape of SHAPES.filter(({ name }) => name.includes(only))) {
    const path = join(folder, `${shape.name}.git`)
    if (!existsSync(path)) {
      note(`Writing a history of ${shape.commits} commits …`)
      await write(path, shape)
    }
    found.push({ name: shape.name, path })
  }
  for (const given of (process.env['TEST_REPOSITORIES'] ?? '').split(delimiter)) {
    const name = basename(given)
      .replace(/\.git$/, '')
      .replaceAll(/[^\w.-]/g, '-')
    if (given === '' || !name.includes(only)) continue
    const path = join(folder, `given-${name}.git`)
    rmSync(path, { recursive: true, force: true })
    git(['clone', '--quiet', '--mirror', given, path])
    index(path)
    found.push({ name, path })
  }
  return found
}

export const place = (path: string): { root: string; name: string } => ({
  root: dirname(path),
  name: basename(path),
})

function git(args: readonly string[]): void {
  const { status, stderr } = spawnSync('git', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}

function index(path: string): void {
  git(['-C', path, 'pack-refs', '--all'])
  git(['-C', path, 'commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'])
}

async function write(path: string, shape: Shape): Promise<void> {
  const draft = `${path}.draft`
  rmSync(draft, { recursive: true, force: true })
  git(['init', '--quiet', '--bare', '--initial-branch=main', draft])
  const child = spawn('git', ['-C', draft, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  for (let commit = 1; commit <= shape.commits; commit += 1) {
    if (!child.stdin.write(commitText(shape, commit))) await once(child.stdin, 'drain')
  }
  const step = shape.commits / shape.refs
  for (let ref = 1; ref <= shape.refs; ref += 1) {
    const kind = ref % 10 === 0 ? 'heads/branch' : 'tags/v'
    child.stdin.write(`reset refs/${kind}-${ref}\nfrom :${Math.ceil(ref * step)}\n\n`)
  }
  child.stdin.end()
  await ended
  index(draft)
  renameSync(draft, path)
}

/** One or two of the files change in each; every ninth commit merges a line that left some commits before. */
function commitText({ files }: Shape, commit: number): string {
  const who = `Person ${commit % 350} <person-${commit % 350}@bench.example> ${1_400_000_000 + commit * 600} +0000`
  const isSide = commit % MERGE_EVERY === MERGE_EVERY - 2
  const isMerge = commit % MERGE_EVERY === 0
  const parent = isMerge
    ? commit - 1
    : (commit - 1) % MERGE_EVERY === MERGE_EVERY - 2
      ? commit - 2
      : commit - 1
  const from = commit === 1 ? '' : `from :${isSide ? Math.max(1, commit - 5) : parent}\n`
  const merge = isMerge ? `merge :${commit - 2}\n` : ''
  const change = (at: number): string => {
    const file = (at * 7_919) % files
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line} of ${at - (at % (line + 2))}\n`).join(
      '',
    )
    return `M 100644 inline area-${file % 20}/part-${file % 400}/file-${file}.txt\ndata ${lines.length}\n${lines}\n`
  }
  const message = `Change number ${commit}\n\nWhy it was made.\n`
  const changes = isMerge ? '' : change(commit) + (commit % 3 === 0 ? change(commit + 1_000_003) : '')
  const branch = isSide ? 'side' : 'main'
  return (
    `commit refs/heads/${branch}\nmark :${commit}\nauthor ${who}\ncommitter ${who}\n` +
    `data ${message.length}\n${message}\n${from}${merge}${changes}\n`
  )
}
