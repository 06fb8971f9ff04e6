import { readFile } from 'node:fs/promises'
import { Command, CommanderError } from 'commander'
import { addAlertIntegrations } from './cli/alert_integrations.ts'
import { addAlertSettings } from './cli/alert_settings.ts'
import { addAlerts } from './cli/alerts.ts'
import { addAudit } from './cli/audit.ts'
import { addBackups, addMigrate } from './cli/maintenance.ts'
import { Misuse, speak, wordsFor } from './cli/command.ts'
import { addDoctor } from './cli/doctor.ts'
import { addDemo } from './cli/demo.ts'
import { addFreezes } from './cli/freezes.ts'
import { addErrors } from './cli/errors.ts'
import { addInvitations } from './cli/invitations.ts'
import { addPeople } from './cli/people.ts'
import { addPlanning } from './cli/planning.ts'
import { addRunner } from './cli/runner.ts'
import { addServe } from './cli/serve.ts'
import { addSwitches } from './cli/switches.ts'
import { addThings } from './cli/things.ts'
import { addPipelines } from './cli/pipelines.ts'
import { addPlans } from './cli/plans.ts'
import { addVulnerabilities } from './cli/vulnerabilities.ts'
import { VARIABLES } from './config.ts'
import { PACKAGE_ROOT } from './package_root.ts'

/** Text below the list of commands. */
function afterword(): string {
  const width = Math.max(...Object.keys(VARIABLES).map((name) => name.length))
  const variables = Object.entries(VARIABLES).map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
  return `
Begin with:
  bin/guildhall serve
  bin/guildhall demo                      in another window
  bin/guildhall user create --help        and so for every command

Commands work beside a running server as well as alone.
Exit status: 0 done, 1 refused or failed, 2 wrong words.

Environment:
${variables.join('\n')}`
}

async function buildProgram(): Promise<Command> {
  const { version } = JSON.parse(await readFile(new URL('package.json', PACKAGE_ROOT), 'utf8')) as {
    version: string
  }
  const program = new Command('guildhall')
  speak(program)
  program
    .description('Project collaboration on a server of your own')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this')
    .showHelpAfterError('See guildhall --help.')
    .addHelpText('after', afterword())
  for (const add of [
    addServe,
    addMigrate,
    addBackups,
    addDoctor,
    addPeople,
    addAudit,
    addInvitations,
    addThings,
    addPlanning,
    addAlertIntegrations,
    addAlerts,
    addAlertSettings,
    addErrors,
    addSwitches,
    addFreezes,
    addPipelines,
    addRunner,
    addPlans,
    addVulnerabilities,
    addDemo,
  ])
    add(program)
  return program
}

/** Runs the command in `argv`; sets the exit status: 0 done, 1 refused or failed, 2 wrong words. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = await buildProgram()
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2
      return
    }
    process.stderr.write(`guildhall: ${wordsFor(error)}\n`)
    process.exitCode = error instanceof Misuse ? 2 : 1
  }
}

await main(process.argv)
