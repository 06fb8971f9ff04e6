/* Random questions about a history, and the same questions as arguments of git. */
import assert from 'node:assert/strict'
import type { LogQuery } from '../../src/git/log_query.ts'
import { gitLines } from './git_fixtures.ts'

export type Roll = (bound: number) => number

/** What a repository has to be asked about. */
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
