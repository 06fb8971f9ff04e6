import type { Issue, MergeRequest } from '../db/schema_planning.ts'
import type { Db } from '../db/client.ts'
import type { Noteable } from './conversation.ts'
import { parseDuration, showDuration } from './durations.ts'
import { emojiName } from './emoji.ts'
import type { IssueChange } from './issue_changes.ts'
import { milestoneTitle } from './issue_rows.ts'
import { findLabels } from './labelling.ts'
import type { Project } from './projects.ts'
import {
  assigneesNow,
  findAward,
  findMilestoneNamed,
  findUsers,
  setSubscribed,
  type Commanded,
} from './quick_action_rows.ts'
import { dayIn, namesIn, showDay, titlesIn } from './quick_action_text.ts'
import { react, unreact } from './reactions.ts'
import { addTodos, finishTodos } from './todos.ts'

// What each command does. A command that cannot do it gives no sentence, and nothing is changed by it.

/** One text's commands on their way. */
export interface Run {
  readonly db: Db
  readonly actor: { readonly id: number; readonly username: string; readonly admin: boolean }
  readonly project: Project
  readonly now: Date
  readonly about: Noteable & { readonly kind: Commanded }
  /** The record as it was before the first command. */
  readonly row: Issue | MergeRequest
  /** Whether the caller may change its words and its state, and whether they say what it is part of. */
  readonly may: { readonly change: boolean; readonly plan: boolean }
  /** What it is to become. */
  readonly change: { -readonly [K in keyof IssueChange]: IssueChange[K] }
  /** The time it should take and took. */
  readonly times: { estimate: number; spent: number }
  /** As the wire tells of it. */
  readonly changes: Record<string, unknown>
  /** Signs to put behind the text. */
  suffix: string
}
type Told = string | undefined
type Act = (run: Run, argument: string) => Told | Promise<Told>

const planned =
  (act: Act): Act =>
  (run, argument) =>
    run.may.plan ? act(run, argument) : undefined
const ofIssues =
  (act: Act): Act =>
  (run, argument) =>
    run.about.kind === 'issue' ? act(run, argument) : undefined

const thing = ({ about }: Run): string => (about.kind === 'issue' ? 'issue' : 'merge request')

function turn(run: Run, to: 'closed' | 'opened'): Told {
  const now = run.change.state ?? run.row.state
  if (!run.may.change || now !== (to === 'closed' ? 'opened' : 'closed')) return undefined
  run.change.state = to
  run.changes['state_event'] = to === 'closed' ? 'close' : 'reopen'
  return `${to === 'closed' ? 'Closed' : 'Reopened'} this ${thing(run)}.`
}

const marked = (titles: readonly string[]): string =>
  titles.map((title) => (/^[\w-]+$/.test(title) ? `~${title}` : `~"${title}"`)).join(' ')
const plural = (count: number, word: string): string => (count === 1 ? word : `${word}s`)

/** The labels there are among those named. */
async function known(run: Run, argument: string): Promise<Map<string, number>> {
  const { id: project_id, traversal_ids: line } = run.project
  return findLabels(run.db, { project_id, line }, titlesIn(argument))
}

async function label(run: Run, argument: string): Promise<Told> {
  const found = await known(run, argument)
  if (found.size === 0) return undefined
  const titles = [...found.keys()]
  run.change.add_labels = [...(run.change.add_labels ?? []), ...titles]
  run.changes['add_label_ids'] = [...found.values()]
  return `Added ${marked(titles)} ${plural(titles.length, 'label')}.`
}
async function unlabel(run: Run, argument: string): Promise<Told> {
  if (argument === '') {
    run.change.labels = []
    run.changes['label_ids'] = []
    return 'Removed all labels.'
  }
  const found = await known(run, argument)
  if (found.size === 0) return undefined
  const titles = [...found.keys()]
  run.change.remove_labels = [...(run.change.remove_labels ?? []), ...titles]
  run.changes['remove_label_ids'] = [...found.values()]
  return `Removed ${marked(titles)} ${plural(titles.length, 'label')}.`
}
async function relabel(run: Run, argument: string): Promise<Told> {
  const found = await known(run, argument)
  if (found.size === 0) return undefined
  const titles = [...found.keys()]
  run.change.labels = titles
  run.changes['label_ids'] = [...found.values()]
  return `Replaced all labels with ${marked(titles)} ${plural(titles.length, 'label')}.`
}

async function setMilestone(run: Run, argument: string): Promise<Told> {
  const title = argument.replace(/^%/, '').replace(/^"(.*)"$/s, '$1')
  const found =
    title === '' || title.length > 255 ? undefined : await findMilestoneNamed(run.db, run.project, title)
  if (found === undefined) return undefined
  run.change.milestone_id = found.id
  run.changes['milestone_id'] = found.id
  return `Set the milestone to %"${found.title}".`
}
async function removeMilestone(run: Run): Promise<Told> {
  const { milestone_id } = run.row
  if (milestone_id === null) return undefined
  run.change.milestone_id = null
  run.changes['milestone_id'] = null
  return `Removed %"${await milestoneTitle(run.db, milestone_id)}" milestone.`
}

