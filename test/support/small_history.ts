import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { gitText, initRepository, scratch } from './git_fixtures.ts'

/** The commits of the small history, oldest first: each is an hour younger than the one before. */
export const COMMITS = ['root', 'source', 'docs', 'change', 'readme', 'merge', 'empty'] as const
export type CommitName = (typeof COMMITS)[number]

export interface SmallHistory {
  readonly directory: string
  readonly sha: Readonly<Record<CommitName, string>>
}

/** When the root was committed; its author wrote it, as all others, a day before. */
const NOON = Date.UTC(2024, 0, 10, 12) / 1000
const HOUR = 3600
const DAY = 24 * HOUR

interface Wanted {
  readonly branch: 'main' | 'feature/login'
  readonly author: string
  readonly zone: string
  readonly message: string
  readonly parents?: readonly CommitName[]
  readonly files?: Readonly<Record<string, string>>
}

const ADA = 'Ada Lovelace <ada@example.org>'
const JÜRGEN = 'Jürgen Groß <juergen@straße.example>'
const DOCS = { 'docs/ümläut.md': 'Grüße\n' }
const README = { README: 'one\ntwo\nthree\n' }

const WANTED: Readonly<Record<CommitName, Wanted>> = {
  root: {
    branch: 'main',
    author: ADA,
    zone: '+0000',
    message: 'Begin\n',
    files: { README: 'one\ntwo\n' },
  },
  source: {
    branch: 'main',
    author: JÜRGEN,
    zone: '+0200',
    message: 'Füge Quelltext hinzu\n',
    parents: ['root'],
    files: { 'src/a.ts': '1\n2\n3\n', '*.glob': 'x\n' },
  },
  docs: {
    branch: 'feature/login',
    author: '山田 太郎 <yamada@example.jp>',
    zone: '-0730',
    message: '文書\n',
    parents: ['source'],
    files: DOCS,
  },
  change: {
    branch: 'main',
    author: ADA,
    zone: '+0000',
    message:
      'Change the source\n\nA longer reason.\n\nReviewed-by: B <b@x>\nChangelog: added\nReviewed-by: C <c@x>\n',
    parents: ['source'],
    files: { 'src/a.ts': '1\ntwo\n3\n' },
  },
  readme: {
    branch: 'feature/login',
    author: JÜRGEN,
    zone: '+0200',
    message: 'Say more\n',
    parents: ['docs'],
    files: README,
  },
  merge: {
    branch: 'main',
    author: ADA,
    zone: '+0100',
    message: "Merge branch 'feature/login'\n",
    parents: ['change', 'readme'],
    files: { ...DOCS, ...README },
  },
  empty: {
    branch: 'main',
    author: "O'Neil (a+)+$ <o@x>",
    zone: '+0545',
    message: 'Nothing',
    parents: ['merge'],
  },
}

/**
 * Writes a repository with a branch `main`, a merged branch `feature/login`, the tags `v1.0` (plain, on `change`),
 * `v2.0` (annotated, on `merge`) and `release/1` (plain, on `docs`).
 */
export function writeSmallHistory(): SmallHistory {
  const directory = join(scratch(), 'small.git')
  initRepository(directory)
  const stream = COMMITS.map((name, i) => commitOf(WANTED[name], i)).join('')
  execFileSync('git', [`--git-dir=${directory}`, 'fast-import', '--quiet'], {
    input: stream,
  })
  const lines = gitText(directory, ['log', '--all', '--reverse', '--format=%H', '--date-order']).split('\n')
  const sha = Object.fromEntries(COMMITS.map((name, i) => [name, lines[i] ?? ''])) as SmallHistory['sha']
  gitText(directory, ['tag', 'v1.0', sha.change])
  gitText(directory, ['tag', '-m', 'two', 'v2.0', sha.merge])
  gitText(directory, ['tag', 'release/1', sha.docs])
  return { directory, sha }
}

function commitOf({ branch, author, zone, message, parents = [], files = {} }: Wanted, i: number): string {
  const time = NOON + i * HOUR
  const mark = (name: CommitName): string => `:${COMMITS.indexOf(name) + 1}`
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  return [
    `commit refs/heads/${branch}\nmark :${i + 1}\n`,
    `author ${author} ${time - DAY} ${zone}\ncommitter C. Ommitter <c@example.org> ${time} ${zone}\n`,
    data(message),
    ...parents.map((name, at) => `${at === 0 ? 'from' : 'merge'} ${mark(name)}\n`),
    ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`),
    '\n',
  ].join('')
}
