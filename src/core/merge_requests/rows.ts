import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import { statement, type Slots } from '../../db/statement.ts'

/** Columns of an open merge request that its branches decide. */
export type OpenRequest = Pick<
  MergeRequest,
  'id' | 'iid' | 'project_id' | 'source_project_id' | 'source_branch' | 'target_branch' | 'head_sha'
> & {
  readonly merge_status: MergeStatus
  /** Where merges that were begun move the target branch. */
  readonly merging_to: readonly string[]
}
export type MergeStatus = 'unchecked' | 'can_be_merged' | 'cannot_be_merged' | 'broken'

const columns = sql`m.id, m.iid, m.project_id, m.source_project_id, m.source_branch, m.target_branch, m.head_sha,
  m.merge_status, array(select g.commit_sha from merge_request_merges g where g.merge_request_id = m.id) as merging_to`
const onBranches = statement(
  (p: Slots<{ project_id: number; branches: readonly string[] }>) => sql<OpenRequest>`
    select ${columns} from merge_requests m
     where m.source_project_id = ${p.project_id} and m.source_branch = any(${p.branches}::text[]) and m.state = 'opened'
    union
    select ${columns} from merge_requests m
     where m.project_id = ${p.project_id} and m.target_branch = any(${p.branches}::text[]) and m.state = 'opened'`,
)
const inProject = statement(
  (p: Slots<{ project_id: number }>) => sql<OpenRequest>`
    select ${columns} from merge_requests m where m.source_project_id = ${p.project_id} and m.state = 'opened'
    union
    select ${columns} from merge_requests m where m.project_id = ${p.project_id} and m.state = 'opened'`,
)

const byId = statement(
  (p: Slots<{ id: number }>) => sql<OpenRequest>`
    select ${columns} from merge_requests m where m.id = ${p.id} and m.state = 'opened'`,
)
export const findOpenRequest = (db: Db, id: number): Promise<OpenRequest | undefined> => db.one(byId, { id })

/** The open merge requests from or into the branches of a project; without names of any branch. */
export const openRequests = (
  db: Db,
  project: { readonly id: number },
  branches: readonly string[] | undefined,
): Promise<OpenRequest[]> =>
  branches === undefined
    ? db.rows(inProject, { project_id: project.id })
    : db.rows(onBranches, { project_id: project.id, branches })

/** Merge requests that are led on when the branch they go into is merged and goes, as published. */
const LED_ON = 4
interface Turn {
  readonly project_id: number
  readonly from: string
  readonly to: string
}
const stacked = statement(
  (p: Slots<Turn>) => sql<OpenRequest>`
    select ${columns} from merge_requests m
     where m.project_id = ${p.project_id} and m.target_branch = ${p.from} and m.state = 'opened'
       and (m.source_project_id <> m.project_id or m.source_branch <> ${p.to})
       and not exists (select from merge_requests o
                        where o.source_project_id = m.source_project_id and o.source_branch = m.source_branch
                          and o.project_id = m.project_id and o.target_branch = ${p.to} and o.state = 'opened')
     order by m.id limit ${sql.lit(LED_ON)}`,
)
/** The open merge requests into one branch of a project that can go into another instead, the oldest. */
export const stackedOn = (db: Db, turn: Turn): Promise<OpenRequest[]> => db.rows(stacked, turn)

const turn = statement(
  (p: Slots<Omit<Turn, 'project_id'> & { id: number }>) => sql`
    update merge_requests set target_branch = ${p.to}, updated_at = now()
     where id = ${p.id} and target_branch = ${p.from} and state = 'opened'`,
)
/**
 * Says whether it went into the one branch until now. Violates `merge_requests_open_key` when another open one has the
 * same branches.
 */
export const noteTurned = async (
  db: Db,
  id: number,
  { from, to }: Pick<Turn, 'from' | 'to'>,
): Promise<boolean> => (await db.run(turn, { id, from, to })) > 0

/** The ends that a merge request compares. */
export interface Compared {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
  readonly changes_count: string
  readonly status: MergeStatus
  /** Whether the target branch has what the source branch has not. */
  readonly behind: boolean
  /** Commits of the source branch that the target lacks, newest first. */
  readonly commits: readonly string[]
  /** The committers of the newest of them, each lower-cased address once. */
  readonly committer_emails: readonly string[]
}

type Noted = Pick<MergeRequest, 'id' | 'iid' | 'project_id'> & { fresh: boolean; before: string | null }
const compared = statement(
  (p: Slots<Compared & { id: number }>) => sql<Noted>`
    with last as (
      select d.base_sha, d.start_sha, d.head_sha from merge_request_diffs d
       where d.merge_request_id = ${p.id} order by d.id desc limit 1
    ), made as (
      insert into merge_request_diffs (merge_request_id, base_sha, start_sha, head_sha, changes_count, committer_emails)
      select ${p.id}, ${p.base_sha}, ${p.start_sha}, ${p.head_sha}, ${p.changes_count}, ${p.committer_emails}::text[]
       where not exists (select from last where base_sha = ${p.base_sha} and start_sha = ${p.start_sha}
                                            and head_sha = ${p.head_sha})
      returning id
    ), brought as (
      insert into merge_request_commits (merge_request_id, sha)
      select ${p.id}, unnest(${p.commits}::text[]) on conflict do nothing
    )
    update merge_requests m
       set head_sha = ${p.head_sha}, merge_error = null, merge_status = ${p.status},
           updated_at = case when exists (select from made) then now() else m.updated_at end
     where m.id = ${p.id}
    returning m.id, m.iid, m.project_id, exists (select from made) as fresh, (select head_sha from last) as before`,
)

