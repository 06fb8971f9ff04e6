import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openInstance, type Opened } from '../src/open.ts'
import { fill, type Filled } from './fill_projects.ts'

// Each page of the lists of projects, groups, people and members of an instance with 1,000 of each, beside the same page
// of one with 100,000: `node --import tsx bench/many_projects.ts [how the page begins] [caller]`. With BENCH_FOLDER the two
// instances are kept there and used again.

const MANY = Number(process.env['BENCH_MANY'] ?? 100_000)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9)
/** By then the database has settled on its plans. */
const SETTLED = 6
const FEW = 1_000
const [, , PART = '', CALLER = ''] = process.argv

const log = pino({ level: 'silent' })
const kept = process.env['BENCH_FOLDER']
const folder = kept ?? (await mkdtemp(join(tmpdir(), 'guildhall-many-')))

interface World extends Filled {
  readonly app: FastifyInstance
  readonly opened: Opened
}

async function world(count: number): Promise<World> {
  const place = join(folder, String(count))
  await mkdir(place, { recursive: true })
  const note = join(place, 'filled.json')
  const config = readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: join(place, 'data') })
  const opened = await openInstance(config, { log })
  const { app } = createApp(opened, { log })
  await app.ready()
  if (!existsSync(note)) {
    const began = performance.now()
    await writeFile(note, JSON.stringify(await fill(opened, count)))
    console.log(`${count} of each in ${Math.round((performance.now() - began) / 1000)} s`)
  }
  return { ...(JSON.parse(await readFile(note, 'utf8')) as Filled), app, opened }
}

const ORDERS = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at', 'star_count']
const SEARCHES = ['capsized', 'ab12c', 'project', 'ob', 'nowhere at all']
const PROJECTS = [
  '',
  'per_page=100',
  'page=50',
  ...ORDERS.flatMap((order) => [`order_by=${order}`, `order_by=${order}&sort=asc`]),
  'order_by=similarity',
  'order_by=id&pagination=keyset',
  'simple=true',
  'statistics=true',
  'visibility=public',
  'visibility=internal',
  'visibility=private',
  'visibility=private&order_by=name',
  'archived=true',
  'archived=false',
  'owned=true',
  'membership=true',
  'membership=true&order_by=last_activity_at',
  'membership=true&archived=false&order_by=name&sort=asc',
  'min_access_level=30',
  'starred=true',
  ...SEARCHES.map((word) => `search=${word}`),
  ...SEARCHES.map((word) => `search=${word}&order_by=similarity`),
  'search=capsized&membership=true',
  'search=project&membership=true',
  'search=g1-&search_namespaces=true',
  'topic=topic 7',
  'topic=rare',
  'with_issues_enabled=true',
  'with_merge_requests_enabled=true',
  'id_after=500',
  'id_before=500',
  'last_activity_after=2020-01-01',
  'last_activity_before=2020-01-01',
  'updated_after=2020-01-01&order_by=updated_at',
]
const GROUP_PROJECTS = [
  '',
  'page=5',
  'per_page=100',
  'order_by=name&sort=asc',
  'order_by=last_activity_at',
  'search=capsized',
  'search=project',
  'search=project&order_by=similarity',
  'archived=true',
  'archived=false',
  'visibility=private',
  'owned=true',
  'starred=true',
  'with_shared=false',
  'with_issues_enabled=true',
  'min_access_level=30',
]
const GROUPS = [
  '',
  'all_available=true',
  'all_available=true&page=20',
  'all_available=true&per_page=100',
  'order_by=path',
  'order_by=id&sort=desc',
  'owned=true',
  'min_access_level=10',
  'top_level_only=true',
  'top_level_only=true&all_available=true',
  'visibility=public&all_available=true',
  'visibility=private',
  'search=capsized',
  'search=capsized&all_available=true',
  'search=group&all_available=true',
  'search=ab12c&all_available=true',
  'search=ab&all_available=true',
  'search=group&all_available=true&order_by=similarity',
  'skip_groups[]=5',
  'statistics=true',
]
const USERS = [
  '',
  'page=50',
  'per_page=100',
  ...['id', 'name', 'username', 'created_at', 'updated_at'].map((order) => `order_by=${order}`),
  'username=person-5-e4da3b',
  ...['capsized', 'ab12c', 'person', 'rs', 'p500@bench.example'].map((word) => `search=${word}`),
  'search=person&order_by=name',
  ...['active', 'exclude_active', 'blocked', 'humans', 'exclude_humans', 'exclude_internal'].map(on),
  ...['external', 'exclude_external', 'without_project_bots', 'admins', 'without_projects'].map(on),
  'active=true&humans=true',
  'created_after=2020-01-01',
  'created_before=2020-01-01',
]
const NAMESPACES = ['', ...SEARCHES.map((word) => `search=${word}`), 'owned_only=true', 'top_level_only=true']
const MEMBERS = ['', 'page=50', 'per_page=100', 'query=capsized', 'query=ab12c', 'query=person', 'query=rs']
const MORE_MEMBERS = ['query=nobody', 'user_ids[]=5&user_ids[]=77', 'skip_users[]=5']

