/* A group with a project and many neighbours on the real program, and the unmodified client in several hands. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Gitlab, GitbeakerRequestError } from '@gitbeaker/rest'
import { pino } from 'pino'
import { openInstance } from '../../src/open.ts'
import { readConfig } from '../../src/config.ts'
import { scratch, writeHistory } from './git_fixtures.ts'
import { createMakers, type Makers } from './makers.ts'
import { openReadyPlace, type Place, type Running } from './program.ts'

export const GROUPS = 45
const COMMITS = 130

type Client = InstanceType<typeof Gitlab>
type Who = 'root' | 'owner' | 'stranger'

export interface Harbour {
  readonly place: Place
  readonly server: Running
  /** The repository that the project `harbour/gateway.x` was imported from. */
  readonly source: string
  readonly groupId: number
  readonly projectId: number
  readonly tokens: Readonly<Record<Who, string>>
  /** The client of a known caller, of the bearer of some token, or of nobody. */
  readonly as: (who: Who) => Client
  readonly clientFor: (token?: string) => Client
}

/** Makes records beside the running server, as the command line does, without a process for each. */
async function furnish<Made>(place: Place, work: (make: Makers) => Promise<Made>): Promise<Made> {
  const log = pino({ level: 'silent' })
  const opened = await openInstance(readConfig(place.env), { log, join: true })
  try {
    return await work(createMakers(opened.instance))
  } finally {
    await opened.close()
  }
}

/** The groups `harbour` and `harbour-01` and on, each ninth of them private, and one imported project. */
export async function openHarbour(): Promise<Harbour> {
  const place = await openReadyPlace()
  const server = await place.serve()
  const source = join(scratch(), 'source.git')
  writeHistory(source, COMMITS, 7)
  const { groupId, ...made } = await furnish(place, async (make) => {
    const harbour = await make.group({ path: 'harbour', name: 'Harbour', visibility: 'public' })
    for (const [i, path] of neighbours().entries())
      await make.group({ path, visibility: isPrivate(i + 1) ? 'private' : 'public' })
    const owner = (await make.memberOf('owner', { group: harbour })).token
    return { groupId: harbour.id, owner, stranger: (await make.user()).token }
  })
  const args = ['--path', 'harbour/gateway.x', '--visibility', 'public', '--import', source]
  const projectId = Number((await place.json(['project', 'create', ...args]))['id'])
  const tokens = { root: String(server.told['root_token']), ...made }
  const clientFor = (token?: string): Client =>
    new Gitlab({ host: server.url, ...(token === undefined ? {} : { token }) })
  return { place, server, source, groupId, projectId, tokens, clientFor, as: (who) => clientFor(tokens[who]) }
}

export const isPrivate = (i: number): boolean => i % 9 === 0

/** The paths of the groups beside `harbour`, in order. */
export const neighbours = (keep: (i: number) => boolean = () => true): string[] =>
  Array.from({ length: GROUPS - 1 }, (_, i) => i + 1)
    .filter(keep)
    .map((i) => `harbour-${String(i).padStart(2, '0')}`)

/** The client's error: its text and the status behind it. */
export async function errorOf(
  work: Promise<unknown>,
): Promise<{ status: number | undefined; message: string }> {
  const error: unknown = await work.then(
    () => assert.fail('the client was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof GitbeakerRequestError, String(error))
  return { status: error.cause?.response.status, message: error.message }
}
