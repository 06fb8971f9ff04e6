import { referencesIn } from '../conversation/mention_text.ts'
import { milestoneTitle } from '../planning/milestones.ts'
import { findLabels } from '../planning/labelling.ts'
import { findCadences, findIterationNamed, findMilestoneNamed, metadataOf } from './rows.ts'
import type { ProjectRun, Run, Told } from './run.ts'
import { plural, titlesIn } from '../conversation/quick_action_text.ts'
import { findReferred } from '../conversation/references.ts'

// Commands that say what a record is part of.

const marked = (titles: readonly string[]): string =>
  titles.map((title) => (/^[\w-]+$/.test(title) ? `~${title}` : `~"${title}"`)).join(' ')

/** The labels there are among those named. */
async function known(run: Run, argument: string): Promise<Map<string, number>> {
  const { project, line } = run.place
  return findLabels(run.db, { project_id: project?.id ?? null, line }, titlesIn(argument))
}

/** The same in the order in which they are named: of labels that exclude each other the last one stays. */
const inOrder = (argument: string, found: ReadonlyMap<string, number>): string[] =>
  titlesIn(argument).filter((title) => found.has(title))

export async function label(run: Run, argument: string): Promise<Told> {
  const found = await known(run, argument)
  if (found.size === 0) return undefined
  const titles = [...found.keys()]
  run.change.add_labels = [...(run.change.add_labels ?? []), ...inOrder(argument, found)]
  run.changes['add_label_ids'] = [...found.values()]
  return `Added ${marked(titles)} ${plural(titles.length, 'label')}.`
}
export async function unlabel(run: Run, argument: string): Promise<Told> {
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
export async function relabel(run: Run, argument: string): Promise<Told> {
  const found = await known(run, argument)
  if (found.size === 0) return undefined
  const titles = [...found.keys()]
  run.change.labels = inOrder(argument, found)
  run.changes['label_ids'] = [...found.values()]
  return `Replaced all labels with ${marked(titles)} ${plural(titles.length, 'label')}.`
}

/** Labels and milestone of another record of the project. */
export async function copyMetadata(run: ProjectRun, argument: string): Promise<Told> {
  const { db, actor, place } = run
  const named = referencesIn(argument.slice(0, LONGEST_REFERENCE)).slice(0, 1)
  const [other] = await findReferred(db, actor, place.project, named)
  if (other?.project_id !== place.project.id) return { why: 'Failed to find work item or merge request.' }
  const { labels, milestone_id } = await metadataOf(db, other)
  if (labels.length > 0) {
    run.change.add_labels = [...(run.change.add_labels ?? []), ...labels.map(({ title }) => title)]
    run.changes['add_label_ids'] = labels.map(({ id }) => id)
  }
  if (milestone_id !== null) {
    run.change.milestone_id = milestone_id
    run.changes['milestone_id'] = milestone_id
  }
  return `Copied labels and milestone from ${other.kind === 'issue' ? '#' : '!'}${other.iid}.`
}
const LONGEST_REFERENCE = 500

export async function setMilestone(run: ProjectRun, argument: string): Promise<Told> {
  const title = argument.replace(/^%/, '').replace(/^"(.*)"$/s, '$1')
  const found =
    title === '' || title.length > 255
      ? undefined
      : await findMilestoneNamed(run.db, run.place.project, title)
  if (found === undefined) return undefined
  run.change.milestone_id = found.id
  run.changes['milestone_id'] = found.id
  return `Set the milestone to %"${found.title}".`
}
export async function removeMilestone(run: ProjectRun): Promise<Told> {
  const milestone_id = 'milestone_id' in run.row ? run.row.milestone_id : null
  if (milestone_id === null) return undefined
  run.change.milestone_id = null
  run.changes['milestone_id'] = null
  return `Removed %"${await milestoneTitle(run.db, milestone_id)}" milestone.`
}

const NAME = '(?:"([^"]{1,255})"|([^\\s\\]"]{1,255}))'
const ITERATION = new RegExp(`^\\*iteration:${NAME}$`)
const PLACE_IN_CADENCE = new RegExp(`^(?:\\[cadence:${NAME}\\] *)?(--current|--next)?$`)
const meant = (quoted: string | undefined, plain = ''): { id: number } | { title: string } =>
  quoted === undefined && /^\d{1,15}$/.test(plain) ? { id: Number(plain) } : { title: quoted ?? plain }

/** By its name, or as what is now or next in a cadence, which need not be named where there is one alone. */
async function iterationIn(
  { db, place: { line } }: ProjectRun,
  argument: string,
): Promise<number | Exclude<Told, string>> {
  const [reference, quotedTitle, word] = ITERATION.exec(argument) ?? []
  if (reference !== undefined)
    return (
      (await findIterationNamed(db, line, meant(quotedTitle, word))) ?? {
        why: 'Failed to find the referenced iteration.',
      }
    )
  const [, quoted, plain, option] = PLACE_IN_CADENCE.exec(argument) ?? []
  const isNamed = (quoted ?? plain) !== undefined
  const [cadence, another] = await findCadences(db, line, isNamed ? meant(quoted, plain) : {})
  if (cadence === undefined)
    return isNamed ? { why: 'Failed to find the referenced iteration cadence.' } : undefined
  if (option === undefined) return { why: 'Missing option --current or --next.' }
  if (!isNamed && another !== undefined)
    return { why: 'There are multiple cadences but no cadence is specified.' }
  return option === '--next'
    ? (cadence.next ?? { why: 'No upcoming iteration found for the cadence.' })
    : (cadence.current ?? { why: 'No current iteration found for the cadence.' })
}
export async function setIteration(run: ProjectRun, argument: string): Promise<Told> {
  const id = await iterationIn(run, argument)
  if (typeof id !== 'number') return id
  run.change.iteration_id = id
  run.changes['iteration_id'] = id
  return `Set the iteration to *iteration:${id}.`
}
export function removeIteration(run: ProjectRun): Told {
  const now = run.change.iteration_id ?? ('iteration_id' in run.row ? run.row.iteration_id : null)
  if (now === null) return undefined
  run.change.iteration_id = null
  run.changes['iteration_id'] = null
  return `Removed *iteration:${now} iteration.`
}
