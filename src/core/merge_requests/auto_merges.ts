import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { Busy } from '../../db/errors.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { enqueueAll, type Job } from '../../jobs/job.ts'
import { isBeingMerged } from './rows.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'

// Merge requests that are merged when their head pipeline succeeds.

/** How the merge was asked for. */
export interface AutoMergeOptions {
  readonly squash: boolean | null
  readonly should_remove_source_branch: boolean | null
  readonly merge_commit_message: string | null
  readonly squash_commit_message: string | null
}
interface NewAutoMerge extends AutoMergeOptions {
  readonly merge_request_id: number
  readonly user_id: number
  readonly head_sha: string
}
export interface AutoMerge extends AutoMergeOptions {
  readonly id: number
  readonly user_id: number | null
  readonly head_sha: string
  readonly project_id: number
  readonly iid: number
}

/** Judges one merge request that waits, and merges it where its head pipeline has succeeded. Runs in `areas/merge_requests`. */
export const AUTO_MERGE: Pick<Job<{ readonly merge_request_id: number }>, 'name'> = { name: 'auto_merge' }

/** Why an automatic merge was given up, in the published words where there are any. */
const GIVEN_UP = {
  closed: 'merge request was closed',
  draft: 'merge request was marked as draft',
  source: 'source branch was updated',
  target: 'target branch was changed',
  pipeline: 'pipeline did not succeed',
  user: 'user can no longer merge',
  state: 'merge request cannot be merged',
} as const
export type GivenUp = keyof typeof GIVEN_UP

const insert = statement(
  (p: Slots<NewAutoMerge>) => sql<{ fresh: boolean }>`
    insert into auto_merges (merge_request_id, user_id, head_sha, squash, should_remove_source_branch,
                             merge_commit_message, squash_commit_message)
    values (${p.merge_request_id}, ${p.user_id}, ${p.head_sha}, ${p.squash}, ${p.should_remove_source_branch},
            ${p.merge_commit_message}, ${p.squash_commit_message})
        on conflict (merge_request_id) do update
       set user_id = excluded.user_id, head_sha = excluded.head_sha, squash = excluded.squash,
           should_remove_source_branch = excluded.should_remove_source_branch,
           merge_commit_message = excluded.merge_commit_message, squash_commit_message = excluded.squash_commit_message
    returning xmax = 0 as fresh`,
)
const touch = statement(
  (p: Slots<{ id: number }>) => sql`update merge_requests set updated_at = now() where id = ${p.id}`,
)

/**
 * Lets a merge request wait for its pipeline; asked again, the newest wish holds. Call inside a transaction that keeps
 * that pipeline from changing.
 */
export async function startAutoMerge(db: Db, wanted: NewAutoMerge): Promise<void> {
  const { merge_request_id: id, user_id, head_sha } = wanted
  if (!(await db.insert(insert, wanted)).fresh) return
  await db.run(touch, { id })
  const body = `enabled an automatic merge when the pipeline for ${head_sha} succeeds`
  await writeSystemNote(db, { noteable_id: id, author_id: user_id, action: 'merge', body })
}

const byRequest = statement(
  (p: Slots<{ id: number }>) => sql<AutoMerge>`
    select w.id, w.user_id, w.head_sha, w.squash, w.should_remove_source_branch, w.merge_commit_message,
           w.squash_commit_message, m.project_id, m.iid
      from auto_merges w join merge_requests m on m.id = w.merge_request_id
     where w.merge_request_id = ${p.id} and m.state = 'opened'`,
)
export const findAutoMerge = (db: Db, id: number): Promise<AutoMerge | undefined> => db.one(byRequest, { id })

const end = statement(
  (p: Slots<{ id: number; only: number | null }>) => sql`
    delete from auto_merges
     where merge_request_id = ${p.id} and id = coalesce(${p.only}::bigint, id)`,
)

interface End {
  readonly id: number
  readonly user_id: number | null
}
async function endAutoMerge(db: Db, { id, user_id }: End, body: string, only?: number): Promise<boolean> {
  if ((await db.run(end, { id, only: only ?? null })) === 0) return false
  await db.run(touch, { id })
  await writeSystemNote(db, { noteable_id: id, author_id: user_id, action: 'merge', body })
  return true
}

/** Ends the wait as a user wishes. Says whether there was one. */
export const cancelAutoMerge = (db: Db, ending: End): Promise<boolean> =>
  endAutoMerge(db, ending, 'canceled the automatic merge')

/** Gives an automatic merge up, if there is one, because of a change that its transaction makes. */
export async function giveUpAutoMerge(db: Db, ending: End, why: GivenUp): Promise<void> {
  await endAutoMerge(db, ending, `aborted the automatic merge because ${GIVEN_UP[why]}`)
}

const lock = statement(
  (p: Slots<{ id: number }>) => sql<object>`
    select from merge_requests where id = ${p.id} for no key update`,
)
/** The same after a refused merge. Throws Busy while another merge of it may have moved the branch. */
export async function giveUpRefused(
  db: Db,
  merge: Pick<AutoMerge, 'id' | 'user_id'> & { readonly merge_request_id: number },
  why: GivenUp,
): Promise<void> {
  const { merge_request_id: id, user_id } = merge
  await db.rows(lock, { id })
  if (await isBeingMerged(db, id)) throw new Busy('a merge request is being merged')
  await endAutoMerge(db, { id, user_id }, `aborted the automatic merge because ${GIVEN_UP[why]}`, merge.id)
}

const waitingFor = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ id: number }>`
    select distinct w.merge_request_id as id
      from pipelines l join auto_merges w on w.head_sha = l.sha
     where l.id = any(${p.ids}::bigint[])`,
)
/** Enqueues the judgement of merge requests that wait for these pipelines. Call in the transaction that changes them. */
export async function wakeAutoMerges(db: Db, pipelineIds: readonly number[]): Promise<void> {
  if (pipelineIds.length === 0) return
  const found = await db.rows(waitingFor, { ids: pipelineIds })
  const wanted = found.map(({ id }) => ({
    payload: { merge_request_id: id },
    key: `${AUTO_MERGE.name} ${id}`,
  }))
  await enqueueAll(db, AUTO_MERGE, wanted)
}
