import { PROGRAMS, type Program } from '../test/interop/programs.ts'
import { objectStore } from '../test/interop/object_store.ts'
import { REGISTRY_PROGRAMS } from '../test/interop/registries.ts'
import { withRegistry } from '../test/interop/registry_target.ts'
import { withTarget } from '../test/interop/target.ts'

// Runs the real programs that are installed here against a server of their own each, and prints what came of it.

type Tried = Program<void>

const TRIED: readonly Tried[] = [
  ...PROGRAMS.map((program) => ({ ...program, run: () => withTarget(program.run) })),
  ...REGISTRY_PROGRAMS.map((program) => ({ ...program, run: () => withRegistry(program.run) })),
  objectStore,
]

async function outcomeOf({ version, run }: Tried): Promise<readonly [string, string]> {
  const found = version()
  if (found === undefined) return ['not installed', 'not tried']
  try {
    await run()
    return [found, 'passed']
  } catch (error) {
    process.exitCode = 1
    return [found, `failed: ${error instanceof Error ? error.message : String(error)}`]
  }
}

const rows: string[] = []
const [wanted = ''] = process.argv.slice(2)
for (const program of TRIED.filter(({ name }) => name.toLowerCase().includes(wanted))) {
  const [version, outcome] = await outcomeOf(program)
  rows.push(`| ${program.name} | ${version} | ${program.tries} | ${outcome} |`)
}
process.stdout.write(
  `${['| Program | Version | What was tried | Outcome |', '| --- | --- | --- | --- |', ...rows].join('\n')}\n`,
)
