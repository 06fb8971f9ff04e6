import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { findByUsername } from '../core/people/users.ts'
import type { Db } from '../db/db.ts'
import type { User } from '../db/schema/tables.ts'
import type { VulnerabilityState } from '../db/schema/vulnerabilities.ts'
import { addToDashboard, listDashboard, removeFromDashboard } from '../vulnerabilities/dashboards.ts'
import { InvalidEntries, importReport, type ImportCounts } from '../vulnerabilities/import.ts'
import { NotJson } from '../vulnerabilities/json_slices.ts'
import { BadReport, FORMATS, type FormatName } from '../vulnerabilities/reading.ts'
import * as states from '../vulnerabilities/states.ts'
import { findProject, readId } from './alert_integrations.ts'
import { Refusal, command, family, withInstance } from './command.ts'
import { linesOrNone, oneLine } from './printable.ts'
import { addRuns } from './vulnerability_runs.ts'
import { oneOf } from './words.ts'

const UNDER = 'Vulnerabilities'

/** Commands about the findings of security scanners. */
export function addVulnerabilities(program: Command): void {
  const parent = family(program, 'vulnerability', 'Findings of security scanners')
  addImport(parent)
  addList(parent)
  addShow(parent)
  addRuns(parent)
  for (const change of CHANGES) addChange(parent, change)
  addDashboard(family(program, 'dashboard', "The projects on a user's security dashboard"))
}

async function findUser(db: Db, username: string): Promise<User> {
  const found = await findByUsername(db, username)
  if (found === undefined) throw new Refusal(`there is no user "${username}"`)
  return found
}
const readFormat = (given: string): FormatName => oneOf(FORMATS, given, 'format')

const countsText = (counts: ImportCounts): string => {
  const { created, updated, reappeared, unchanged, gone, duplicates, invalid } = counts
  return [
    `${created} created, ${updated} updated, ${reappeared} reappeared, ${unchanged} unchanged, ${gone} gone`,
    ...(duplicates > 0 ? [`${duplicates} named more than once`] : []),
    ...(invalid > 0 ? [`${invalid} invalid, skipped:`, ...counts.faults.map((fault) => `  ${fault}`)] : []),
  ].join('\n')
}

/** A report's faults as a Refusal; other errors as they are. */
function refusalOf(file: string, error: unknown): unknown {
  if (error instanceof InvalidEntries)
    return new Refusal(
      [`${file}: ${error.message}; --skip-invalid leaves them out`, ...error.faults].join('\n  '),
    )
  return error instanceof BadReport || error instanceof NotJson
    ? new Refusal(`${file}: ${error.message}`)
    : error
}

interface ImportOptions {
  readonly project: string
  readonly format: FormatName
  readonly skipInvalid?: true
}
function addImport(parent: Command): void {
  command({ parent, name: 'import', description: "import a scanner's report", under: UNDER })
    .argument('<file>', 'the report')
    .requiredOption('--project <path>', 'the full path or the id of the project')
    .requiredOption('--format <format>', `one of ${FORMATS.join(', ')}`, readFormat)
    .option('--skip-invalid', 'leave out entries that are invalid')
    .action(async (file: string, { project: path, format, skipInvalid, ...options }: ImportOptions) =>
      withInstance(options, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, path)
        const found = await stat(file).catch(() => undefined)
        if (found?.isFile() !== true) throw new Refusal(`there is no file "${file}"`)
        const counts = await importReport(db, {
          projectId: project.id,
          format,
          open: () => createReadStream(file, { highWaterMark: 256 * 1024 }),
          skipInvalid: skipInvalid === true,
        }).catch((error: unknown) => {
          throw refusalOf(file, error)
        })
        say({ project: project.full_path, ...counts }, countsText(counts))
      }),
    )
}

interface ListOptions {
  readonly project: string
  readonly state?: string
  readonly severity?: string
  readonly limit: number
}
function addList(parent: Command): void {
  command({ parent, name: 'list', description: "list a project's vulnerabilities", under: UNDER })
    .requiredOption('--project <path>', 'the full path or the id of the project')
    .option('--state <state>', `one of ${states.STATES.join(', ')}`, (given) =>
      oneOf(states.STATES, given, 'state'),
    )
    .option('--severity <severity>', `one of ${states.SEVERITIES.join(', ')}`, (given) =>
      oneOf(states.SEVERITIES, given, 'severity'),
    )
    .option('--limit <count>', 'at most so many', readId, 100)
    .action(async ({ project: path, state, severity, limit, ...options }: ListOptions) =>
      withInstance(options, async ({ instance: { db } }, { say }) => {
        const { id: project_id } = await findProject(db, path)
        const filter = { project_id, state: state ?? null, severity: severity ?? null, limit }
        const rows = await states.list(db, filter)
        const lines = rows.map(
          ({ id, severity, state, gone_at, name }) =>
            `${id}  ${severity}  ${state}${gone_at === null ? '' : ' (gone)'}  ${oneLine(name)}`,
        )
        say(rows, linesOrNone(lines))
      }),
    )
}

