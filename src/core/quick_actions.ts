import type { Instance } from '../instance.ts'
import type { Noteable } from './conversation.ts'
import { showDuration } from './durations.ts'
import { changeIssue, plans } from './issue_changes.ts'
import { changeMergeRequest } from './merge_request_changes.ts'
import type { Project } from './projects.ts'
import { COMMANDS } from './quick_action_commands.ts'
import type { Run } from './quick_action_run.ts'
import { assigneesNow, holdRecord, setTimes } from './quick_action_rows.ts'
import { parseCommands, type Command } from './quick_action_text.ts'
import { ROLES } from './roles.ts'
import { writeSystemNote } from './system_notes.ts'

export interface Obeyed {
  /** What is left of the text. */
  readonly text: string
  /** Set when there was nothing but commands. */
  readonly onlyCommands: boolean
  /** How many of them did something. */
  readonly applied: number
  readonly changes: Record<string, unknown>
  readonly summary: readonly string[]
}

interface Speaker extends Pick<Instance, 'db' | 'git'> {
  readonly actor: Run['actor']
  readonly now: Date
}

/** As many are obeyed in one text. */
const MOST = 100
const NAMES: ReadonlySet<string> = new Set(COMMANDS.keys())

const isCommanded = (about: Noteable): about is Run['about'] =>
  about.kind === 'issue' || about.kind === 'merge_request'

/**
 * Obeys the commands in a text about an issue or a merge request, with the rights of whoever says it, and changes the
 * record once. Call inside a transaction. Texts about anything else hold no commands.
 */
export async function obey(
  speaker: Speaker,
  about: Noteable,
  project: Project | undefined,
  body: string,
): Promise<Obeyed> {
  const nothing = { text: body, onlyCommands: false, applied: 0, changes: {}, summary: [] }
  if (project === undefined || !isCommanded(about)) return nothing
  const { text, commands, onlyCommands } = parseCommands(body, NAMES)
  if (commands.length === 0) return { ...nothing, onlyCommands }
  const row = await holdRecord(speaker.db, about.kind, about.id)
  if (row === undefined) return nothing
  const run: Run = {
    ...speaker,
    project,
    about,
    row,
    may: await rights(speaker, about, project),
    change: {},
    times: { estimate: row.time_estimate, spent: row.total_time_spent },
    changes: {},
    suffix: '',
  }
  const summary = await perform(run, commands)
  await settle(speaker, run)
  const left = [text, run.suffix].filter((part) => part !== '').join('\n')
  return {
    text: left,
    onlyCommands: onlyCommands && run.suffix === '',
    applied: summary.filter(({ applied }) => applied).length,
    changes: run.changes,
    summary: summary.map(({ says }) => says).filter((says) => says !== ''),
  }
}

async function rights(
  { db, actor }: Speaker,
  about: Run['about'],
  project: Project,
): Promise<{ change: boolean; plan: boolean }> {
  const plan =
    about.kind === 'issue' ? plans({ actor, project }) : actor.admin || project.role >= ROLES.developer
  const involved = async (): Promise<boolean> =>
    about.author_id === actor.id ||
    (about.kind === 'issue' &&
      (await assigneesNow(db, about.kind, about.id)).some(({ id }) => id === actor.id))
  return { plan, change: plan || (await involved()) }
}

async function perform(
  run: Run,
  commands: readonly Command[],
): Promise<{ says: string; applied: boolean }[]> {
  const done: { says: string; applied: boolean }[] = []
  for (const { name, argument } of commands.slice(0, MOST)) {
    const says = await COMMANDS.get(name)?.(run, argument)
    done.push(
      says === undefined
        ? { says: `Could not apply ${name} command.`, applied: false }
        : { says, applied: true },
    )
  }
  return done
}

/** What all the commands come to, in one change. */
async function settle({ db, git, actor, now }: Speaker, run: Run): Promise<void> {
  const { about, project, change, row, times } = run
  if (Object.keys(change).length > 0)
    await (about.kind === 'issue'
      ? changeIssue({ db, actor, project, now }, about.id, change)
      : changeMergeRequest({ db, git, actor, project, now }, about.id, change))
  const before = { estimate: row.time_estimate, spent: row.total_time_spent }
  if (before.estimate === times.estimate && before.spent === times.spent) return
  await setTimes(db, about.kind, { id: about.id, ...times })
  for (const body of timeTold(before, times))
    await writeSystemNote(db, {
      noteable_id: about.id,
      author_id: actor.id,
      action: 'time_tracking',
      body,
    })
}

function timeTold(before: Run['times'], { estimate, spent }: Run['times']): string[] {
  const more = showDuration(Math.abs(spent - before.spent))
  const [all, planned] = [showDuration(spent), showDuration(estimate)]
  return [
    ...(estimate === before.estimate
      ? []
      : [planned === null ? 'removed time estimate' : `changed time estimate to ${planned}`]),
    ...(spent === before.spent
      ? []
      : [
          all === null
            ? 'removed time spent'
            : `${spent > before.spent ? 'added' : 'subtracted'} ${more} of time spent`,
        ]),
  ]
}
