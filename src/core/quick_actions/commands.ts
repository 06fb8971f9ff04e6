import { emojiName } from '../values/emoji.ts'
import { EPIC_IN_THE_OPEN, holdsOpenIssues } from '../planning/epic_secrecy.ts'
import { isLonger } from '../values/lengths.ts'
import { duplicate, removeEpic, setEpic } from './issues.ts'
import { approveIt, draft, ready, retarget, unapproveIt } from './merging.ts'
import { mergeIt, moveIt, rebaseIt } from './moves.ts'
import { assign, reassign, unassign } from './people.ts'
import {
  copyMetadata,
  label,
  relabel,
  removeIteration,
  removeMilestone,
  setIteration,
  setMilestone,
  unlabel,
} from './planning.ts'
import { findAward, setSubscribed } from './rows.ts'
import { inProject, made, ofIssues, ofMergeRequests, planned, type Act, type Run, type Told } from './run.ts'
import { estimate, forgetTime, removeEstimate, spend } from './times.ts'
import { dayIn, showDay } from '../conversation/quick_action_text.ts'
import { react, unreact } from '../conversation/reactions.ts'
import { addTodos, dismissTodos } from '../conversation/todos.ts'

// Handlers of the commands. One that cannot act gives no sentence and changes nothing.

const thing = ({ about }: Run): string => about.kind.replace('_', ' ')

function turn(run: Run, to: 'closed' | 'opened'): Told {
  const now = run.change.state ?? run.row.state
  if (run.fresh || !run.may.change || now !== (to === 'closed' ? 'opened' : 'closed')) return undefined
  run.change.state = to
  run.changes['state_event'] = to === 'closed' ? 'close' : 'reopen'
  return `${to === 'closed' ? 'Closed' : 'Reopened'} this ${thing(run)}.`
}

function due(run: Run, argument: string): Told {
  const day = dayIn(argument, run.now)
  if (day === undefined) return undefined
  run.change.due_date = day
  run.changes['due_date'] = day
  return `Set the due date to ${showDay(day)}.`
}
function removeDue(run: Run): Told {
  const now = run.change.due_date ?? ('due_date' in run.row ? run.row.due_date : null)
  if (now === null) return undefined
  run.change.due_date = null
  run.changes['due_date'] = null
  return 'Removed the due date.'
}

async function hide(run: Run): Promise<Told> {
  if (run.about.kind === 'merge_request' || (run.change.confidential ?? run.about.confidential))
    return undefined
  if (run.about.kind === 'epic' && (await holdsOpenIssues(run.db, run.about.id)))
    return { why: `${EPIC_IN_THE_OPEN}.` }
  run.change.confidential = true
  run.changes['confidential'] = true
  return `Made this ${thing(run)} confidential.`
}
function retitle(run: Run, argument: string): Told {
  if (!run.may.change || argument === '' || isLonger(argument, 255)) return undefined
  run.change.title = argument
  run.changes['title'] = argument
  return `Changed the title to "${argument}".`
}
function lock(run: Run, locked: boolean): Told {
  if ((run.change.discussion_locked ?? run.row.discussion_locked) === locked) return undefined
  run.change.discussion_locked = locked
  run.changes['discussion_locked'] = locked
  return locked ? 'Locked the discussion.' : 'Unlocked the discussion.'
}
function weigh(run: Run, argument: string): Told {
  const weight = /^\d{1,9}$/.test(argument) ? Number(argument) : undefined
  if (weight === undefined) return undefined
  run.change.weight = weight
  run.changes['weight'] = weight
  return `Set weight to ${weight}.`
}
function clearWeight(run: Run): Told {
  const now = run.change.weight ?? ('weight' in run.row ? run.row.weight : null)
  if (now === null) return undefined
  run.change.weight = null
  run.changes['weight'] = null
  return 'Removed weight.'
}

