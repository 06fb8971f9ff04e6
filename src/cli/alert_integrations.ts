import { readFile } from 'node:fs/promises'
import { Option, type Command } from 'commander'
import { includes, tierOfProject } from '../core/settings/plans.ts'
import { readGeneric } from '../alerts/generic.ts'
import { takeAlerts } from '../alerts/intake.ts'
import * as integrations from '../alerts/integrations.ts'
import { BadMapping, readMapping } from '../alerts/mapping.ts'
import { findByRef } from '../core/places/projects.ts'
import type { Db } from '../db/db.ts'
import type { AlertIntegration, AlertMapping, IntegrationType } from '../db/schema/alerts.ts'
import type { Project } from '../db/schema/tables.ts'
import type { Instance } from '../instance.ts'
import { Misuse, Refusal, command, family, withInstance } from './command.ts'
import { linesOrNone } from './printable.ts'
import { readName } from './words.ts'

const UNDER = 'Alerts'

/** Commands about the integrations that send alerts. */
export function addAlertIntegrations(program: Command): void {
  const parent = family(program, 'alert-integration', 'Integrations that send alerts')
  addCreate(parent)
  addList(parent)
  addTest(parent)
  addRotate(parent)
  addSwitch(parent, {
    name: 'disable',
    active: false,
    description: 'take no more alerts from an integration',
  })
  addSwitch(parent, {
    name: 'enable',
    active: true,
    description: 'take alerts from a disabled integration again',
  })
}

export async function findProject(db: Db, ref: string): Promise<Project> {
  const found = await findByRef(db, ref)
  if (found === undefined) throw new Refusal(`there is no project "${ref}"`)
  return found
}

export const readId = (given: string): number => {
  if (!/^\d{1,15}$/.test(given)) throw new Misuse(`it takes a number, not "${given}"`)
  return Number(given)
}

const shown = ({ config }: Instance, project: Project, one: AlertIntegration): Record<string, unknown> => ({
  id: one.id,
  name: one.name,
  type: one.type,
  active: one.active,
  url: config.url + integrations.pathOf(project.full_path, one),
})

interface CreateOptions {
  readonly project: string
  readonly name: string
  readonly type: IntegrationType
  readonly mapping?: string
}

function addCreate(parent: Command): void {
  command({
    parent,
    name: 'create',
    description: 'create an integration; its key is shown once',
    under: UNDER,
  })
    .requiredOption('--project <path-or-id>', 'whose alerts')
    .requiredOption('--name <text>', 'its name, which its URL shows', readName)
    .addOption(
      new Option('--type <type>', 'what sends').choices(['http', 'prometheus']).makeOptionMandatory(),
    )
    .option('--mapping <file>', 'JSON with a sample payload and a JSON path for each attribute')
    .action(async (options: CreateOptions) => {
      const mapping = options.mapping === undefined ? null : await readMappingFile(options.mapping)
      await withInstance({ ...options }, async ({ instance }, { say }) => {
        const project = await findProject(instance.db, options.project)
        await checkLicence(instance, project, options)
        const values = { project, name: options.name, type: options.type, mapping }
        const { integration, key } = await integrations.create(instance.db, values)
        const { id, name, url } = shown(instance, project, integration)
        say(
          { id, name, url, key },
          `Created ${options.name} (id ${integration.id}).\nURL: ${String(url)}\nKey: ${key}`,
        )
      })
    })
}

async function readMappingFile(path: string): Promise<AlertMapping> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Misuse(`--mapping: there is no file "${path}"`)
  })
  try {
    return readMapping(JSON.parse(text))
  } catch (error) {
    if (error instanceof BadMapping || error instanceof SyntaxError)
      throw new Misuse(`--mapping: ${error.message}`)
    throw error
  }
}

/** Several endpoints of a type, and custom mappings, need Premium. */
async function checkLicence(
  instance: Instance,
  project: Project,
  { type, mapping }: CreateOptions,
): Promise<void> {
  if (mapping !== undefined && !includes(await tierOfProject(instance, project.id), 'premium'))
    throw new Refusal('--mapping needs a licence of premium or above')
  await checkSecond(instance, project, { type })
}

