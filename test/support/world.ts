import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { createApp, type AppOptions } from '../../src/app.ts'
import { openInstance, type OpenOptions, type Opened } from '../../src/open.ts'
import { readConfig, type Config } from '../../src/config.ts'
import { memoizeByObject } from '../../src/http/memoize.ts'
import { createTestDatabase } from './database.ts'
import { emptier } from './empty_world.ts'
import { createMakers, type Makers, type Someone } from './makers.ts'
import { outside, watchTransactions } from './git_outside.ts'
import { afterAllFiles } from './together.ts'

export interface World {
  readonly app: FastifyInstance
  readonly opened: Opened
  readonly make: Makers
  readonly config: Config
  /** Calls the interface below `/api/v4`. `as` is who calls, nobody when left out. */
  readonly call: (method: Method, path: string, options?: CallOptions) => Promise<Answered>
  readonly get: (path: string, as?: Someone) => Promise<Answered>
  /** The statements sent while `work` ran. */
  readonly statements: (work: () => Promise<unknown>) => Promise<string[]>
  readonly logs: string[]
  close(): Promise<void>
}
type Method = NonNullable<InjectOptions['method']>

export interface CallOptions {
  readonly as?: Someone | undefined
  readonly query?: Record<string, string | string[]>
  readonly body?: object | string
  readonly headers?: Record<string, string>
}
export interface Answered {
  readonly status: number
  readonly body: unknown
  readonly text: string
  readonly headers: LightMyRequestResponse['headers']
}

export interface WorldOptions {
  readonly env?: Record<string, string>
  readonly server?: Partial<Omit<AppOptions, 'log'>>
  /** Limits of requests to other servers. */
  readonly outbound?: OpenOptions['outbound']
  /** A world that no file had before: the ids of its records begin with 1, and its server has answered nobody. */
  readonly fresh?: true
}

/** Closed and emptied: the next file takes it over, because to open one takes longer than most files need. */
let vacant: { readonly world: World; readonly shut: () => Promise<void> } | undefined

/** So many files take over one world: in one that fifty had used, some took five times as long. */
const TAKEN_OVER = 15

/** Worlds of one process check the same answers. */
const checkOf = memoizeByObject((schema: TSchema) => {
  const validator = Compile(schema)
  return {
    Check: (body: unknown): body is unknown => validator.Check(asSent(body)),
    Errors: (body: unknown) => validator.Errors(asSent(body)),
  }
})

/** A body with its timestamps as text, as the serialiser writes them. */
function asSent(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(asSent)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asSent(one)]))
}

/**
 * A whole instance on a database and a data directory of its own, with its server in reach of `inject`. Nothing is in
 * it, but with no options the ids of an earlier file's records may have been taken.
 */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  if (Object.keys(options).length > 0) return newWorld(options)
  if (vacant !== undefined) {
    const { world } = vacant
    vacant = undefined
    // Another object, because what tests remember of a world is not of the one before.
    return { ...world }
  }
  const made = await newWorld(options)
  const emptied = await emptier(made.opened)
  let files = 0
  const world: World = {
    ...made,
    close: async () => {
      files += 1
      const isWorn = files === TAKEN_OVER || vacant !== undefined || made.app.server.listening
      const isEmpty = !isWorn && (await emptied())
      // Another may have become so meanwhile.
      if (vacant !== undefined || !isEmpty) return made.close()
      made.logs.length = 0
      vacant = { world, shut: () => made.close() }
    },
  }
  return world
}
afterAllFiles(async () => vacant?.shut())

async function newWorld({ env = {}, server = {}, outbound = {} }: WorldOptions): Promise<World> {
  const database = await createTestDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'guildhall-world-'))
  const config = readConfig({
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    GUILDHALL_DATA_DIR: dataDir,
    GUILDHALL_URL: 'https://guild.example',
    ...env,
  })
  const logs: string[] = []
  const sent: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) })
  const opened = await openInstance(config, { log, outbound, onStatement: (name) => void sent.push(name) })
  watchTransactions(opened)
  const { app } = createApp(opened, { log, checkAnswers: checkOf, ...server })
  await app.ready()
  const call = callOf(app)
  return {
    app,
    opened,
    config,
    logs,
    make: createMakers(opened.instance),
    call,
    get: (path, as) => call('GET', path, { as }),
    statements: async (work) => {
      const before = sent.length
      await work()
      return sent.slice(before)
    },
    close: async () => {
      await app.close()
      await opened.close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Begins the path of an operation outside `/api/v4`. */
const BASE = '{base_url}'

const callOf =
  (app: FastifyInstance): World['call'] =>
  async (method, path, { as, query, body, headers } = {}) => {
    const response = await outside(() =>
      app.inject({
        method,
        url: path.startsWith(BASE) ? path.slice(BASE.length) : `/api/v4${path}`,
        ...(query && { query }),
        ...(body !== undefined && { payload: body }),
        headers: { ...(as && { 'private-token': as.token }), ...headers },
      }),
    )
    return {
      status: response.statusCode,
      body: response.body === '' ? undefined : parse(response.body),
      text: response.body,
      headers: response.headers,
    }
  }

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
