import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { approvalsReset } from '../conversation/system_note_sentences.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'
import { recordMergeRequest } from '../planning/merge_request_events.ts'
import { finishTodos } from '../conversation/todos.ts'

/** The approval settings of a project, with what holds until they are set. */
export const APPROVAL_SETTINGS = {
  reset_approvals_on_push: true,
  merge_requests_author_approval: true,
  merge_requests_disable_committers_approval: false,
} as const satisfies Record<string, boolean>
type Setting = keyof typeof APPROVAL_SETTINGS

/** The setting in the row `p` of a project. */
const setting = (name: Setting): RawBuilder<boolean> =>
  sql`coalesce((p.settings->>${sql.lit(name)})::boolean, ${sql.lit(APPROVAL_SETTINGS[name])})`

interface Approval {
  readonly id: number
  readonly user_id: number
}

/** The merge request `m` of the project `p`, where its project lets the user approve it. */
const eligible = (p: Slots<Approval>): RawBuilder<unknown> => sql`
  from merge_requests m join projects p on p.id = m.project_id
 where m.id = ${p.id}
   and (${setting('merge_requests_author_approval')} or m.author_id is distinct from ${p.user_id})
   and not (${setting('merge_requests_disable_committers_approval')} and exists (
     select from user_emails e
      where e.user_id = ${p.user_id} and e.confirmed_at is not null
        and lower(e.email) = any((select d.committer_emails from merge_request_diffs d
                                   where d.merge_request_id = m.id order by d.id desc limit 1)::text[])))`
const may = statement((p: Slots<Approval>) => sql<object>`select ${eligible(p)}`)
/** Whether the settings of the project let the user approve it, as its author or as a committer. */
export const isEligible = async (db: Db, approval: Approval): Promise<boolean> =>
  (await db.one(may, approval)) !== undefined

const insert = statement(
  (p: Slots<Approval>) => sql`
    insert into merge_request_approvals (merge_request_id, user_id) select m.id, ${p.user_id} ${eligible(p)}
    on conflict do nothing`,
)
const remove = statement(
  (p: Slots<Approval>) => sql`
    delete from merge_request_approvals where merge_request_id = ${p.id} and user_id = ${p.user_id}`,
)

type Approved = Pick<MergeRequest, 'id' | 'iid' | 'project_id'>

/** Approves an open merge request, with a system note. False where the user had before, or is not eligible. */
export async function approve(db: Db, request: Approved, user_id: number): Promise<boolean> {
  const { id } = request
  if ((await db.run(insert, { id, user_id })) === 0) return false
  await recordMergeRequest(db, request, { action: 'approved', author_id: user_id })
  await writeSystemNote(db, {
    noteable_id: id,
    author_id: user_id,
    action: 'approved',
    body: 'approved this merge request',
  })
  await finishTodos(db, [id], user_id)
  return true
}

/** Takes an approval back, with the sentence under it. Says whether there was one. */
export async function unapprove(db: Db, request: Approved, user_id: number): Promise<boolean> {
  const { id } = request
  if ((await db.run(remove, { id, user_id })) === 0) return false
  await recordMergeRequest(db, request, { action: 'unapproved', author_id: user_id })
  await writeSystemNote(db, {
    noteable_id: id,
    author_id: user_id,
    action: 'unapproved',
    body: 'unapproved this merge request',
  })
  return true
}

const resettable = statement(
  (p: Slots<{ id: number }>) => sql<object>`
    select from merge_requests m join projects p on p.id = m.project_id
     where m.id = ${p.id} and ${setting('reset_approvals_on_push')}
       and exists (select from merge_request_approvals a where a.merge_request_id = m.id)`,
)
/** Whether a push of another change takes approvals away. */
export const hasResettable = async (db: Db, id: number): Promise<boolean> =>
  (await db.one(resettable, { id })) !== undefined

const reset = statement(
  (p: Slots<{ id: number }>) => sql<{ username: string }>`
    with gone as (
      delete from merge_request_approvals a using merge_requests m, projects p
       where a.merge_request_id = ${p.id} and m.id = a.merge_request_id and p.id = m.project_id
         and ${setting('reset_approvals_on_push')}
      returning a.user_id, a.created_at
    )
    select u.username from gone join users u on u.id = gone.user_id order by gone.created_at, u.id`,
)
/** Takes all approvals away after a push, with a system note, where the project resets them. */
export async function resetApprovals(
  db: Db,
  { id, user_id }: { readonly id: number; readonly user_id: number | null },
): Promise<void> {
  const names = (await db.rows(reset, { id })).map(({ username }) => username)
  if (names.length > 0)
    await writeSystemNote(db, {
      noteable_id: id,
      author_id: user_id,
      action: 'approvals_reset',
      body: approvalsReset(names),
    })
}
