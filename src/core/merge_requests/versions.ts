import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Repository } from '../../git/repository.ts'
import { giveUpAutoMerge } from './auto_merges.ts'
import { hasResettable, resetApprovals } from './approvals.ts'
import { readCommits } from '../repositories/commit_reading.ts'
import { recordMergeRequest } from '../planning/merge_request_events.ts'
import { noteCompared, type Compared } from './rows.ts'
import { moveThreads, traceThreads } from '../conversation/note_position_rows.ts'
import { isSameChange, type Version } from '../conversation/note_positions.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'

// A new version of a merge request: what it compares after a push to its source branch, and what that means for what was
// said about the version before.

/** Commits that a note names. */
const NAMED = 50

interface Noting {
  readonly db: Db
  readonly repository: Repository
  /** The user that pushed. */
  readonly user_id: number | null
}

const newest = statement(
  (p: Slots<{ id: number }>) => sql<Version>`
    select base_sha, start_sha, head_sha from merge_request_diffs
     where merge_request_id = ${p.id} order by id desc limit 1`,
)

/** Writes down what the merge request compares now. All that git knows is read before the transaction. */
export async function noteVersion(
  { db, repository, user_id }: Noting,
  id: number,
  now: Compared,
): Promise<void> {
  const last = await db.one(newest, { id })
  const isMoved = last !== undefined && last.head_sha !== now.head_sha
  const [words, moves, resets] = isMoved
    ? await Promise.all([
        wordsForCommits(repository, { ...now, before: last.head_sha }),
        traceThreads({ db, repository }, id, [last, now]),
        hasResettable(db, id).then(async (has) => has && !(await isSameChange(repository, [last, now]))),
      ])
    : []
  await db.transaction(async (tx) => {
    const noted = await noteCompared(tx, id, now)
    if (noted?.fresh === true && noted.before !== now.head_sha)
      await giveUpAutoMerge(tx, { id, user_id }, 'source')
    if (noted?.fresh === true && noted.before !== null && noted.before !== now.head_sha)
      await recordMergeRequest(tx, noted, { action: 'update', author_id: user_id, oldrev: noted.before })
    // Another writer was first, and this version was not compared with that one's.
    if (noted?.fresh !== true || noted.before !== last?.head_sha) return
    if (words !== undefined)
      await writeSystemNote(tx, { noteable_id: id, author_id: user_id, action: 'commit', body: words })
    if (resets === true) await resetApprovals(tx, { id, user_id })
    if (moves !== undefined) await moveThreads(tx, { id, user_id }, moves)
  })
}

/** `added 2 commits`, and which; undefined when there are none, as after a rebase onto less. */
async function wordsForCommits(
  repository: Repository,
  { before, head_sha, start_sha }: Compared & { readonly before: string },
): Promise<string | undefined> {
  const known = (await repository.commit(before)) === undefined ? [] : [before]
  const shas = await repository.log({
    from: [head_sha],
    exclude: [...known, start_sha],
    skip: 0,
    limit: NAMED + 1,
  })
  if (shas.length === 0) return undefined
  const commits = await readCommits(repository, shas.slice(0, NAMED))
  const lines = commits.map(
    ({ id, message }) => `* ${id.slice(0, 8)} - ${message.trimStart().split('\n', 1)[0] ?? ''}`,
  )
  const count = shas.length > NAMED ? `${NAMED}+` : String(shas.length)
  return `added ${count} commit${shas.length === 1 ? '' : 's'}\n\n${lines.toReversed().join('\n')}`
}
