import { spawn } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { bundle } from './support/bundle.ts'
import { SERVER_VARIABLE, startTestServer } from './support/database.ts'
import { makeReady, READY_VARIABLE } from './support/program.ts'
import { writeToMemory } from './support/temporary.ts'
// Runs the test files named on the command line, or all, against one database server that all share. They share a few
// processes, because loading the program takes time, and more of them than processors take each other's time. Files that
// start processes of their own mostly wait for them.

const WAITING = /^test\/(clients|scenarios)\/|embedded|git\/processes\/|misuses/
/** Two lanes that mostly wait leave room for two that compute, on two processors. */
const LANES = 4
/** Minutes that a kill may take in the tests that `TEST_KILLS` makes longer. */
const KILL_MINUTES = 0.1
/** Milliseconds: of a test, and of all that one process runs. */
const LIMIT = Math.max(14, KILL_MINUTES * Number(process.env['TEST_KILLS'] ?? 0)) * 60_000
const FOLDER = `.cache/tests-${process.pid}`
const FLAGS = ['--enable-source-maps', '--test', `--test-concurrency=${LANES}`, `--test-timeout=${LIMIT}`]

const wanted = process.argv.slice(2)
const tree = await Promise.all(
  ['src', 'test'].map(async (top) =>
    (await readdir(top, { recursive: true })).map((name) => `${top}/${name}`),
  ),
)
const files = tree
  .flat()
  .filter((file) => file.endsWith('.test.ts'))
  .sort()
  // Those that take longest stand last in the alphabet.
  .toReversed()
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
if (files.length === 0) throw new Error(`no test file matches ${wanted.join(' ')}`)

const waiting = files.filter((file) => WAITING.test(file))
const computing = files.filter((file) => !WAITING.test(file))

/**
 * A module for each process. All name all files, and each takes the next that no other has taken; every other process
 * begins with those that wait.
 */
async function writeLanes(): Promise<string[]> {
  const count = Math.min(LANES, files.length)
  await mkdir(`${FOLDER}/taken`)
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const name = `${FOLDER}/lane-${at}.test.js`
      const order = at % 2 === 0 ? [...waiting, ...computing] : [...computing, ...waiting]
      const lines = [
        `import { together } from './test/support/together.js'`,
        `await together('${FOLDER}/taken', {`,
        ...order.map((file) => `'${file}': () => import('./${file.replace(/\.ts$/, '.js')}'),`),
        '})',
      ]
      await writeFile(name, lines.join('\n'))
      return name
    }),
  )
}

await bundle([...files, 'test/support/together.ts'], FOLDER)
writeToMemory()
const lanes = await writeLanes()
const server = await startTestServer()
const ready = waiting.length > 0 ? makeReady() : undefined
const child = spawn(process.execPath, [...FLAGS, ...lanes], {
  stdio: 'inherit',
  env: {
    ...process.env,
    [SERVER_VARIABLE]: JSON.stringify(server.connection),
    ...(ready !== undefined && { [READY_VARIABLE]: ready }),
  },
})
const code = await new Promise<number>((resolve) => child.on('exit', (status) => resolve(status ?? 1)))
await server.stop()
if (ready !== undefined) await rm(dirname(ready), { recursive: true, force: true })
await rm(FOLDER, { recursive: true, force: true })
process.exitCode = code