/** Writes down what it compares now. `fresh` when that is something else than before. */
export const noteCompared = (db: Db, id: number, values: Compared): Promise<Noted | undefined> =>
  db.one(compared, { ...values, id })

const setStatus = statement(
  (p: Slots<{ ids: readonly number[]; status: MergeStatus }>) => sql`
    update merge_requests set merge_status = ${p.status}
     where id = any(${p.ids}::bigint[]) and merge_status <> ${p.status}`,
)
export const noteStatus = async (db: Db, ids: readonly number[], status: MergeStatus): Promise<void> => {
  if (ids.length > 0) await db.run(setStatus, { ids, status })
}

/** A merge that is about to move the target branch. */
export interface Intent {
  readonly id: number
  readonly commit_sha: string
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
  readonly user_id: number | null
}
const intend = statement(
  (p: Slots<Intent & { target_branch: string }>) => sql<{ open: boolean }>`
    with open as materialized (
      select id from merge_requests
       where id = ${p.id} and state = 'opened' and target_branch = ${p.target_branch} for no key update
    ), noted as (
      insert into merge_request_merges (merge_request_id, commit_sha, merge_commit_sha, squash_commit_sha, user_id)
      select id, ${p.commit_sha}, ${p.merge_commit_sha}, ${p.squash_commit_sha}, ${p.user_id}::bigint from open
          on conflict (merge_request_id, commit_sha) do update set created_at = now())
    select exists (select from open) as open`,
)
/**
 * Writes down what a merge will be: whoever finds its commit in the target branch finishes it. False where it is no longer
 * open, into that branch; it stays so until the merge is over.
 */
export const noteIntent = async (
  db: Db,
  intent: Intent & { readonly target_branch: string },
): Promise<boolean> => (await db.rows(intend, intent))[0]?.open === true

const forget = statement(
  (p: Slots<Pick<Intent, 'id' | 'commit_sha'>>) => sql`
    delete from merge_request_merges where merge_request_id = ${p.id} and commit_sha = ${p.commit_sha}`,
)
/** A merge that moved nothing. */
export const forgetIntent = (db: Db, { id, commit_sha }: Intent): Promise<number> =>
  db.run(forget, { id, commit_sha })

const merging = statement(
  (p: Slots<{ id: number }>) => sql<object>`
    select from merge_request_merges
     where merge_request_id = ${p.id} and created_at > now() - interval '1 minute' limit 1`,
)
/** Whether a merge has begun and its end is not known; one that ended with its process is forgotten after a minute. */
export const isBeingMerged = async (db: Db, id: number): Promise<boolean> =>
  (await db.one(merging, { id })) !== undefined

const intended = statement(
  (p: Slots<{ id: number }>) => sql<{ commit_sha: string }>`
    select commit_sha from merge_request_merges where merge_request_id = ${p.id}`,
)
/** The commits of merges that were begun and not finished. */
export const findIntents = async (db: Db, id: number): Promise<string[]> =>
  (await db.rows(intended, { id })).map(({ commit_sha }) => commit_sha)

/** An open merge request whose head is in its target branch, with what is known of how that came. */
export type Landed = Pick<
  MergeRequest,
  | 'id'
  | 'iid'
  | 'project_id'
  | 'title'
  | 'description'
  | 'head_sha'
  | 'source_project_id'
  | 'source_branch'
  | 'target_branch'
> & {
  readonly base_sha: string | null
  readonly start_sha: string | null
  readonly intents: readonly Omit<Intent, 'id'>[]
  readonly default_branch: string | null
  readonly closes: boolean
}
const landed = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<Landed>`
    select m.id, m.iid, m.project_id, m.title, m.description, m.head_sha,
           m.source_project_id, m.source_branch, m.target_branch, d.base_sha, d.start_sha,
           (select coalesce(json_agg(g), '[]') from merge_request_merges g where g.merge_request_id = m.id) as intents,
           p.default_branch,
           coalesce((p.settings->>'autoclose_referenced_issues')::boolean, true) as closes
      from merge_requests m join projects p on p.id = m.project_id
      left join lateral (select d.base_sha, d.start_sha from merge_request_diffs d
                          where d.merge_request_id = m.id order by d.id desc limit 1) d on true
     where m.id = any(${p.ids}::bigint[]) and m.state = 'opened'
     order by m.id`,
)
export const findLanded = (db: Db, ids: readonly number[]): Promise<Landed[]> => db.rows(landed, { ids })

const merged = statement(
  (p: Slots<Omit<Intent, 'commit_sha'>>) => sql<{ id: number }>`
    with gone as (delete from merge_request_merges where merge_request_id = ${p.id}),
         waited as (delete from auto_merges where merge_request_id = ${p.id})
    update merge_requests
       set state = 'merged', merged_at = now(), merged_by_id = ${p.user_id}, updated_at = now(),
           merge_commit_sha = ${p.merge_commit_sha}, squash_commit_sha = ${p.squash_commit_sha},
           squash = squash or ${p.squash_commit_sha}::text is not null
     where id = ${p.id} and state = 'opened'
    returning id`,
)
/** Says whether it was open until now. */
export const noteMerged = async (db: Db, done: Omit<Intent, 'commit_sha'>): Promise<boolean> =>
  (await db.one(merged, done)) !== undefined

const mergedBy = statement(
  (p: Slots<{ project_id: number; sha: string }>) => sql<object>`
    select from merge_requests
     where project_id = ${p.project_id} and merge_commit_sha = ${p.sha} and state = 'merged' limit 1`,
)
/** Whether the commit is what merged a merge request of the project. */
export const mergedOne = async (db: Db, projectId: number, sha: string): Promise<boolean> =>
  (await db.one(mergedBy, { project_id: projectId, sha })) !== undefined
