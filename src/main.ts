import { CommanderError, Command } from 'commander'
import { Refusal } from './cli/command.ts'
import { addDemo } from './cli/demo.ts'
import { addMigrate } from './cli/migrate.ts'
import { addPeople } from './cli/people.ts'
import { addServe } from './cli/serve.ts'
import { addSwitches } from './cli/switches.ts'
import { addThings } from './cli/things.ts'
import { ConfigError } from './config.ts'

const program = new Command('guildhall')
  .description('Project collaboration on a server of your own')
  .showHelpAfterError('(add --help for what there is)')
  .exitOverride()

addServe(program)
addMigrate(program)
addPeople(program)
addThings(program)
addSwitches(program)
addDemo(program)

/** Runs the command in `argv`; sets the exit status: 0 done, 1 refused or failed, 2 wrong words. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2
      return
    }
    const known = error instanceof Refusal || error instanceof ConfigError
    const text = error instanceof Error ? error.message : String(error)
    process.stderr.write(`guildhall: ${text}\n`)
    if (!known && process.env['LOG_LEVEL'] === 'debug' && error instanceof Error)
      process.stderr.write(`${error.stack}\n`)
    process.exitCode = 1
  }
}

await main(process.argv)
