import { readEach } from '../../core/repositories/commit_reading.ts'
import { sql } from 'kysely'
import type { Project } from '../../core/places/projects.ts'
import { pushRules } from '../../core/repositories/protected_branches.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Repository } from '../../git/repository.ts'
import type { BranchRow } from './entity.ts'

export const HEADS = 'refs/heads/'

/** A branch by its name and tip. */
export interface Found {
  readonly name: string
  readonly id: string
}

type Sort = 'name_asc' | 'updated_asc' | 'updated_desc'

/** All branches in that order. */
export async function listFound(repository: Repository, sort: Sort): Promise<Found[]> {
  const refs =
    sort === 'name_asc'
      ? await repository.refs(HEADS)
      : await repository.sortedRefs(HEADS, { by: 'updated', descending: sort === 'updated_desc' })
  return refs.map(({ name, id }) => ({ name: name.slice(HEADS.length), id }))
}

interface Place {
  readonly db: Db
  readonly project: Project
  readonly repository: Repository
}

const defaultTip = async ({ project, repository }: Place): Promise<string | undefined> =>
  project.default_branch === null ? undefined : repository.ref(HEADS + project.default_branch)

/** Facts of branches beside their names, read for all of them at once. */
export async function complete(place: Place, some: readonly Found[]): Promise<BranchRow[]> {
  const { db, project, repository } = place
  const tip = await defaultTip(place)
  const ids = some.map(({ id }) => id)
  const [ruleOf, merged, commits] = await Promise.all([
    pushRules(db, project),
    tip === undefined ? new Set<string>() : repository.mergedInto(tip, ids),
    readEach(repository, ids),
  ])
  return some.flatMap(({ name, id }, i) => {
    const commit = commits[i]
    if (commit === undefined) return []
    // A branch at the commit of the default branch has no commits of its own and is not merged.
    return [{ name, commit, merged: id !== tip && merged.has(id), rule: ruleOf(name) }]
  })
}

/** The branches that the default branch holds the history of, without those that stand where it stands. */
export async function listMerged(place: Place): Promise<Found[]> {
  const tip = await defaultTip(place)
  if (tip === undefined) return []
  const all = await listFound(place.repository, 'name_asc')
  const ids = all.map(({ id }) => id)
  const merged = await place.repository.mergedInto(tip, ids)
  return all.filter(({ id }) => id !== tip && merged.has(id))
}

const match = statement(
  (p: Slots<{ names: readonly string[]; pattern: string }>) => sql<{ name: string }>`
    select name from unnest(${p.names}::text[]) name where name ~ ${p.pattern}`,
)

/** Milliseconds that a pattern may take. */
const PATIENCE = 1_000

/**
 * Those of the names that a regular expression finds; undefined for one that is none, or takes too long. PostgreSQL
 * reads it: it does so without backtracking, elsewhere than in this process, and gives up in time.
 */
export async function matching(
  db: Db,
  names: readonly string[],
  pattern: string,
): Promise<ReadonlySet<string> | undefined> {
  try {
    return await db.transaction(async (tx) => {
      await tx.script(`set local statement_timeout = ${PATIENCE}`)
      return new Set((await tx.rows(match, { names, pattern })).map(({ name }) => name))
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && FAULTS.has(String(error.code))) return undefined
    throw error
  }
}

/** No regular expression, out of time, too complex. */
const FAULTS = new Set(['2201B', '57014', '54000', '54001', '53400'])
