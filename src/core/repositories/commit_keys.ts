import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

/** A caller's name for one attempt, under which it may be made again: the header `Idempotency-Key`. */
interface CommitKey {
  readonly project_id: number
  readonly user_id: number
  readonly key: string
  readonly branch: string
}

const find = statement((p: Slots<CommitKey>) =>
  q
    .selectFrom('commit_keys')
    .select('sha')
    .where('project_id', '=', p.project_id)
    .where('user_id', '=', p.user_id)
    .where('key', '=', p.key)
    .where('branch', '=', p.branch)
    .where('created_at', '>', sql<Date>`now() - interval '1 day'`),
)
const keep = statement(
  (p: Slots<CommitKey & { sha: string }>) => sql`
    with gone as (
      delete from commit_keys where project_id = ${p.project_id} and created_at < now() - interval '1 day' and key <> ${p.key}
    )
    insert into commit_keys (project_id, user_id, key, branch, sha)
    values (${p.project_id}, ${p.user_id}, ${p.key}, ${p.branch}, ${p.sha})
    on conflict (project_id, user_id, key)
    do update set branch = excluded.branch, sha = excluded.sha, created_at = now()`,
)

/** The commit that was made, or was to be made, under that key within a day. */
export const commitUnder = async (db: Db, key: CommitKey): Promise<string | undefined> =>
  (await db.one(find, key))?.sha

/** Notes the commit that is about to be its branch's tip. */
export const keepCommitKey = (db: Db, key: CommitKey, sha: string): Promise<number> =>
  db.run(keep, { ...key, sha })
