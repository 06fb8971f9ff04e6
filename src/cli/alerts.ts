import { Option, type Command } from 'commander'
import { NoIncident, openIncident } from '../alerts/incidents.ts'
import * as alerts from '../alerts/reading.ts'
import { violates } from '../db/errors.ts'
import type { AlertShown } from '../alerts/reading.ts'
import type { AlertStatus } from '../db/schema/alerts.ts'
import { findProject, readId } from './alert_integrations.ts'
import { Refusal, command, family, withInstance } from './command.ts'
import { linesOrNone, oneLine } from './printable.ts'

const UNDER = 'Alerts'

/** Commands about the alerts of a project. */
export function addAlerts(program: Command): void {
  const parent = family(program, 'alert', 'Alerts of projects')
  addList(parent)
  addShow(parent)
  for (const [verb, status] of [
    ['acknowledge', 'acknowledged'],
    ['resolve', 'resolved'],
    ['ignore', 'ignored'],
    ['reopen', 'triggered'],
  ] as const)
    addStatus(parent, verb, status)
  addCreateIncident(parent)
}

const shown = (alert: AlertShown): Record<string, unknown> => ({
  iid: alert.iid,
  title: alert.title,
  status: alert.status,
  severity: alert.severity,
  events: alert.events,
  service: alert.service,
  monitoring_tool: alert.monitoring_tool,
  hosts: alert.hosts,
  environment: alert.environment,
  issue_iid: alert.issue_iid,
  description: alert.description,
  started_at: alert.started_at,
  ended_at: alert.ended_at,
})

const lineOf = ({ iid, severity, status, events, title, issue_iid }: AlertShown): string =>
  [
    `#${iid}`,
    severity,
    status,
    `${events}x`,
    oneLine(title),
    ...(issue_iid === null ? [] : [`(incident #${issue_iid})`]),
  ].join('  ')

interface ListOptions {
  readonly project: string
  readonly status?: AlertStatus
  readonly search?: string
  readonly environment?: string
  readonly limit: number
}
function addList(parent: Command): void {
  command({ parent, name: 'list', description: 'list the alerts of a project, newest first', under: UNDER })
    .requiredOption('--project <path-or-id>', 'whose')
    .addOption(
      new Option('--status <status>', 'only these').choices([
        'triggered',
        'acknowledged',
        'resolved',
        'ignored',
      ]),
    )
    .option('--search <text>', 'part of title, description, service or monitoring tool')
    .option('--environment <name>', 'only those of this environment')
    .option('--limit <number>', 'no more than these', readId, 100)
    .action(({ project: ref, ...filter }: ListOptions) =>
      withInstance({ ...filter }, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, ref)
        const found = await alerts.list(db, project.id, filter)
        say(found.map(shown), linesOrNone(found.map(lineOf)))
      }),
    )
}

interface One {
  readonly project: string
}
function addShow(parent: Command): void {
  command({ parent, name: 'show', description: 'show an alert with its payload', under: UNDER })
    .argument('<iid>', 'the number of the alert in its project', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .action((iid: number, options: One) =>
      withInstance({ ...options }, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, options.project)
        const alert = await alerts.find(db, project.id, iid)
        if (alert === undefined) throw noAlert(project.full_path, iid)
        const whole = { ...shown(alert), payload: alert.payload }
        const lines = Object.entries(whole).map(
          ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
        )
        say(whole, lines.join('\n'))
      }),
    )
}

const noAlert = (path: string, iid: number): Refusal => new Refusal(`${path} has no alert ${iid}`)

function addStatus(parent: Command, verb: string, status: AlertStatus): void {
  command({ parent, name: verb, description: `mark an alert as ${status}`, under: UNDER })
    .argument('<iid>', 'the number of the alert in its project', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .action((iid: number, options: One) =>
      withInstance({ ...options }, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, options.project)
        const alert = await alerts.setStatus(db, project.id, iid, status).catch((error: unknown) => {
          if (!violates(error, 'alerts_unresolved')) throw error
          throw new Refusal(`alert ${iid} is resolved, and a newer one has its fingerprint`)
        })
        if (alert === undefined) throw noAlert(project.full_path, iid)
        say(shown(alert), `Alert ${iid} is ${status}.`)
      }),
    )
}

function addCreateIncident(parent: Command): void {
  command({
    parent,
    name: 'create-incident',
    description: 'open the incident of an alert, whatever the settings say',
    under: UNDER,
  })
    .argument('<iid>', 'the number of the alert in its project', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .action((iid: number, options: One) =>
      withInstance({ ...options }, async ({ instance: { db, config } }, { say }) => {
        const project = await findProject(db, options.project)
        const alert = await alerts.find(db, project.id, iid)
        if (alert === undefined) throw noAlert(project.full_path, iid)
        const issueIid = await db
          .transaction((tx) => openIncident({ db: tx, config }, alert.id))
          .catch((error: unknown) => {
            throw error instanceof NoIncident ? new Refusal(error.message) : error
          })
        const url = `${config.url}/${project.full_path}/-/issues/${issueIid}`
        say({ iid, issue_iid: issueIid, url }, `Incident ${project.full_path}#${issueIid}: ${url}`)
      }),
    )
}