async function award(run: Run, argument: string): Promise<Told> {
  const { db, actor, about } = run
  const name = emojiName(argument.replaceAll(/^:|:$/g, ''))
  if (name === undefined) return undefined
  const before = await findAward(db, { noteable_id: about.id, user_id: actor.id, name })
  if (before === undefined) await react(db, { noteable: about }, name, actor.id)
  else await unreact(db, { noteable: about }, before)
  run.changes['emoji_award'] = name
  return `Toggled :${name}: emoji award.`
}
async function subscribe(run: Run, subscribed: boolean): Promise<Told> {
  await setSubscribed(run.db, { noteable_id: run.about.id, user_id: run.actor.id, subscribed })
  run.changes['subscription_event'] = subscribed ? 'subscribe' : 'unsubscribe'
  return subscribed ? 'Subscribed to notifications.' : 'Unsubscribed from notifications.'
}
async function remember(run: Run): Promise<Told> {
  const { id: noteable_id, project_id, group_id } = run.about
  const { id: author_id } = run.actor
  const place = { noteable_id, project_id, group_id, note_id: null, author_id }
  if ((await addTodos(run.db, [author_id], { ...place, action: 'marked' })).length === 0) return undefined
  run.changes['todo_event'] = 'add'
  return 'Added a to-do item.'
}
async function done(run: Run): Promise<Told> {
  if ((await dismissTodos(run.db, run.about.id, run.actor.id)) === 0) return undefined
  run.changes['todo_event'] = 'done'
  return 'Marked to-do item as done.'
}

/** Signs that go into the text, and are no deed. */
const SIGNS: Readonly<Record<string, string>> = { shrug: '¯\\_(ツ)_/¯', tableflip: '(╯°□°)╯︵ ┻━┻' }
const sign =
  (name: 'shrug' | 'tableflip'): Act =>
  (run, argument) => {
    run.suffix = [run.suffix, argument, SIGNS[name]].filter(Boolean).join(' ')
    return ''
  }

/** Every command, by its name. */
export const COMMANDS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['close', (run) => turn(run, 'closed')],
  ['reopen', (run) => turn(run, 'opened')],
  ['label', planned(label)],
  ['labels', planned(label)],
  ['unlabel', planned(unlabel)],
  ['remove_label', planned(unlabel)],
  ['relabel', planned(relabel)],
  ['copy_metadata', planned(inProject(copyMetadata))],
  ['milestone', planned(inProject(setMilestone))],
  ['remove_milestone', planned(inProject(removeMilestone))],
  ['iteration', planned(ofIssues(setIteration))],
  ['remove_iteration', planned(ofIssues(removeIteration))],
  ['assign', planned(inProject(assign('assignee')))],
  ['unassign', planned(inProject(unassign('assignee')))],
  ['remove_assignee', planned(inProject(unassign('assignee')))],
  ['reassign', planned(inProject(reassign('assignee')))],
  ['assign_reviewer', planned(ofMergeRequests(assign('reviewer')))],
  ['reviewer', planned(ofMergeRequests(assign('reviewer')))],
  ['request_review', planned(ofMergeRequests(assign('reviewer')))],
  ['unassign_reviewer', planned(ofMergeRequests(unassign('reviewer')))],
  ['remove_reviewer', planned(ofMergeRequests(unassign('reviewer')))],
  ['reassign_reviewer', planned(ofMergeRequests(reassign('reviewer')))],
  ['draft', ofMergeRequests(draft)],
  ['ready', ofMergeRequests(ready)],
  ['approve', made(planned(ofMergeRequests(approveIt)))],
  ['unapprove', made(planned(ofMergeRequests(unapproveIt)))],
  ['target_branch', ofMergeRequests(retarget)],
  ['merge', made(planned(ofMergeRequests(mergeIt)))],
  ['rebase', made(planned(ofMergeRequests(rebaseIt)))],
  ['due', planned(ofIssues(due))],
  ['due_date', planned(ofIssues(due))],
  ['remove_due_date', planned(ofIssues(removeDue))],
  ['estimate', planned(inProject(estimate))],
  ['estimate_time', planned(inProject(estimate))],
  ['remove_estimate', planned(inProject(removeEstimate))],
  ['remove_time_estimate', planned(inProject(removeEstimate))],
  ['spend', planned(inProject(spend))],
  ['spend_time', planned(inProject(spend))],
  ['spent', planned(inProject(spend))],
  ['remove_time_spent', planned(inProject(forgetTime))],
  ['confidential', planned(hide)],
  ['title', retitle],
  ['award', award],
  ['react', award],
  ['lock', planned(inProject((run) => lock(run, true)))],
  ['unlock', planned(inProject((run) => lock(run, false)))],
  ['weight', planned(ofIssues(weigh))],
  ['clear_weight', planned(ofIssues(clearWeight))],
  ['epic', planned(ofIssues(setEpic))],
  ['remove_epic', planned(ofIssues(removeEpic))],
  ['duplicate', made(ofIssues(duplicate))],
  ['move', made(planned(ofIssues(moveIt)))],
  ['subscribe', (run) => subscribe(run, true)],
  ['unsubscribe', (run) => subscribe(run, false)],
  ['todo', remember],
  ['done', done],
  ['shrug', sign('shrug')],
  ['tableflip', sign('tableflip')],
])
