import { ISSUE_IN_THE_OPEN, isHiddenEpic } from '../planning/epic_secrecy.ts'
import { findEpicAbove } from '../planning/issue_rows.ts'
import { referencesIn } from '../conversation/mention_text.ts'
import { findEpicAt } from './rows.ts'
import type { IssueRun, Told } from './run.ts'
import { findReferred } from '../conversation/references.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'

// Commands that say what an issue has to do with other issues and with epics.

const MAX_REFERENCE_CHARACTERS = 500
const PATH = '(\\w[\\w./-]{0,254})'
const EPIC = new RegExp(`^(?:${PATH}?&|https?://[^/\\s]+/groups/${PATH}/-/epics/)(\\d{1,9})$`)

/** An epic of a group above that the caller sees: `&1` of the nearest group, `group/path&1` or its address. */
async function epicIn({ db, actor, place }: IssueRun, argument: string): Promise<number | undefined> {
  const [, short, long, digits] = (argument.length <= MAX_REFERENCE_CHARACTERS && EPIC.exec(argument)) || []
  if (digits === undefined) return undefined
  const iid = Number(digits)
  const who = { user_id: actor.id, admin: actor.admin }
  const path = short ?? long
  if (path === undefined) return (await findEpicAbove(db, place.line, who, { by: 'iid', value: iid }))?.id
  const id = await findEpicAt(db, place.line, { path, iid })
  return id && (await findEpicAbove(db, place.line, who, { by: 'id', value: id }))?.id
}
const epicNow = (run: IssueRun): number | null =>
  run.change.epic === undefined ? run.row.epic_id : (run.change.epic?.value ?? null)

export async function setEpic(run: IssueRun, argument: string): Promise<Told> {
  const id = await epicIn(run, argument)
  if (id === undefined) return { why: "This epic does not exist or you don't have sufficient permission." }
  if (id === epicNow(run)) return { why: `Issue #${run.row.iid} has already been added to epic ${argument}.` }
  const isHidden = run.change.confidential ?? run.row.confidential
  if (!isHidden && (await isHiddenEpic(run.db, id))) return { why: `${ISSUE_IN_THE_OPEN}.` }
  run.change.epic = { by: 'id', value: id }
  run.changes['epic_id'] = id
  return 'Added an issue to an epic.'
}
/** Of an epic that the caller does not see nothing is told. */
export async function removeEpic(run: IssueRun): Promise<Told> {
  const { db, actor, place } = run
  const value = epicNow(run)
  const who = { user_id: actor.id, admin: actor.admin }
  if (value === null || !(await findEpicAbove(db, place.line, who, { by: 'id', value }))) return undefined
  run.change.epic = null
  run.changes['epic_id'] = null
  return 'Removed an issue from an epic.'
}

/** Closes it, and says under both what they are to each other; under the other nothing of what is confidential. */
export async function duplicate(run: IssueRun, argument: string): Promise<Told> {
  const { db, actor, row, place } = run
  if (!run.may.change || (run.change.state ?? row.state) !== 'opened') return undefined
  const named = referencesIn(argument.slice(0, MAX_REFERENCE_CHARACTERS)).filter(
    ({ kind }) => kind === 'issue',
  )
  const [other] = await findReferred(db, actor, place.project, named.slice(0, 1))
  if (other === undefined || other.id === row.id)
    return { why: 'Failed to mark this issue as a duplicate because referenced issue was not found.' }
  const isHere = other.project_id === place.project.id
  const [to, from] = isHere
    ? [`#${other.iid}`, `#${row.iid}`]
    : [`${other.path}#${other.iid}`, `${place.project.full_path}#${row.iid}`]
  await writeSystemNote(db, {
    noteable_id: row.id,
    author_id: actor.id,
    action: 'duplicate',
    body: `marked this issue as a duplicate of ${to}`,
    mentions_project_id: other.project_id,
    mentions_noteable_id: other.id,
  })
  if (!run.about.confidential)
    await writeSystemNote(db, {
      noteable_id: other.id,
      author_id: actor.id,
      action: 'duplicate',
      body: `marked ${from} as a duplicate of this issue`,
      mentions_project_id: place.project.id,
      mentions_noteable_id: row.id,
    })
  run.change.state = 'closed'
  run.changes['state_event'] = 'close'
  return `Closed this issue. Marked as a duplicate of ${to}.`
}
