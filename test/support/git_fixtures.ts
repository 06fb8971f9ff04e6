/* Shared by the tests of this room: a scratch directory, the git command line to compare with, and a seeded history. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { gitEnvironment } from '../../src/git/processes/environment.ts'
import { openGit, type Git, type GitOptions } from '../../src/git/git.ts'
import { runGit } from './git_runs.ts'

const path = '/usr/local/bin:/usr/bin:/bin'

/** An empty directory that is removed when the test process ends, and with it all that might still write there. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'guildhall-test-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}

/** A room over `root` that is closed after the tests of the calling file. */
export function openTestGit(root: string, options: Partial<GitOptions> = {}): Git {
  const git = openGit({ root, path, ...options })
  after(() => git.close())
  return git
}

/** Runs the real git on `gitDirectory` and returns its stdout as bytes. */
export function gitBytes(gitDirectory: string, args: readonly string[], input?: string | Buffer): Buffer {
  const env = {
    ...gitEnvironment(path),
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@x',
    GIT_COMMITTER_NAME: 'C',
    GIT_COMMITTER_EMAIL: 'c@x',
  }
  return runGit({ args: [`--git-dir=${gitDirectory}`, ...args], env, input: input ?? '' })
}

/** Like gitBytes, as text without the last line feed. */
export function gitText(gitDirectory: string, args: readonly string[], input?: string | Buffer): string {
  return gitBytes(gitDirectory, args, input).toString().replace(/\n$/, '')
}

/** Like gitText, as lines; none for no output. */
export function gitLines(gitDirectory: string, args: readonly string[], input?: string | Buffer): string[] {
  const text = gitText(gitDirectory, args, input)
  return text === '' ? [] : text.split('\n')
}

/** Makes an empty bare repository. */
export function initRepository(gitDirectory: string): void {
  mkdirSync(gitDirectory, { recursive: true })
  gitText(gitDirectory, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main'])
}

/** Writes an executable shell script that stands in for git. */
export function writeProgram(directory: string, name: string, script: string): string {
  const file = join(directory, name)
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

/** A repeatable source of whole numbers below `bound`. */
export function dice(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

const people = [
  'Ada Lovelace <ada@example.org>',
  'ada lovelace <ADA@example.org>',
  'Jürgen Groß <juergen@straße.example>',
  '山田 太郎 <yamada@example.jp>',
  "O'Neil (a+)+$ .* <regex@example.org>",
  ' <>',
]
const files = [
  'README.md',
  'src/a.ts',
  'src/b.ts',
  'src/deep/er/c.ts',
  'docs/ümläut.md',
  'docs/日本.txt',
  '*.glob',
]
const messages = [
  'Plain title\n',
  'Title\n\nBody line\n\nSigned-off-by: Ada <ada@example.org>\nReviewed-by: B <b@x>\n',
  'Ünïcode 日本語\n\nChangelog: added\nChangelog: fixed\n',
  'No newline at the end',
  '',
  '\n\nLeading blank lines\n\nKey: value\n',
]

/**
 * Writes a history of `count` commits with merges, octopus merges, renames, deletions, empty commits, equal and
 * backward dates, several roots, non-ASCII paths and authors, Latin-1 messages, branches and tags of both kinds.
 */
export function writeHistory(gitDirectory: string, count: number, seed: number): void {
  initRepository(gitDirectory)
  const roll = dice(seed)
  const stream: Buffer[] = []
  const put = (text: string | Buffer): void => void stream.push(Buffer.from(text))
  const putText = (text: string | Buffer): void => {
    const bytes = Buffer.from(text)
    put(`data ${bytes.length}\n`)
    put(bytes)
    put('\n')
  }
  const branches = ['main', 'feature/x.1', 'ümläut', 'abcd', 'v1']
  const tips = new Map<string, number>()
  let time = 1_600_000_000
  for (let mark = 1; mark <= count; mark += 1) {
    const branch = branches[mark < 30 ? 0 : roll(branches.length)] ?? 'main'
    time += [0, 0, 1, 60, 3_600, -1_800][roll(6)] ?? 0
    const zone = ['+0000', '+0200', '-0730'][roll(3)]
    const latin = roll(15) === 0
    put(`commit refs/heads/${branch}\nmark :${mark}\n`)
    put(`author ${people[roll(people.length)]} ${time - roll(1_000)} ${zone}\n`)
    put(`committer ${people[roll(people.length)]} ${time} ${zone}\n`)
    if (latin) put('encoding ISO-8859-1\n')
    putText(latin ? Buffer.from('Grüße aus Köln\n', 'latin1') : (messages[roll(messages.length)] ?? ''))
    const parents = parentsFor(tips, branch, mark, roll)
    for (const [index, parent] of parents.entries()) put(`${index === 0 ? 'from' : 'merge'} :${parent}\n`)
    if (roll(12) !== 0) putChanges(put, putText, roll, parents.length > 0)
    put('\n')
    tips.set(branch, mark)
    if (mark % 50 === 0) put(`tag t/${mark}\nfrom :${mark}\ntagger T <t@x> ${time} +0000\ndata 4\ntag\n\n`)
  }
  gitText(gitDirectory, ['fast-import', '--quiet', '--force'], Buffer.concat(stream))
  gitText(gitDirectory, ['tag', '-m', 'nested', 'nested', 't/50'])
  gitText(gitDirectory, ['tag', 'light', 'main~3'])
  gitText(gitDirectory, ['tag', 'v1', 'main~5'])
}

function parentsFor(
  tips: ReadonlyMap<string, number>,
  branch: string,
  mark: number,
  roll: (bound: number) => number,
): number[] {
  const tip = tips.get(branch)
  if (tip === undefined) return mark === 1 || roll(4) === 0 ? [] : [1 + roll(mark - 1)]
  const others = [...tips.values()].filter((other) => other !== tip)
  const kind = roll(10)
  if (kind === 0) return [tip, ...others.slice(0, 3)]
  return kind < 3 && others.length > 0 ? [tip, ...others.slice(0, 1)] : [tip]
}

function putChanges(
  put: (text: string) => void,
  putText: (text: string) => void,
  roll: (bound: number) => number,
  mayRename: boolean,
): void {
  const file = files[roll(files.length)] ?? ''
  const lines = Array.from({ length: 1 + roll(30) }, () => `line ${roll(9)}\n`).join('')
  put(`M 100644 inline ${file}\n`)
  putText(roll(20) === 0 ? `\0binary${lines}` : lines)
  if (mayRename && roll(8) === 0) put(`C ${file} moved/${roll(5)}/${file}\n`)
  if (mayRename && roll(8) === 0) put(`R ${file} renamed/${roll(5)}/${file}\n`)
}
