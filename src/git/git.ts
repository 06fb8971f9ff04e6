import { isAbsolute, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { Budget } from './processes/budget.ts'
import { catFile } from './processes/cat_file.ts'
import { commitBytes, type Commit } from './objects/commit.ts'
import { diffTree, type Stats } from './processes/diff_tree.ts'
import { GraphWriter } from './history/graph_writer.ts'
import { Graphs, type AskObject } from './history/graphs.ts'
import { Walks, type Order, type WalkTools } from './history/log.ts'
import { GitError } from './errors.ts'
import type { Swept } from './care/janitor.ts'
import { isRepositoryPath } from './names.ts'
import { patchTree } from './objects/patch_tree.ts'
import { Pool } from './processes/pool.ts'
import { findCommit, isRepository, repositoryAt, type Repository, type Room } from './repository.ts'
import { RoomFolder } from './care/room_folder.ts'
import { lruBound } from './lru_bound.ts'
import { Spawner } from './processes/spawner.ts'
import { PackedRefsReader } from './refs/packed_refs.ts'
import { Tips } from './refs/tips.ts'
import { isDue, openWriting } from './write_parts.ts'

/** Something an operator may want to know; `detail` never holds a credential or a user's text. */
export interface GitEvent {
  event: 'spawner_ended'
  detail: string
}

/** Where repositories live and how much of the machine git may take. */
export interface GitOptions {
  /** Absolute path of the directory below which all repositories live. */
  root: string
  /** Path or name of the git program; default `git`. */
  gitBinary?: string
  /** The PATH that git gets; default the usual places of system programs. */
  path?: string
  log?: (event: GitEvent) => void
  /** One-shot commands running at once; default 8. */
  commandWidth?: number
  /** Imports running at once; default 2. */
  importWidth?: number
  /** Long-lived processes over all repositories; default 32. */
  maxProcesses?: number
  /** Milliseconds after which an unused long-lived process ends; default 60,000. */
  idleMs?: number
  /** Bytes of memory for parsed commits, and again for page orders; default 16 MiB each. */
  cacheBytes?: number
  /** Bytes of memory for commit-graphs; default 48 MiB. A repository with a larger one is left to git. */
  graphBytes?: number
}

/** The git room: everything the server does with git goes through one of these. */
export interface Git {
  /** The handle of the repository at `relativePath`, such as `12/345.git`. Throws TypeError for any path that could lead elsewhere. */
  repository(relativePath: string): Repository
  /** The absolute directory of that repository. Throws TypeError like `repository`. */
  directory(relativePath: string): string
  /** Drops all that is remembered of a repository and replaces its processes; needed after it was replaced, repacked or removed. */
  forget(relativePath: string): void
  /** Removes what killed processes left in all repositories, a little at a time; see Swept. */
  sweep(): Promise<Swept>
  /** True once after each hundred movements of the repository's refs: then `maintain` is worth a look. */
  isDue(relativePath: string): boolean
  /** To be called after refs of the repository have moved: its commit-graph is brought up to date soon. Throws TypeError like `repository`. */
  touched(relativePath: string): void
  /** Runs single commands for the other files of this room. */
  readonly spawner: Spawner
  /** Ends every process; whatever is in flight fails with GitError `closed`. */
  close(): Promise<void>
}

const statsEntries = 20_000
const writeDelayMs = 500
const writePatienceMs = 5_000
const defaultGraphBytes = 48 * 1024 * 1024
/** Overhead of a cache entry beside its own bytes: objects, buffers and fragmentation. */
const entryBytes = 1_500
const digestEntries = 20_000
const defaultPath = '/usr/local/bin:/usr/bin:/bin'

/** Opens the room. No process is started before the first question. Throws TypeError when `root` is not absolute. */
export function openGit(options: GitOptions): Git {
  if (!isAbsolute(options.root)) throw new TypeError('The root of the repositories is an absolute path')
  const spawner = new Spawner({
    binary: options.gitBinary ?? 'git',
    path: options.path ?? defaultPath,
    width: options.commandWidth ?? 8,
    slowWidth: options.importWidth ?? 2,
    onDeath: (detail) => options.log?.({ event: 'spawner_ended', detail }),
  })
  const folder = new RoomFolder(options.root)
  const { room, budget, writer, forget } = openRoom(spawner, folder, options)
  const directory = (relativePath: string): string => {
    if (!isRepositoryPath(relativePath)) throw new TypeError('Not the path of a repository')
    return join(options.root, relativePath)
  }
  // A handle holds nothing, but to make one for every request would cost more than most of its answers.
  const handles = new LRUCache<string, Repository>({ max: 2_000 })
  return {
    spawner,
    directory,
    repository: (relativePath) => {
      const known = handles.get(relativePath)
      if (known !== undefined) return known
      const handle = repositoryAt(room, relativePath, directory(relativePath))
      handles.set(relativePath, handle)
      return handle
    },
    forget: (relativePath) => forget(directory(relativePath)),
    sweep: () => room.writing.janitor.sweep(),
    isDue: (relativePath) => isDue(room.writing, relativePath),
    touched: (relativePath) => writer.touched(directory(relativePath)),
    close: async () => {
      budget.close()
      const written = writer.close()
      await Promise.all([
        room.objects.close(),
        room.diffs.close(),
        room.patches.close(),
        room.writing.merges.close(),
        spawner.close(),
        written,
      ])
      await folder.close()
    },
  }
}

interface Opened {
  room: Room
  budget: Budget
  writer: GraphWriter
  forget: (gitDirectory: string) => void
}

/** Only processes that are started cost this look, and without it each question would start three in vain. */
const openWhereThere =
  (spawner: Spawner): Spawner['open'] =>
  async (args, gitDirectory, started) => {
    if (!(await isRepository(gitDirectory))) throw new GitError('refused', 'There is no repository')
    return spawner.open(args, gitDirectory, started)
  }

function openRoom(spawner: Spawner, folder: RoomFolder, options: GitOptions): Opened {
  const budget = new Budget(options.maxProcesses ?? 32, options.idleMs ?? 60_000)
  const open = openWhereThere(spawner)
  const caches = openCaches(options.cacheBytes ?? 16 * 1024 * 1024)
  const objects = new Pool(catFile, budget, open)
  const packed = new PackedRefsReader()
  const ask: AskObject = (gitDirectory, question) => objects.ask(gitDirectory, question)
  const walkTools: WalkTools = {
    run: (args, run) => spawner.run(args, run),
    ask,
    graphs: new Graphs(ask, options.graphBytes ?? defaultGraphBytes),
    tips: new Tips(ask, packed),
  }
  const { graphs } = walkTools
  const walks = new Walks(walkTools, caches.orders)
  const writer = new GraphWriter({ ...walkTools, delayMs: writeDelayMs, patienceMs: writePatienceMs })
  graphs.onReplaced = (gitDirectory) => walks.release(gitDirectory)
  graphs.onFar = (gitDirectory) => writer.touched(gitDirectory)
  const writing = openWriting({
    objects,
    packed,
    spawner,
    open,
    budget,
    folder,
    root: options.root,
    path: options.path ?? defaultPath,
    commit: (gitDirectory, sha) => findCommit({ objects, commits: caches.commits }, gitDirectory, sha),
    touched: (path) => writer.touched(join(options.root, path)),
  })
  const room: Room = {
    spawner,
    objects,
    diffs: new Pool(diffTree, budget, open),
    patches: new Pool(patchTree, budget, open),
    walks,
    walkTools,
    commits: caches.commits,
    stats: caches.stats,
    digests: new LRUCache<string, string>(lruBound(digestEntries)),
    writing,
  }
  const forget = (gitDirectory: string): void => {
    writer.forget(gitDirectory)
    forgetIn(room, Object.values(caches), gitDirectory)
  }
  return { room, budget, writer, forget }
}

interface Caches {
  orders: LRUCache<string, Order>
  commits: LRUCache<string, Commit>
  stats: LRUCache<string, Stats>
}

function openCaches(maxSize: number): Caches {
  return {
    orders: new LRUCache({
      maxSize,
      sizeCalculation: (order, key) =>
        order.ids.length + (order.history?.bytes ?? 0) + 2 * key.length + entryBytes,
    }),
    commits: new LRUCache({
      maxSize,
      sizeCalculation: (commit, key) => commitBytes(commit) + 2 * key.length + entryBytes,
    }),
    stats: new LRUCache(lruBound(statsEntries)),
  }
}

type Keyed = Pick<LRUCache<string, Order | Commit | Stats>, 'keys' | 'delete'>

function forgetIn(room: Room, caches: readonly Keyed[], gitDirectory: string): void {
  for (const cache of caches) {
    for (const key of cache.keys()) if (key.startsWith(`${gitDirectory}\0`)) cache.delete(key)
  }
  room.walkTools.graphs.forget(gitDirectory)
  room.walkTools.tips.forget(gitDirectory)
  room.writing.trees.forget(gitDirectory)
  room.writing.merges.recycle(gitDirectory)
  for (const pool of [room.objects, room.diffs, room.patches]) pool.recycle(gitDirectory)
}
