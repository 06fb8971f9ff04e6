import { spawn } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { bundle } from './support/bundle.ts'
import { SERVER_VARIABLE, startTestServer } from './support/database.ts'
import { makeReady, READY_VARIABLE } from './support/program.ts'
// Runs the test files named on the command line, or all, against one database server that all share. Files that start
// processes of their own run in one each; the others share a few, because loading the program takes time.

const GROUPS = 8
const FOLDER = `.cache/tests-${process.pid}`
const FLAGS = ['--enable-source-maps', '--test', '--test-concurrency=4', '--test-timeout=600000']
const ALONE = /^test\/(clients|scenarios)\/|embedded|git\/processes\/|misuses/

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
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
if (files.length === 0) throw new Error(`no test file matches ${wanted.join(' ')}`)

const compiled = (file: string): string => `${FOLDER}/${file.replace(/\.ts$/, '.js')}`

/** Deals out the files that share a process; each group is a module that names them. */
async function writeGroups(shared: readonly string[]): Promise<string[]> {
  const groups = Array.from({ length: Math.min(GROUPS, shared.length) }, (_, at) =>
    shared.filter((_file, index) => index % GROUPS === at),
  )
  return Promise.all(
    groups.map(async (group, at) => {
      const name = `${FOLDER}/${at}.test.js`
      const loads = group.map((file) => `'${file}': () => import('../../${compiled(file)}'),`)
      const lines = [
        `import { together } from './test/support/together.js'`,
        'await together({',
        ...loads,
        '})',
      ]
      await writeFile(name, lines.join('\n'))
      return name
    }),
  )
}

/** A few of `short` after each of `long`: those mostly wait, these mostly compute, and neither shall be left to the end. */
function spread(long: readonly string[], short: readonly string[]): string[] {
  const each = Math.ceil(short.length / Math.max(long.length, 1))
  const left = long.length === 0 ? short : []
  return [...long.flatMap((one, at) => [one, ...short.slice(at * each, (at + 1) * each)]), ...left]
}

const alone = files.filter((file) => ALONE.test(file))
await bundle([...files, 'test/support/together.ts'], FOLDER)
const groups = await writeGroups(files.filter((file) => !ALONE.test(file)))
const server = await startTestServer()
const ready = alone.length > 0 ? makeReady() : undefined
const child = spawn(process.execPath, [...FLAGS, ...spread(groups, alone.map(compiled))], {
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
