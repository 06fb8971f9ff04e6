import type { Db } from '../../db/db.ts'
import type { Noteable } from '../conversation/noteable.ts'
import { changeEpic } from '../planning/epics.ts'
import { changeIssue } from '../planning/issue_changes.ts'
import { changeMergeRequest } from '../merge_requests/changes.ts'
import type { Project } from '../places/projects.ts'
import { COMMANDS } from './commands.ts'
import type { Place, Run } from './run.ts'
import { holdersNow, holdRecord, setTimes, type CommandedRow } from './rows.ts'
import { parseCommands, type Command } from '../conversation/quick_action_text.ts'
import { ROLES } from '../sight/roles.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'
import type { TargetBranches } from '../merge_requests/target_branches.ts'
import { FORGOTTEN, estimated, spent } from '../planning/time_tracking.ts'

export interface QuickActionResult {
  /** The text without its commands. */
  readonly text: string
  /** Set when there was nothing but commands. */
  readonly onlyCommands: boolean
  /** How many of them did something. */
  readonly applied: number
  readonly changes: Record<string, unknown>
  readonly summary: readonly string[]
}

interface Speaker {
  readonly db: Db
  readonly actor: Run['actor']
  readonly now: Date
  /** Set while the record is made, and its description said: whether the caller says what it is part of. */
  readonly making?: { readonly plans: boolean }
  /** For texts about merge requests: the branches that the text names, read before the transaction. */
  readonly branches?: TargetBranches | undefined
}

/** As many are obeyed in one text. */
const MAX_COMMANDS = 100
const NAMES: ReadonlySet<string> = new Set(COMMANDS.keys())

const isCommanded = (about: Noteable): about is Run['about'] =>
  about.kind === 'issue' || about.kind === 'merge_request' || about.kind === 'epic'

/** Whether one of the commands hid the record: what the same text says is then hidden too. */
export const madeConfidential = ({ changes }: QuickActionResult): boolean => changes['confidential'] === true

export const placeOf = (project: Project): Place => ({
  project,
  line: project.traversal_ids,
  role: project.role,
})

/**
 * Obeys the commands in a text about an issue, a merge request or an epic, with the rights of whoever says it, and
 * changes the record once. Call inside a transaction. Texts about anything else hold no commands. What is left of the
 * description of something that is made becomes its description.
 */
export async function applyQuickActions(
  speaker: Speaker,
  about: Noteable,
  place: Place,
  body: string,
): Promise<QuickActionResult> {
  const nothing = { text: body, onlyCommands: false, applied: 0, changes: {}, summary: [] }
  if (!isCommanded(about)) return nothing
  const { text, commands, unknown, onlyCommands } = parseCommands(body, NAMES)
  if (commands.length === 0) return { ...nothing, onlyCommands, summary: unknown.map(couldNot) }
  const row = await holdRecord(speaker.db, about.kind, about.id)
  if (row === undefined) return nothing
  const run: Run = {
    ...speaker,
    place,
    about,
    row,
    fresh: speaker.making !== undefined,
    may: await rights(speaker, about, place),
    change: {},
    times: timesOf(row),
    changes: {},
    suffix: '',
  }
  const summary = await perform(run, commands)
  const left = [text, run.suffix].filter((part) => part !== '').join('\n')
  if (run.fresh) run.change.description = left
  await settle(speaker, run)
  return {
    text: left,
    onlyCommands: onlyCommands && run.suffix === '',
    applied: summary.filter(({ applied }) => applied).length,
    changes: run.changes,
    summary: summary.map(({ says }) => says).filter((says) => says !== ''),
  }
}

const timesOf = (row: CommandedRow): Run['times'] =>
  'time_estimate' in row
    ? { estimate: row.time_estimate, spent: row.total_time_spent }
    : { estimate: 0, spent: 0 }

async function rights(
  { db, actor, making }: Speaker,
  about: Run['about'],
  { role }: Place,
): Promise<Run['may']> {
  if (making !== undefined) return { plan: making.plans, change: true }
  const plan = actor.admin || role >= (about.kind === 'merge_request' ? ROLES.developer : ROLES.planner)
  const involved = async (): Promise<boolean> =>
    (about.kind !== 'epic' && about.author_id === actor.id) ||
    (about.kind === 'issue' &&
      (await holdersNow(db, { kind: about.kind, id: about.id }, 'assignee')).some(
        ({ id }) => id === actor.id,
      ))
  return { plan, change: plan || (await involved()) }
}

const couldNot = (name: string): string => `Could not apply ${name} command.`

async function perform(
  run: Run,
  commands: readonly Command[],
): Promise<{ says: string; applied: boolean }[]> {
  const done: { says: string; applied: boolean }[] = []
  for (const { name, argument } of commands.slice(0, MAX_COMMANDS)) {
    const told = await COMMANDS.get(name)?.(run, argument)
    const failed = couldNot(name)
    done.push(
      typeof told === 'string'
        ? { says: told, applied: true }
        : { says: told === undefined ? failed : `${failed} ${told.why}`, applied: false },
    )
  }
  return done
}

/** The combined change of all commands. */
async function settle(speaker: Speaker, run: Run): Promise<void> {
  const { db, actor } = speaker
  const { about, row, times, fresh } = run
  if (Object.keys(run.change).length > 0) await change(speaker, run)
  const before = timesOf(row)
  if (about.kind === 'epic' || (before.estimate === times.estimate && before.spent === times.spent)) return
  await setTimes(db, about.kind, { id: about.id, ...times })
  if (fresh) return
  for (const body of timeTold(before, times))
    await writeSystemNote(db, {
      noteable_id: about.id,
      author_id: actor.id,
      action: 'time_tracking',
      body,
    })
}

function change({ db, actor, now, branches }: Speaker, run: Run): Promise<unknown> {
  const { about, place, fresh: quiet } = run
  if (about.kind === 'epic') return changeEpic({ db, actor, line: place.line, quiet }, about.id, run.change)
  if (place.project === undefined) throw new Error('a record of a project has none')
  const deed = { db, actor, project: place.project, now, quiet, branches }
  return about.kind === 'issue'
    ? changeIssue(deed, about.id, run.change)
    : changeMergeRequest(deed, about.id, run.change)
}

const timeTold = (before: Run['times'], after: Run['times']): string[] => [
  ...(after.estimate === before.estimate ? [] : [estimated(after.estimate)]),
  ...(after.spent === before.spent
    ? []
    : [after.spent === 0 ? FORGOTTEN : spent(after.spent - before.spent)]),
]
