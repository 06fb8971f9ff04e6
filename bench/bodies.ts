import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import * as tokens from '../src/access/tokens.ts'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import * as users from '../src/core/people/users.ts'
import { openInstance } from '../src/open.ts'
import { TEXTS } from './bodies_texts.ts'

// How long texts of a million signs take that are written to be hard to read, wherever a text is written or read again:
// `node --import tsx bench/bodies.ts [--rounds N] [--only TEXT] [--all]`. Beside the time stands that of this process
// alone, without the database. Fails where an answer takes more than a fifth of a second.

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    /** Measures only texts whose names hold this. */
    only: { type: 'string', default: '' },
    /** Prints what is quick too. */
    all: { type: 'boolean', default: false },
  },
})
const MOST = 200

const dataDir = await mkdtemp(join(tmpdir(), 'guildhall-bodies-'))
const log = pino({ level: 'silent' })
const opened = await openInstance(readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: dataDir }), {
  log,
})
const { app } = createApp(opened, { log })
await app.ready()

const { db } = opened.instance
const token = tokens.makeToken('glpat-')
const person = { username: 'ada', name: 'Ada', email: 'bench@bench.example', admin: true }
const { id: user_id } = await db.transaction((tx) => users.create(tx, person))
await tokens.create(db, { user_id, name: 'bench', token, scopes: ['api'], expires_at: null })

type Method = 'GET' | 'POST' | 'PUT'
interface Made {
  readonly id: number
  readonly iid: number
}
async function ask(method: Method, path: string, body: object = {}): Promise<Made> {
  const answer = await app.inject({
    method,
    url: `/api/v4${path}`,
    headers: { 'private-token': token },
    ...(method !== 'GET' && { payload: body }),
  })
  if (answer.statusCode >= 500 || [401, 403, 404, 413].includes(answer.statusCode))
    throw new Error(`${answer.statusCode} ${method} ${path} ${answer.body.slice(0, 200)}`)
  return answer.json()
}

const group = await ask('POST', '/groups', { name: 'bench', path: 'bench' })
const project = await ask('POST', '/projects', {
  name: 'p',
  namespace_id: group.id,
  initialize_with_readme: true,
})
const base = `/projects/${project.id}`
await ask('POST', `${base}/repository/commits`, {
  branch: 'topic',
  start_branch: 'main',
  commit_message: 'x',
  actions: [{ action: 'create', file_path: 'a', content: 'a' }],
})
await ask('POST', `${base}/labels`, { name: 'a', color: '#111111' })
const opening = { source_branch: 'topic', target_branch: 'main', title: 'x' }
const change = `${base}/merge_requests/${(await ask('POST', `${base}/merge_requests`, opening)).iid}`
const milestone = `${base}/milestones/${(await ask('POST', `${base}/milestones`, { title: 'x' })).id}`
const epic = `/groups/${group.id}/epics/${(await ask('POST', `/groups/${group.id}/epics`, { title: 'x' })).iid}`
const freshIssue = async (): Promise<string> =>
  `${base}/issues/${(await ask('POST', `${base}/issues`, { title: 'x' })).iid}`

/** Where a text is written, or read once more. What is made ready first is not measured. */
const PLACES: Readonly<Record<string, (text: string) => Promise<[Method, string, object?]>>> = {
  'new issue': async (description) => ['POST', `${base}/issues`, { title: 'x', description }],
  'changed issue': async (description) => ['PUT', await freshIssue(), { description }],
  'issue read': async (description) => {
    const path = await freshIssue()
    await ask('PUT', path, { description })
    return ['GET', path]
  },
  note: async (body) => ['POST', `${await freshIssue()}/notes`, { body }],
  'changed note': async (body) => {
    const notes = `${await freshIssue()}/notes`
    return ['PUT', `${notes}/${(await ask('POST', notes, { body: 'x' })).id}`, { body }]
  },
  thread: async (body) => ['POST', `${await freshIssue()}/discussions`, { body }],
  'merge request': async (description) => ['PUT', change, { description }],
  'what it closes': async (description) => {
    await ask('PUT', change, { description })
    return ['GET', `${change}/closes_issues`]
  },
  'title of an issue': async (title) => ['POST', `${base}/issues`, { title }],
  'labels of an issue': async (labels) => ['POST', `${base}/issues`, { title: 'x', labels }],
  'title of a milestone': async (title) => ['POST', `${base}/milestones`, { title }],
  'comment on a commit': async (note) => ['POST', `${base}/repository/commits/topic/comments`, { note }],
  epic: async (description) => ['PUT', epic, { description }],
  milestone: async (description) => ['PUT', milestone, { description }],
  label: async (description) => ['PUT', `${base}/labels/a`, { description: description.slice(0, 10_000) }],
  'labels read': async (description) => {
    await ask('PUT', `${base}/labels/a`, { description: description.slice(0, 10_000) })
    return ['GET', `${base}/labels`]
  },
}

interface Taken {
  readonly wall: number
  readonly own: number
}
/** The least of several times, in milliseconds. */
async function measure(
  place: (text: string) => Promise<[Method, string, object?]>,
  text: string,
): Promise<Taken> {
  const rounds: Taken[] = []
  for (let round = 0; round < Number(given.rounds); round++) {
    const [method, path, body] = await place(text)
    const [began, spent] = [performance.now(), process.cpuUsage()]
    await ask(method, path, body)
    const { user, system } = process.cpuUsage(spent)
    rounds.push({ wall: performance.now() - began, own: (user + system) / 1_000 })
  }
  return rounds.reduce((least, one) => (one.wall < least.wall ? one : least))
}

const cells = (...parts: string[]): string => parts.map((part) => part.padStart(9)).join('')
console.log(`${''.padEnd(46)}${cells('ms', 'own ms')}`)
const worst: [string, Taken][] = []
for (const [name, text] of Object.entries(TEXTS).filter(([one]) => one.includes(given.only)))
  for (const [where, place] of Object.entries(PLACES)) {
    const taken = await measure(place, text)
    worst.push([`${where}: ${name}`, taken])
    if (given.all || taken.wall > MOST)
      console.log(`${`${where}: ${name}`.padEnd(46)}${cells(taken.wall.toFixed(0), taken.own.toFixed(0))}`)
  }
console.log('The slowest:')
for (const [name, { wall, own }] of worst.sort(([, a], [, b]) => b.wall - a.wall).slice(0, 10))
  console.log(`${name.padEnd(46)}${cells(wall.toFixed(0), own.toFixed(0))}`)
if (worst.some(([, { wall }]) => wall > MOST)) process.exitCode = 1
await app.close()
await opened.close()
await rm(dataDir, { recursive: true, force: true })
