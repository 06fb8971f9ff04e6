import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { SERVER_VARIABLE, startTestServer } from './support/database.ts'
import { build } from './support/program.ts'

// Runs the test files named on the command line, or all, against one database server that all share.

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

if (files.some((file) => /^test\/(clients|scenarios)\//.test(file))) build()
const server = await startTestServer()
const child = spawn(
  process.execPath,
  ['--import', 'tsx', '--test', '--test-concurrency=2', '--test-timeout=300000', ...files],
  { stdio: 'inherit', env: { ...process.env, [SERVER_VARIABLE]: JSON.stringify(server.connection) } },
)
const code = await new Promise<number>((resolve) => child.on('exit', (status) => resolve(status ?? 1)))
await server.stop()
process.exitCode = code
