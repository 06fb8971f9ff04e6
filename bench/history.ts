import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const COMMITS = 4_000

/** The repository to import: the first that `TEST_REPOSITORIES` leads to, or a made-up one written below `folder`. */
export function repositoryFor(folder: string, given = process.env['TEST_REPOSITORIES']): string {
  const named = (given ?? '').split(delimiter).filter((path) => path !== '')
  const found = named.flatMap((path) => [path, ...inside(path)]).find(isRepository)
  if (found !== undefined) return found
  const path = join(folder, 'history.git')
  git(['init', '--quiet', '--bare', '--initial-branch=main', path])
  git(['-C', path, 'fast-import', '--quiet'], stream())
  return path
}

const inside = (path: string): string[] =>
  existsSync(path) && !isRepository(path)
    ? readdirSync(path)
        .sort()
        .map((name) => join(path, name))
    : []

const isRepository = (path: string): boolean =>
  existsSync(join(path, '.git')) || existsSync(join(path, 'HEAD'))

function git(args: readonly string[], input = ''): void {
  const { status, stderr, error } = spawnSync('git', args, { input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${error?.message ?? stderr}`)
}

/** One branch on which forty files change in turn. */
function stream(): string {
  const part = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  const commits = Array.from({ length: COMMITS }, (_, i) => {
    const who = `Person ${i % 30} <person-${i % 30}@bench.example> ${1_600_000_000 + i * 3_600} +0200`
    const message = `Change number ${i}\n\nWhy it was made, in a line.\n\nReviewed-by: Person ${i % 7} <p@bench.example>\n`
    const lines = Array.from({ length: 20 + (i % 30) }, (__, line) => `line ${line} of ${i - (line % 5)}\n`)
    return (
      `commit refs/heads/main\nmark :${i + 1}\nauthor ${who}\ncommitter ${who}\n${part(message)}` +
      `${i === 0 ? '' : `from :${i}\n`}M 100644 inline folder-${i % 8}/file-${i % 40}.txt\n${part(lines.join(''))}\n`
    )
  })
  return commits.join('')
}