function addShow(parent: Command): void {
  command({ parent, name: 'show', description: 'show a vulnerability and its history', under: UNDER })
    .argument('<id>', 'its id', readId)
    .action(async (id: number, options: object) =>
      withInstance({ ...options }, async ({ instance: { db } }, { say }) => {
        const found = await states.find(db, id)
        if (found === undefined) throw new Refusal(`there is no vulnerability ${id}`)
        const transitions = await states.transitionsOf(db, id)
        const lines = [
          `${oneLine(found.name)} (${found.severity}, ${found.state}${found.gone_at === null ? '' : ', gone'})`,
          `  ${found.project}: ${JSON.stringify(found.location)}`,
          `  ${found.scanner_name}: ${found.identifiers.map(({ name }) => name).join('; ')}`,
          ...transitions.map(
            (each) =>
              `  ${each.created_at.toISOString()} ${each.to_state}${reasonText(each)} by ${each.author ?? 'a report'} ${oneLine(each.comment)}`,
          ),
        ]
        say({ ...found, transitions }, lines.map((line) => line.trimEnd()).join('\n'))
      }),
    )
}

const reasonText = ({ dismissal_reason }: states.ShownTransition): string =>
  dismissal_reason === null ? '' : ` (${dismissal_reason})`

const CHANGES: readonly (readonly [verb: string, state: VulnerabilityState])[] = [
  ['dismiss', 'dismissed'],
  ['confirm', 'confirmed'],
  ['resolve', 'resolved'],
  ['reopen', 'detected'],
]

interface ChangeOptions {
  readonly by: string
  readonly comment: string
  readonly reason?: string
}
function addChange(parent: Command, [verb, to_state]: (typeof CHANGES)[number]): void {
  const made = command({ parent, name: verb, description: `${verb} a vulnerability`, under: UNDER })
    .argument('<id>', 'its id', readId)
    .requiredOption('--by <username>', 'the user who decides')
    .option('--comment <text>', 'why', '')
  if (verb === 'dismiss')
    made.requiredOption('--reason <reason>', `one of ${states.DISMISSAL_REASONS.join(', ')}`, (given) =>
      oneOf(states.DISMISSAL_REASONS, given, 'reason'),
    )
  made.action(async (id: number, { by, comment, reason, ...options }: ChangeOptions) =>
    withInstance(options, async ({ instance: { db } }, { say }) => {
      const author = await findUser(db, by)
      const transition = { id, to_state, author_id: author.id, dismissal_reason: reason ?? null, comment }
      if (!(await states.changeState(db, transition)))
        throw new Refusal(
          (await states.find(db, id)) === undefined
            ? `there is no vulnerability ${id}`
            : `vulnerability ${id} is ${to_state} already`,
        )
      say({ id, state: to_state }, `Vulnerability ${id} is ${to_state}.`)
    }),
  )
}

interface DashboardOptions {
  readonly user: string
  readonly project: string
}
function addDashboard(parent: Command): void {
  for (const [name, description, act] of [
    ['add', 'put a project on the dashboard', addToDashboard],
    ['remove', 'take a project off the dashboard', removeFromDashboard],
  ] as const)
    command({ parent, name, description, under: UNDER })
      .requiredOption('--user <username>', 'whose dashboard')
      .requiredOption('--project <path>', 'the full path or the id of the project')
      .action(async ({ user: username, project: path, ...options }: DashboardOptions) =>
        withInstance(options, async ({ instance: { db } }, { say }) => {
          const [user, project] = [await findUser(db, username), await findProject(db, path)]
          const changed = await act(db, { user_id: user.id, project_id: project.id })
          say({ user: username, project: project.full_path, changed }, changed ? 'Done.' : 'Nothing to do.')
        }),
      )
  command({ parent, name: 'list', description: 'list the projects on the dashboard', under: UNDER })
    .requiredOption('--user <username>', 'whose dashboard')
    .action(async ({ user: username, ...options }: Pick<DashboardOptions, 'user'>) =>
      withInstance(options, async ({ instance: { db } }, { say }) => {
        const projects = await listDashboard(db, (await findUser(db, username)).id)
        say(projects, linesOrNone(projects))
      }),
    )
}
