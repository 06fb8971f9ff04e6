import { Type as t, type Static } from 'typebox'
import type { Commit as GitCommit, GitDate } from '../../git/objects/commit.ts'
import type { Stats } from '../../git/processes/diff_tree.ts'
import { parseTrailers } from '../../git/objects/trailers.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { readCommits } from '../../core/repositories/commit_reading.ts'
import { Pipeline } from '../pipelines/pipeline.ts'

const moment = t.Unsafe<string>({ type: 'string', format: 'date-time' })
const CommitStats = t.Object({ additions: t.Integer(), deletions: t.Integer(), total: t.Integer() })

const record = {
  id: t.String(),
  short_id: t.String(),
  created_at: moment,
  parent_ids: t.Array(t.String()),
  title: t.String(),
  message: t.String(),
  author_name: t.String(),
  author_email: t.String(),
  authored_date: moment,
  committer_name: t.String(),
  committer_email: t.String(),
  committed_date: moment,
  trailers: t.Record(t.String(), t.String()),
  extended_trailers: t.Record(t.String(), t.Array(t.String())),
  web_url: t.String(),
  stats: t.Optional(CommitStats),
}

/** A commit as an item of a list, or inside another record. */
export const Commit = t.Object(record)

/** A commit by itself. */
export const CommitDetail = t.Object({
  ...record,
  status: t.Unsafe<string | null>({ type: ['string', 'null'] }),
  project_id: t.Integer(),
  last_pipeline: t.Unsafe<Static<typeof Pipeline> | null>({ ...Pipeline, type: ['object', 'null'] }),
})

const SHORT = 8
const NONE = Object.freeze({})

/** Fields of a commit that its bytes decide. Cached as long as the commit. */
interface Shown {
  readonly short_id: string
  readonly title: string
  readonly authored_date: string
  readonly committed_date: string
}
const shown = new WeakMap<GitCommit, Shown>()

function show(commit: GitCommit): Shown {
  const known = shown.get(commit)
  if (known !== undefined) return known
  const made = {
    short_id: commit.id.slice(0, SHORT),
    title: titleOf(commit.message),
    authored_date: isoDate(commit.author.date),
    committed_date: isoDate(commit.committer.date),
  }
  shown.set(commit, made)
  return made
}

export interface Parts {
  readonly stats: Stats | undefined
  readonly trailers: boolean
}

/** A commit as the interface shows it. */
export function presentCommit(
  commit: GitCommit,
  project: { readonly full_path: string },
  { config }: Pick<Instance, 'config'>,
  parts: Parts = { stats: undefined, trailers: false },
): Static<typeof Commit> {
  const { trailers, extended } = parts.trailers
    ? parseTrailers(commit.message)
    : { trailers: NONE, extended: NONE }
  const { short_id, title, authored_date, committed_date } = show(commit)
  return {
    id: commit.id,
    short_id,
    created_at: committed_date,
    parent_ids: commit.parents as string[],
    title,
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date,
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date,
    trailers,
    extended_trailers: extended as Record<string, string[]>,
    web_url: `${config.url}/${project.full_path}/-/commit/${commit.id}`,
    ...(parts.stats && { stats: { ...parts.stats } }),
  }
}

interface Kept {
  readonly address: string
  readonly items: readonly Static<typeof Commit>[]
}
/** Characters of messages above which a page is not kept. */
const MAX_KEPT_LENGTH = 256 * 1024
const kept = new WeakMap<readonly string[], Kept>()

/**
 * A page of history, which never changes: presented once, and frozen, for as long as the array of hashes lives and the
 * project keeps its address.
 */
export async function presentPage(
  shas: readonly string[],
  repository: Pick<Repository, 'commit'>,
  project: { readonly full_path: string },
  instance: Pick<Instance, 'config'>,
): Promise<readonly Static<typeof Commit>[]> {
  const address = `${instance.config.url}/${project.full_path}`
  const known = kept.get(shas)
  if (known?.address === address) return known.items
  const commits = await readCommits(repository, shas)
  const items = Object.freeze(commits.map((one) => presentCommit(one, project, instance)))
  const length = commits.reduce((sum, { message }) => sum + message.length, 0)
  if (items.length === shas.length && length <= MAX_KEPT_LENGTH) kept.set(shas, { address, items })
  return items
}

/** The first line that says something. */
const titleOf = (message: string): string => message.trimStart().split('\n', 1)[0]?.trimEnd() ?? ''

/** Milliseconds that a date can be from 1970; git can record more. */
const FARTHEST = 8.64e15

/** `2026-01-31T10:00:00.000+02:00`: the moment in the zone the commit was made in. */
export function isoDate({ seconds, offset }: GitDate): string {
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d\d)(\d\d)$/.exec(offset) ?? []
  const shift = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
  const local = Math.min(seconds * 1000 + shift, FARTHEST)
  return `${new Date(local).toISOString().slice(0, -1)}${sign}${hours}:${minutes}`
}