const people = (found: readonly { readonly username: string }[]): string =>
  found.map(({ username }) => `@${username}`).join(' ')

const usersIn = (run: Run, argument: string): ReturnType<typeof findUsers> =>
  findUsers(
    run.db,
    namesIn(argument).map((name) => (name === 'me' ? run.actor.username.toLowerCase() : name)),
  )

async function giveTo(run: Run, ids: readonly number[]): Promise<void> {
  run.change.assignee_ids = ids
  run.changes['assignee_ids'] = ids
}
const takers = async (run: Run): Promise<readonly number[]> =>
  run.change.assignee_ids ?? (await assigneesNow(run.db, run.about.kind, run.about.id)).map(({ id }) => id)

async function assign(run: Run, argument: string): Promise<Told> {
  const found = await usersIn(run, argument)
  if (found.length === 0) return undefined
  await giveTo(run, [...new Set([...(await takers(run)), ...found.map(({ id }) => id)])])
  return `Assigned ${people(found)}.`
}
async function unassign(run: Run, argument: string): Promise<Told> {
  const now = await takers(run)
  if (now.length === 0) return undefined
  if (argument === '') {
    const gone = await assigneesNow(run.db, run.about.kind, run.about.id)
    await giveTo(run, [])
    return `Removed ${plural(gone.length, 'assignee')} ${people(gone)}.`
  }
  const found = (await usersIn(run, argument)).filter(({ id }) => now.includes(id))
  if (found.length === 0) return undefined
  await giveTo(
    run,
    now.filter((id) => !found.some((one) => one.id === id)),
  )
  return `Removed ${plural(found.length, 'assignee')} ${people(found)}.`
}
async function reassign(run: Run, argument: string): Promise<Told> {
  const found = await usersIn(run, argument)
  if (found.length === 0) return undefined
  await giveTo(
    run,
    found.map(({ id }) => id),
  )
  return `Changed ${plural(found.length, 'assignee')} to ${people(found)}.`
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

function estimate(run: Run, argument: string): Told {
  const seconds = parseDuration(argument)
  if (seconds === undefined || seconds <= 0) return undefined
  run.times.estimate = seconds
  run.changes['time_estimate'] = seconds
  return `Set time estimate to ${showDuration(seconds)}.`
}
function removeEstimate(run: Run): Told {
  if (run.times.estimate === 0) return undefined
  run.times.estimate = 0
  run.changes['time_estimate'] = 0
  return 'Removed time estimate.'
}
const MOST_TIME = 2 ** 31 - 1
function spend(run: Run, argument: string): Told {
  const [text = '', day] = argument.split(/\s+(?=\d{4}-\d\d-\d\d$)/)
  const seconds = parseDuration(text)
  const total = run.times.spent + (seconds ?? 0)
  if (seconds === undefined || seconds === 0 || total < 0 || total > MOST_TIME) return undefined
  run.times.spent = total
  run.changes['spend_time'] = {
    duration: seconds,
    user_id: run.actor.id,
    ...(day !== undefined && { spent_at: day }),
  }
  return `${seconds > 0 ? 'Added' : 'Subtracted'} ${showDuration(Math.abs(seconds))} spent time.`
}
function forgetTime(run: Run): Told {
  if (run.times.spent === 0) return undefined
  run.times.spent = 0
  run.changes['spend_time'] = { duration: 'reset', user_id: run.actor.id }
  return 'Removed spent time.'
}

function hide(run: Run): Told {
  if (run.change.confidential ?? run.about.confidential) return undefined
  run.change.confidential = true
  run.changes['confidential'] = true
  return 'Made this issue confidential.'
}
function retitle(run: Run, argument: string): Told {
  if (!run.may.change || argument === '' || Array.from(argument.slice(0, 1_000)).length > 255)
    return undefined
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
  if ((await finishTodos(run.db, run.about.id, run.actor.id)) === 0) return undefined
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
  ['milestone', planned(setMilestone)],
  ['remove_milestone', planned(removeMilestone)],
  ['assign', planned(assign)],
  ['unassign', planned(unassign)],
  ['remove_assignee', planned(unassign)],
  ['reassign', planned(reassign)],
  ['due', planned(ofIssues(due))],
  ['due_date', planned(ofIssues(due))],
  ['remove_due_date', planned(ofIssues(removeDue))],
  ['estimate', planned(estimate)],
  ['estimate_time', planned(estimate)],
  ['remove_estimate', planned(removeEstimate)],
  ['remove_time_estimate', planned(removeEstimate)],
  ['spend', planned(spend)],
  ['spend_time', planned(spend)],
  ['remove_time_spent', planned(forgetTime)],
  ['confidential', planned(ofIssues(hide))],
  ['title', retitle],
  ['award', award],
  ['react', award],
  ['lock', planned((run) => lock(run, true))],
  ['unlock', planned((run) => lock(run, false))],
  ['weight', planned(ofIssues(weigh))],
  ['clear_weight', planned(ofIssues(clearWeight))],
  ['subscribe', (run) => subscribe(run, true)],
  ['unsubscribe', (run) => subscribe(run, false)],
  ['todo', remember],
  ['done', done],
  ['shrug', sign('shrug')],
  ['tableflip', sign('tableflip')],
])
