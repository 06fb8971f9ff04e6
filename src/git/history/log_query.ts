import type { Selection } from './history.ts'
import { isSha, treePath } from '../names.ts'

/** Which commits are listed. Exactly one of `from` and `all` is given. */
export interface LogQuery {
  /** Full hashes from which history is walked. */
  from?: readonly string[]
  /** True to walk from every branch and tag. */
  all?: true
  /** Full hashes whose history is left out, as `exclude..from`. */
  exclude?: readonly string[]
  /** Only commits that changed this file or directory; taken literally; empty for no filter. */
  path?: string
  /** Only commits whose author, as `Name <email>`, holds this text; literal, either case; empty for no filter. */
  author?: string
  /** Earliest commit time, inclusive: a Date or Unix seconds. As in git, the walk does not look behind older commits. */
  since?: Date | number
  /** Latest commit time, inclusive: a Date or Unix seconds. */
  until?: Date | number
  firstParent?: boolean
  /** True to follow the file at `path` over its renames. */
  follow?: boolean
  /** `default` is newest first by commit time; `topo` shows no parent before all its children, branch by branch. */
  order?: 'default' | 'topo'
  skip: number
  limit: number
}

const maxAuthorBytes = 1_000
const maxTimestamp = 2 ** 40

/**
 * The filter of a query, with `tips` as its start; undefined when no commit can pass. Throws TypeError for an invalid
 * query.
 */
export function selectionOf(query: LogQuery, tips: readonly string[]): Selection | undefined {
  checkQuery(query)
  const since = query.since === undefined ? 0 : Math.ceil(seconds(query.since))
  const until = query.until === undefined ? maxTimestamp : Math.floor(seconds(query.until))
  const author = query.author ?? ''
  const path = treePath(query.path ?? '')
  if (until < 0 || since >= maxTimestamp) return undefined
  // git reads a line feed in a pattern as "or"; no author line can hold one, nor a NUL.
  if (/[\n\0]/.test(author) || Buffer.byteLength(author) > maxAuthorBytes) return undefined
  if ((query.path ?? '') !== '' && path === undefined) return undefined
  return {
    tips,
    exclude: query.exclude ?? [],
    since: since > 0 ? since : -Infinity,
    until: until < maxTimestamp ? until : Infinity,
    firstParent: query.firstParent === true,
    isTopological: query.order === 'topo',
    path: (query.path ?? '') === '' ? undefined : path,
    author: author === '' ? undefined : author,
    follows: query.follow === true && (query.path ?? '') !== '',
  }
}

/** The arguments of `git rev-list`, or of `git log` for what only that does, for the same; hashes go to its stdin, as in `revisions`. */
export function revListArguments(selection: Selection, skip: number, count: number): string[] {
  const { since, until, author, path } = selection
  return [
    ...(selection.follows ? ['log', '--follow', '--format=%H'] : ['rev-list']),
    `--skip=${skip}`,
    `--max-count=${count}`,
    ...(selection.firstParent ? ['--first-parent'] : []),
    ...(selection.isTopological ? ['--topo-order'] : []),
    // Only the form "@seconds zone" is read by git as exactly that number.
    ...(since === -Infinity ? [] : [`--since=@${since} +0000`]),
    ...(until === Infinity ? [] : [`--until=@${until} +0000`]),
    ...(author === undefined ? [] : ['--fixed-strings', '--regexp-ignore-case', `--author=${author}`]),
    '--stdin',
    ...(path === undefined ? [] : ['--', path]),
  ]
}

function checkQuery(query: LogQuery): void {
  const shas = [...(query.from ?? []), ...(query.exclude ?? [])]
  if (!shas.every(isSha)) throw new TypeError('A log starts and ends at full hashes')
  if ((query.from === undefined) === (query.all === undefined))
    throw new TypeError('A log needs `from` or `all`')
  for (const count of [query.skip, query.limit]) {
    if (!Number.isSafeInteger(count) || count < 0) throw new TypeError('`skip` and `limit` are whole numbers')
  }
}

function seconds(moment: Date | number): number {
  const value = typeof moment === 'number' ? moment : moment.getTime() / 1_000
  if (Number.isNaN(value)) throw new TypeError('`since` and `until` are moments')
  return value
}