function on(flag: string): string {
  return `${flag}=true`
}

type Ask = (world: Filled) => string
const pages = (...lists: (readonly [string, Ask, readonly string[]])[]): { name: string; ask: Ask }[] =>
  lists.flatMap(([name, path, queries]) =>
    queries.map((query) => ({
      name: `${name}${query && `?${query}`}`,
      ask: (here: Filled) => encodeURI(`${path(here)}?${query}`),
    })),
  )
const everybody = pages(
  ['/projects', () => '/projects', PROJECTS],
  ['/groups/:id/projects', ({ big }) => `/groups/${big}/projects`, GROUP_PROJECTS],
  [
    '/groups/:id/projects?include_subgroups=true',
    ({ big }) => `/groups/${big}/projects?include_subgroups=true&`,
    GROUP_PROJECTS,
  ],
  ['/users/:id/projects', ({ maker }) => `/users/${maker}/projects`, GROUP_PROJECTS.slice(0, 12)],
  ['/groups', () => '/groups', GROUPS],
  ['/groups/:id/subgroups', ({ big }) => `/groups/${big}/subgroups`, GROUPS],
  ['/groups/:id/descendant_groups', ({ big }) => `/groups/${big}/descendant_groups`, GROUPS],
)
const signedIn = pages(
  ['/users', () => '/users', USERS],
  ['/namespaces', () => '/namespaces', NAMESPACES],
  ['/groups/:id/members', ({ crowd }) => `/groups/${crowd}/members`, [...MEMBERS, ...MORE_MEMBERS]],
  ['/groups/:id/members/all', ({ crowd }) => `/groups/${crowd}/members/all`, [...MEMBERS, ...MORE_MEMBERS]],
  ['/projects/:id/members', ({ crowded }) => `/projects/${crowded}/members`, [...MEMBERS, ...MORE_MEMBERS]],
  [
    '/projects/:id/members/all',
    ({ crowded }) => `/projects/${crowded}/members/all`,
    [...MEMBERS, ...MORE_MEMBERS],
  ],
)

async function time({ app, ...here }: World, ask: Ask, caller: keyof Filled['tokens'] | 'nobody') {
  const url = `/api/v4${ask(here)
    .replace('?&', '?')
    .replace(/\?(.*)\?/, '?$1')}`
  const headers = caller === 'nobody' ? {} : { 'private-token': here.tokens[caller] }
  let least = Infinity
  for (let round = 0; round < SETTLED + ROUNDS; round++) {
    const began = performance.now()
    const { statusCode } = await app.inject({ url, headers })
    if (round >= SETTLED) least = Math.min(least, performance.now() - began)
    if (statusCode !== 200) return undefined
  }
  return least
}

const small = await world(FEW)
const large = await world(MANY)
for (const caller of ['admin', 'few', 'top', 'nobody'] as const)
  for (const { name, ask } of caller === 'nobody' ? everybody : [...everybody, ...signedIn]) {
    if (!name.startsWith(PART) || !caller.includes(CALLER)) continue
    const few = await time(small, ask, caller)
    const many = await time(large, ask, caller)
    if (few === undefined || many === undefined) continue
    const row = [few.toFixed(1), many.toFixed(1), (many / few).toFixed(1)].map((cell) => cell.padStart(8))
    console.log(`${caller.padEnd(7)}${name.padEnd(72)}${row.join('')}${many > 3 * few ? '  *' : ''}`)
  }
for (const { app, opened } of [small, large]) {
  await app.close()
  await opened.close()
}
if (kept === undefined) await rm(folder, { recursive: true, force: true })
