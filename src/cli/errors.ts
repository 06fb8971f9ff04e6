import { Option, type Command } from 'commander'
import * as errors from '../errors/reading.ts'
import { findProject, readId } from './alert_integrations.ts'
import { Refusal, command, family, withInstance } from './command.ts'
import { oneLine } from './printable.ts'

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

const lineOf = ({ id, level, status, events, users, name, description }: errors.CollectedError): string =>
  [id, level, status, `${events} events`, `${users} users`, `${name}: ${description}`]
    .map(String)
    .map(oneLine)
    .join('  ')

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
        say(found, found.map(lineOf).join('\n'))
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
        say({ ...error, latest_event: event ?? null }, `${lineOf(error)}\n${JSON.stringify(event, null, 2)}`)
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
