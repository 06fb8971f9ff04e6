import { readFile } from 'node:fs/promises'
import { Option, type Command } from 'commander'
import { includes, tierOfProject } from '../core/settings/plans.ts'
import * as alertSettings from '../alerts/settings.ts'
import { isLonger } from '../core/values/lengths.ts'
import { findProject } from './alert_integrations.ts'
import { Misuse, Refusal, command, family, withInstance } from './command.ts'

const UNDER = 'Alerts'

/** Commands about what a project does with its alerts. */
export function addAlertSettings(program: Command): void {
  const parent = family(program, 'alert-settings', 'What projects do with their alerts')
  addShow(parent)
  addSet(parent)
}

const linesOf = (settings: alertSettings.AlertSettings): string => {
  const state = (on: boolean): string => (on ? 'on' : 'off')
  return [
    `create incidents: ${state(settings.create_incidents)}`,
    `auto-close incidents: ${state(settings.auto_close_incidents)}`,
    `incident template: ${settings.incident_template === null ? 'none' : `\n${settings.incident_template}`}`,
  ].join('\n')
}

function addShow(parent: Command): void {
  command({ parent, name: 'show', description: 'show the alert settings of a project', under: UNDER })
    .requiredOption('--project <path-or-id>', 'the full path or the id of the project')
    .action((options: { project: string }) =>
      withInstance({ ...options }, async ({ instance: { db } }, { say }) => {
        const project = await findProject(db, options.project)
        const settings = await alertSettings.find(db, project.id)
        say({ project: project.full_path, ...settings }, linesOf(settings))
      }),
    )
}

type Switch = 'on' | 'off'
interface SetOptions {
  readonly project: string
  readonly createIncidents?: Switch
  readonly autoCloseIncidents?: Switch
  /** False for `--no-template`. */
  readonly template?: string | false
}

const onOff = (flags: string, description: string): Option =>
  new Option(flags, description).choices(['on', 'off'])

function addSet(parent: Command): void {
  command({ parent, name: 'set', description: 'change the alert settings of a project', under: UNDER })
    .requiredOption('--project <path-or-id>', 'the full path or the id of the project')
    .addOption(onOff('--create-incidents <state>', 'open an incident for each new alert'))
    .addOption(onOff('--auto-close-incidents <state>', 'close the incident when a sender resolves its alert'))
    .option('--template <file>', 'Markdown at the end of each description')
    .option('--no-template', 'end descriptions without Markdown of your own')
    .action(async (options: SetOptions) => {
      const { createIncidents, autoCloseIncidents } = options
      const template = await readTemplate(options.template)
      if (createIncidents === undefined && autoCloseIncidents === undefined && template === undefined)
        throw new Misuse(
          'name what to change: --create-incidents, --auto-close-incidents, --template or --no-template',
        )
      await withInstance({ ...options }, async ({ instance }, { say }) => {
        const { db } = instance
        const project = await findProject(db, options.project)
        if (createIncidents === 'on' && !includes(await tierOfProject(instance, project.id), 'ultimate'))
          throw new Refusal('--create-incidents needs a licence of ultimate')
        const known = await alertSettings.find(db, project.id)
        const isOn = (state: Switch | undefined, now: boolean): boolean =>
          state === undefined ? now : state === 'on'
        const settings = {
          create_incidents: isOn(createIncidents, known.create_incidents),
          auto_close_incidents: isOn(autoCloseIncidents, known.auto_close_incidents),
          incident_template: template === undefined ? known.incident_template : template,
        }
        await alertSettings.save(db, project.id, settings)
        say({ project: project.full_path, ...settings }, linesOf(settings))
      })
    })
}

/** Characters of a template: the description of an issue holds a million. */
const MAX_TEMPLATE = 100_000

/** The template that is given; null to have none, undefined to leave it as it is. */
async function readTemplate(given: string | false | undefined): Promise<string | null | undefined> {
  if (given === undefined) return undefined
  if (given === false) return null
  const text = await readFile(given, 'utf8').catch(() => {
    throw new Misuse(`--template: there is no file "${given}"`)
  })
  if (isLonger(text, MAX_TEMPLATE)) throw new Misuse(`--template takes up to ${MAX_TEMPLATE} characters`)
  const trimmed = text.replaceAll('\0', '').trim()
  return trimmed === '' ? null : trimmed
}
