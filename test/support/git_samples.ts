/* Random questions about a history, and the same questions as arguments of git. */
import assert from 'node:assert/strict'
import type { LogQuery } from '../../src/git/history/log_query.ts'
import { gitLines } from './git_fixtures.ts'

export type Roll = (bound: number) => number

/** Questions to a repository. */
export interface Subject {
  readonly shas: readonly string[]
  readonly paths: readonly string[]
  readonly authors: readonly string[]
  /** Unix seconds, as of commits. */
  readonly times: readonly number[]
}

export function pick<T>(items: readonly T[], roll: Roll): T {
  const item = items[roll(items.length)]
  assert.ok(item !== undefined)
  return item
}

/** Learns what is in a repository from the git command line. */
export function subjectOf(gitDirectory: string): Subject {
  const shown = ['log', '--branches', '--tags', '--no-mailmap', '--format=%H %ct %an <%ae>']
  const lines = gitLines(gitDirectory, shown)
  const authors = lines.map((line) => line.split(' ').slice(2).join(' '))
  const every = Math.ceil(lines.length / 300)
  const sampled = lines.filter((_, index) => index % every === 0).map((line) => line.slice(0, 40))
  const changed = [
    '-c',
    'core.quotePath=false',
    'log',
    '--no-walk',
    '--stdin',
    '-m',
    '--no-renames',
    '--name-only',
    '--format=',
  ]
  const files = [...new Set(gitLines(gitDirectory, changed, sampled.join('\n')))].filter(
    (path) => path !== '',
  )
  const folders = files.flatMap((file) =>
    file.split('/').map((_, depth, parts) => parts.slice(0, depth).join('/')),
  )
  return {
    shas: lines.map((line) => line.slice(0, 40)),
    times: lines.map((line) => Number(line.split(' ')[1])),
    authors: [...new Set(authors)].flatMap((name) => [
      name,
      name.slice(2, 9).toUpperCase(),
      name.split(' ')[0] ?? '',
    ]),
    paths: [...files, ...new Set(folders), 'absent', 'absent/too'].filter((path) => path !== ''),
  }
}

export function randomQuery(subject: Subject, roll: Roll): LogQuery {
  const one = (chance: number): boolean => roll(chance) === 0
  const moment = (): number => pick(subject.times, roll) + roll(3) - 1
  const sha = (): string => (one(2) ? pick(subject.shas.slice(0, 50), roll) : pick(subject.shas, roll))
  return {
    skip: pick([0, 0, 1, 20, 300], roll),
    limit: pick([1, 20, 100], roll),
    ...(one(6) ? { all: true } : { from: Array.from({ length: 1 + roll(2) }, sha) }),
    ...(one(3) ? { exclude: Array.from({ length: 1 + roll(2) }, sha) } : {}),
    ...(one(4) ? { since: moment() } : {}),
    ...(one(4) ? { until: new Date(moment() * 1_000) } : {}),
    ...(one(4) ? { author: pick(subject.authors, roll) } : {}),
    ...(one(4) ? { firstParent: true } : {}),
    ...(one(3) ? { order: 'topo' } : {}),
    ...(one(2) ? { path: pick(subject.paths, roll) } : {}),
  }
}

export function asArguments(query: LogQuery): string[] {
  const { since, until, author, path } = query
  return [
    'rev-list',
    `--skip=${query.skip}`,
    `-${query.limit}`,
    ...(query.all === true ? ['--branches', '--tags'] : (query.from ?? [])),
    ...(query.exclude ?? []).map((sha) => `^${sha}`),
    ...(typeof since === 'number' ? [`--since=@${since} +0000`] : []),
    ...(until instanceof Date ? [`--until=@${until.getTime() / 1_000} +0000`] : []),
    ...(author === undefined ? [] : ['-F', '-i', `--author=${author}`]),
    ...(query.firstParent === true ? ['--first-parent'] : []),
    ...(query.order === 'topo' ? ['--topo-order'] : []),
    ...(path === undefined ? [] : ['--', path]),
  ]
}

/**
 * Adds to a repository what random histories seldom have: criss-cross merges, submodules, symbolic links, modes, a file
 * that becomes a directory and back, commits that change nothing, and long runs of one and the same time.
 */
export function addTangle(gitDirectory: string, rounds: number): void {
  const parts: string[] = []
  const commit = (branch: string, mark: number, lines: readonly string[]): void => {
    const who = `Tangle <tangle@x> ${1_600_050_000 + Math.floor(mark / 40)} +0000`
    parts.push(`commit refs/heads/${branch}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\ndata 1\nx\n`)
    parts.push(lines.map((line) => `${line}\n`).join(''), '\n')
  }
  const file = (path: string, text: string, mode = '100644'): string =>
    `M ${mode} inline ${path}\ndata ${text.length}\n${text}`
  commit('left', 1, [file('shape', 'file'), file('tool', 'a'), file('docs/a', 'a')])
  commit('right', 2, ['from :1', file('docs/b', 'b')])
  let [left, right] = [1, 2]
  for (let round = 0; round < rounds; round += 1) {
    const at = 3 + round * 8
    commit('left', at, [`from :${left}`, file('tool', 'a', round % 2 === 0 ? '100755' : '100644')])
    commit('right', at + 1, [`from :${right}`, file('link', `to-${round % 3}`, '120000')])
    const module = String(round % 10).repeat(40)
    commit('left', at + 2, [`from :${at}`, `M 160000 ${module.replaceAll('0', 'a')} vendor/lib`])
    commit('right', at + 3, [`from :${at + 1}`])
    commit('left', at + 4, [`from :${at + 2}`, `merge :${at + 3}`, file('docs/c', `c${round}`)])
    commit('right', at + 5, [`from :${at + 3}`, `merge :${at + 2}`])
    const shape =
      round % 2 === 0 ? ['D shape', file('shape/inner', 'x')] : ['D shape', file('shape', `f${round}`)]
    commit('left', at + 6, [`from :${at + 4}`, ...shape])
    commit('right', at + 7, [
      `from :${at + 5}`,
      `merge :${at + 6}`,
      ...(round % 3 === 0 ? ['D vendor/lib'] : []),
    ])
    left = at + 6
    right = at + 7
  }
  gitLines(gitDirectory, ['fast-import', '--quiet', '--force'], parts.join(''))
}
