import { spawn } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { SERVER_VARIABLE, startTestServer } from './support/database.ts'
import { build } from './support/program.ts'

// Runs the test files named on the command line, or all, against one database server that all share. Files that start
// processes of their own run in one each; the others share a few, because loading the program takes most of their time.

const GROUPS = 8
const FOLDER = `.cache/tests-${process.pid}`
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

/** The files that share a process, dealt out; each group is a file that names them. */
async function writeGroups(shared: readonly string[]): Promise<string[]> {
  await mkdir(FOLDER, { recursive: true })
  const groups = Array.from({ length: Math.min(GROUPS, shared.length) }, (_, at) =>
    shared.filter((_file, index) => index % GROUPS === at),
  )
  return Promise.all(
    groups.map(async (group, at) => {
      const name = `${FOLDER}/${at}.test.ts`
      const source = new URL('support/together.ts', import.meta.url).href
      await writeFile(
        name,
        `import { together } from '${source}'\nawait together(${JSON.stringify(group)})\n`,
      )
      return name
    }),
  )
}

const alone = files.filter((file) => ALONE.test(file))
const groups = await writeGroups(files.filter((file) => !ALONE.test(file)))
if (alone.some((file) => /^test\/(clients|scenarios)\//.test(file))) build()
const server = await startTestServer()
const child = spawn(
  process.execPath,
  ['--import', 'tsx', '--test', '--test-concurrency=2', '--test-timeout=600000', ...alone, ...groups],
  { stdio: 'inherit', env: { ...process.env, [SERVER_VARIABLE]: JSON.stringify(server.connection) } },
)
const code = await new Promise<number>((resolve) => child.on('exit', (status) => resolve(status ?? 1)))
await server.stop()
await rm(FOLDER, { recursive: true, force: true })
process.exitCode = code