async function checkSecond(
  instance: Instance,
  project: Project,
  { id, type }: Pick<AlertIntegration, 'type'> & Partial<AlertIntegration>,
): Promise<void> {
  if (includes(await tierOfProject(instance, project.id), 'premium')) return
  const known = await integrations.list(instance.db, project.id)
  if (known.some((one) => one.type === type && one.id !== id && one.active))
    throw new Refusal(`a second integration of type ${type} needs a licence of premium or above`)
}

function addList(parent: Command): void {
  command({ parent, name: 'list', description: 'list the integrations of a project', under: UNDER })
    .requiredOption('--project <path-or-id>', 'whose')
    .action((options: { project: string }) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const project = await findProject(instance.db, options.project)
        const all = await integrations.list(instance.db, project.id)
        const rows = all.map((one) => shown(instance, project, one))
        const lines = rows.map(({ id, name, type, active, url }) =>
          [id, type, active === true ? 'active' : 'inactive', name, url].join('  '),
        )
        say(rows, linesOrNone(lines))
      }),
    )
}

interface One {
  readonly project: string
}

async function find(
  instance: Instance,
  { project: ref }: One,
  id: number,
): Promise<[Project, AlertIntegration]> {
  const project = await findProject(instance.db, ref)
  const found = (await integrations.list(instance.db, project.id)).find((one) => one.id === id)
  if (found === undefined) throw new Refusal(`${project.full_path} has no integration ${id}`)
  return [project, found]
}

function addTest(parent: Command): void {
  command({
    parent,
    name: 'test',
    description: 'raise an alert as if the integration had sent it',
    under: UNDER,
  })
    .argument('<id>', 'the integration', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .option('--title <text>', 'the title of the alert', 'Test alert')
    .action((id: number, options: One & { title: string }) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const [project, integration] = await find(instance, options, id)
        const endpoint = integration.endpoint_identifier
        const to = await integrations.findReceiving(instance.db, project.full_path, endpoint)
        if (to === undefined)
          throw new Refusal(`integration ${id} takes no alerts: it is disabled, or the project is archived`)
        const payload = { title: options.title }
        const text = JSON.stringify(payload)
        const item = readGeneric(payload, text, { mapping: null, fingerprinting: true, now: new Date() })
        const [taken] = await takeAlerts(instance.db, to, [item])
        say(
          { iid: taken?.iid, title: taken?.title },
          `Alert ${taken?.iid} of ${project.full_path}: ${taken?.title}`,
        )
      }),
    )
}

function addRotate(parent: Command): void {
  command({
    parent,
    name: 'rotate',
    description: 'make a new key; the old one opens nothing any more',
    under: UNDER,
  })
    .argument('<id>', 'the integration', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .action((id: number, options: One) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const [project, known] = await find(instance, options, id)
        const rotated = await integrations.rotate(instance.db, project.id, known.id)
        if (rotated === undefined) throw new Refusal(`integration ${id} was removed`)
        const { name, url } = shown(instance, project, rotated.integration)
        say({ id, name, url, key: rotated.key }, `URL: ${String(url)}\nKey: ${rotated.key}`)
      }),
    )
}

interface Switch {
  readonly name: string
  readonly active: boolean
  readonly description: string
}
function addSwitch(parent: Command, { name, active, description }: Switch): void {
  command({ parent, name, description, under: UNDER })
    .argument('<id>', 'the integration', readId)
    .requiredOption('--project <path-or-id>', 'whose')
    .action((id: number, options: One) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const [project, known] = await find(instance, options, id)
        if (active) await checkSecond(instance, project, known)
        const changed = await integrations.setActive(instance.db, project.id, { id, active })
        if (changed === undefined) throw new Refusal(`integration ${id} was removed`)
        say(shown(instance, project, changed), `Integration ${id} is ${name}d.`)
      }),
    )
}
