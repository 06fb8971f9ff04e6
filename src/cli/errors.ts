import { Option, type Command } from 'commander'
import * as errors from '../errors/reading.ts'
import { findProject, readId } from './alert_integrations.ts'
import { Refusal, command, family, withInstance } from './command.ts'
import { linesOrNone, oneLine } from './printable.ts'

const UNDER = 'Errors'

/** Commands about the errors that SDKs sent. */
export function addErrors(program: Command): void {
  const parent = family(program, 'error', 'Errors of projects')
  addList(parent)
  addShow(parent)
  addStatus(parent, 'resolve', 'resolved')
  addStatus(parent, 'ignore', 'ignored')
  addStatus(parent, 'reopen', 'unresolved')
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
const titleOf = ({ name, description }: errors.CollectedError): string =>
  name === description ? name : `${name}: ${description}`

const lineOf = (error: errors.CollectedError): string => {
  const { id, level, status, events, users, last_seen_at } = error
  const seen = last_seen_at.toISOString()
  return [id, level, status, counted(events, 'event'), counted(users, 'user'), seen, titleOf(error)]
    .map(String)
    .map(oneLine)
    .join('  ')
}

const detailsOf = ({ actor, platform, releases, first_seen_at }: errors.CollectedError): string[] => [
  `in: ${oneLine(actor)}`,
  `platform: ${platform ?? 'unknown'}`,
  `releases: ${releases.length === 0 ? 'none' : oneLine(releases.join(', '))}`,
  `first seen: ${first_seen_at.toISOString()}`,
]

interface ListOptions {
  readonly project: string
  readonly status?: errors.ErrorStatus
  readonly limit: number
}
function addList(parent: Command): void {
  command({
    parent,
    name: 'list',
    description: 'list the errors of a project, last seen first',
    under: UNDER,
  })
    .requiredOption('--project <path-or-id>', 'whose')
    .addOption(new Option('--status <status>', 'only these').choices(['unresolved', 'resolved', 'ignored']))
    .option('--limit <number>', 'no more than these', readId, 100)
    .action(({ project: ref, ...filter }: ListOptions) =>
      withInstance({ ...filter }, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, ref)
        const found = await errors.list(db, project.id, filter)
        say(found, linesOrNone(found.map(lineOf)))
      }),
    )
}

const noError = (path: string, id: number): Refusal => new Refusal(`${path} has no error ${id}`)

function addShow(parent: Command): void {
  command({ parent, name: 'show', description: 'show an error with its latest event', under: UNDER })
    .argument('<id>', 'the error', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .action((id: number, options: { project: string }) =>
      withInstance({ ...options }, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, options.project)
        const error = await errors.find(db, project.id, id)
        if (error === undefined) throw noError(project.full_path, id)
        const event = await errors.latestEvent(db, id)
        const latest =
          event === undefined
            ? 'No event is kept any more.'
            : `latest event: ${JSON.stringify(event, null, 2)}`
        say(
          { ...error, latest_event: event ?? null },
          [lineOf(error), ...detailsOf(error), latest].join('\n'),
        )
      }),
    )
}

function addStatus(parent: Command, verb: string, status: errors.ErrorStatus): void {
  command({ parent, name: verb, description: `mark an error as ${status}`, under: UNDER })
    .argument('<id>', 'the error', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .action((id: number, options: { project: string }) =>
      withInstance({ ...options }, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, options.project)
        if ((await errors.setStatus(db, project.id, id, status)) === 0) throw noError(project.full_path, id)
        say({ id, status }, `Error ${id} is ${status}.`)
      }),
    )
}
