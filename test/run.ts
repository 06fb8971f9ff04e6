import { spawn } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { bundle } from './support/bundle.ts'
import { SERVER_VARIABLE, startTestServer } from './support/database.ts'
import { makeReady, READY_VARIABLE } from './support/program.ts'
import { writeToMemory } from './support/temporary.ts'
// Runs the test files named on the command line, or all, against one database server that all share. They share a few
// processes, because loading the program takes time. Files that start processes of their own mostly wait for them.

const WAITING = /^test\/(clients|scenarios)\/|embedded|git\/processes\/|misuses/
const GROUPS = 8
const FOLDER = `.cache/tests-${process.pid}`
const FLAGS = ['--enable-source-maps', '--test', '--test-concurrency=5', '--test-timeout=600000']

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

/** Deals `these` files out to processes; each is a module that names its part of them. */
async function writeGroups(kind: string, these: readonly string[]): Promise<string[]> {
  const count = Math.min(GROUPS, these.length)
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const name = `${FOLDER}/${at}-${kind}.test.js`
      const group = these.filter((_file, index) => index % count === at)
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

const waiting = files.filter((file) => WAITING.test(file))
const computing = files.filter((file) => !WAITING.test(file))
await bundle([...files, 'test/support/together.ts'], FOLDER)
writeToMemory()
// By their names they run in turn, so that at any time some wait while others compute.
const groups = [await writeGroups('waiting', waiting), await writeGroups('computing', computing)]
const server = await startTestServer()
const ready = waiting.length > 0 ? makeReady() : undefined
const child = spawn(process.execPath, [...FLAGS, ...groups.flat().sort()], {
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
