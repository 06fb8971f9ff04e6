import type { Command } from 'commander'
import { access } from 'node:fs/promises'
import { openVault } from '../access/secrets.ts'
import { findInconsistencies } from '../ci/check.ts'
import { openDatabase } from '../db/database.ts'
import { checkDatabase, checkSealed } from '../doctor/database.ts'
import { fault, messageOf, ok, type Finding } from '../doctor/finding.ts'
import { checkMachine } from '../doctor/machine.ts'
import { checkRepositories } from '../doctor/repositories.ts'
import type { Client } from '../db/client.ts'
import type { Config } from '../config.ts'
import { Misuse, act, checkData, command, type Cli } from './command.ts'

interface Options {
  readonly fix?: boolean
  readonly sample: number
}
type Checked = Omit<Finding, 'fix'> & { readonly fixable: boolean; readonly fixed: boolean }

function readCount(given: string): number {
  if (!/^\d{1,6}$/.test(given)) throw new Misuse(`--sample takes a number, not ${given}`)
  return Number(given)
}

export function addDoctor(program: Command): void {
  const description = 'check the machine, the database, repositories and jobs, and explain what is wrong'
  command({ parent: program, name: 'doctor', description, under: 'Server' })
    .option('--fix', 'heal what can be healed without losing anything')
    .option('--sample <number>', 'check so many repositories with git fsck', readCount, 20)
    .action((options: Options) => act({ ...options }, 'warn', (cli) => examine(cli, options)))
}

async function examine(cli: Cli, { fix = false, sample }: Options): Promise<void> {
  const checked: Checked[] = []
  const note = async (finding: Finding): Promise<void> => {
    const { fix: heal, ...rest } = finding
    const failure = fix ? await heal?.().catch(messageOf) : undefined
    const fixed = fix && heal !== undefined && typeof failure !== 'string'
    const text = typeof failure === 'string' ? `${rest.text} (could not be healed: ${failure})` : rest.text
    checked.push({ ...rest, text, fixable: heal !== undefined, fixed })
  }
  for (const finding of await checkMachine(cli.config)) await note(finding)
  await withDatabase(cli, note, sample)
  cli.progress.end()
  const isWell = checked.every(({ status, fixed }) => status !== 'fault' || fixed)
  cli.say({ well: isWell, checks: checked }, checked.map(lineOf).join('\n'))
  if (!isWell) process.exitCode = 1
}

function lineOf({ check, status, text, fixable, fixed }: Checked): string {
  const word = fixed ? 'fixed' : status
  const hint = fixable && !fixed ? ' (--fix does it)' : ''
  return `${word.padEnd(8)}${check.padEnd(16)}${text}${hint}`
}

async function withDatabase(
  { config, log, progress }: Cli,
  note: (finding: Finding) => Promise<void>,
  sample: number,
): Promise<void> {
  const opening = Promise.resolve().then(() => {
    checkData(config)
    return openDatabase(config, { join: true, log: (line) => log.info({ from: 'database' }, line) })
  })
  const database = await opening.catch(messageOf)
  if (typeof database === 'string') return note(fault('database', database))
  const { client } = database
  try {
    await client.script('select 1')
    await note(ok('database', 'the database answers'))
    progress.step('database')
    for (const finding of await checkDatabase(client)) await note(finding)
    await note(await guarded('sealed values', async () => checkSealed(client, await vaultOf(config))))
    await note(await guarded('pipelines', () => checkPipelines(client)))
    progress.step('repositories')
    for (const finding of await checkRepositories({ client, config, sample })) await note(finding)
  } catch (error) {
    await note(fault('database', `${messageOf(error)}; is DATABASE_URL right, and does it run?`))
  } finally {
    await database.close()
  }
}

const guarded = (check: string, work: () => Promise<Finding>): Promise<Finding> =>
  work().catch((error: unknown) => fault(check, messageOf(error)))

/** Opens the secret that is there: to make a new one would hide that the old one is lost. */
async function vaultOf({ secretFile }: Config): ReturnType<typeof openVault> {
  await access(secretFile)
  return openVault(secretFile)
}

async function checkPipelines(client: Client): Promise<Finding> {
  const found = await findInconsistencies(client)
  const [first] = found
  if (first === undefined) return ok('pipelines', 'pipelines, jobs and resource groups are consistent')
  const example = `${first.kind} ${first.id} of project ${first.project_id}`
  return fault(
    'pipelines',
    `${found.length} are in states that cannot be, such as ${example}; report this as a bug`,
  )
}
