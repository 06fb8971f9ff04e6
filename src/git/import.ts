import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { isGitError, GitError } from './errors.ts'
import type { Git } from './git.ts'
import { fsckSettings } from './fsck.ts'
import { isRefName, isSha } from './names.ts'
import { findOversized, receivingBounds } from './objects/received.ts'
import { buildRepository } from './create.ts'
import { directoryBytes } from './sizes.ts'
import type { RunOptions } from './processes/spawner.ts'

/** Where an import is; `percent` (0 to 100) is missing where git knows no total. */
export interface ImportProgress {
  phase: string
  percent?: number
}

/** How an import is watched and bounded. */
export interface ImportOptions {
  onProgress?: (progress: ImportProgress) => void
  signal?: AbortSignal
  /** The IP address to connect to for the source's host, judged by the caller; without it the name is looked up. */
  address?: string
  /** Milliseconds for the transfer, default one hour. */
  timeoutMs?: number
  /** Bytes on disk at which the transfer is given up, default 10 GiB; looked at once a second. */
  maxBytes?: number
}

interface Source {
  url: string
  /** Settings of git, as arguments before its command. */
  settings: string[]
  /** Options and environment of the git command that reads from there. */
  options: string[]
  environment: Record<string, string>
}

const hourMs = 3_600_000
const gibibyte = 2 ** 30
const sizeCheckMs = 1_000
const askMs = 60_000
const indexMs = 600_000

/**
 * Copies the branches and tags of `source` (an http, https or git URL, or the absolute path of a local repository) and
 * all they reach into a new repository at `target`. Nothing else comes along: no configuration, hooks, attributes,
 * grafts or other refs, and nothing of it is shared with the source. Objects that are malformed in a dangerous way
 * refuse the whole import. Until the end nothing is at `target`; after a failure nothing is left anywhere.
 * Throws GitError: `refused` for a source that may not be read from or a taken target, `too_large`, `timeout`,
 * `aborted`, `exit` when git cannot read the source. Addresses are not judged: the caller decides whom to connect to.
 */
export async function importRepository(
  git: Git,
  source: string,
  target: string,
  options: ImportOptions = {},
): Promise<void> {
  const from = readSource(source, git.spawner.binary, options.address)
  const run: RunOptions = {
    environment: from.environment,
    lane: 'slow',
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
  await buildRepository(git, target, async (gitDirectory) => {
    const head = await remoteHead(git, from, { ...run, gitDirectory })
    await fetchAll(git, from, { ...run, gitDirectory }, options)
    const large = await findOversized(git.spawner, gitDirectory, {})
    if (large !== undefined)
      throw new GitError('too_large', `The repository holds a ${large.type} of ${large.size} bytes`)
    options.onProgress?.({ phase: 'Indexing history' })
    await writeIndexes(git, { ...run, gitDirectory, timeoutMs: indexMs })
    return { head: await settleHead(git, gitDirectory, head) }
  })
}

/** Turns what a person gave as a source into arguments. Throws GitError `refused` for anything that could mean more. */
function readSource(source: string, binary: string, address?: string): Source {
  // eslint-disable-next-line no-control-regex
  if (source.length > 4_096 || /[\u0000-\u001f\u007f]/.test(source)) throw refusal()
  if (isAbsolute(source)) {
    // git refuses repositories of other users unless told; it reads objects and refs there and runs nothing.
    const uploadPack = `'${binary.replaceAll("'", `'\\''`)}' -c 'safe.directory=*' upload-pack`
    return {
      url: source,
      settings: [],
      options: [`--upload-pack=${uploadPack}`],
      environment: { GIT_ALLOW_PROTOCOL: 'file' },
    }
  }
  const url = URL.canParse(source) ? new URL(source) : undefined
  if (url === undefined || !['http:', 'https:', 'git:'].includes(url.protocol) || url.hostname === '')
    throw refusal()
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  const environment: Record<string, string> = { GIT_ALLOW_PROTOCOL: url.protocol.slice(0, -1) }
  if (credentials !== ':') {
    // Through the environment, as arguments can be read by every user of the machine.
    environment['GIT_CONFIG_COUNT'] = '1'
    environment['GIT_CONFIG_KEY_0'] = 'http.extraHeader'
    environment['GIT_CONFIG_VALUE_0'] = `Authorization: Basic ${Buffer.from(credentials).toString('base64')}`
  }
  const settings = address === undefined ? [] : pin(url, address)
  return { url: url.href, settings, options: [], environment }
}

/** Makes git connect to `address` for the URL's host, and returns the settings that this takes. */
function pin(url: URL, address: string): string[] {
  const literal = isIP(address) === 6 ? `[${address}]` : address
  if (url.protocol === 'git:') {
    url.hostname = literal
    return []
  }
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return ['-c', `http.curloptResolve=${url.hostname}:${port}:${literal}`]
}

function refusal(): GitError {
  return new GitError(
    'refused',
    'Repositories are imported from http, https and git URLs and absolute local paths',
  )
}

/** The branch that the source's HEAD names, if it tells. */
async function remoteHead(git: Git, from: Source, run: RunOptions): Promise<string | undefined> {
  const args = [
    ...transport,
    ...from.settings,
    'ls-remote',
    '--symref',
    ...from.options,
    '--end-of-options',
    from.url,
    'HEAD',
  ]
  const output = await git.spawner.run(args, { ...run, timeoutMs: askMs })
  const branch = /^ref: refs\/heads\/([^\t\n]+)\tHEAD$/m.exec(output.toString())?.[1]
  return branch !== undefined && isRefName(branch) ? branch : undefined
}

// A redirect would carry the request, and its credentials, to a place that nobody has judged.
const transport = ['http.followRedirects=false', 'http.lowSpeedLimit=1000', 'http.lowSpeedTime=60'].flatMap(
  (setting) => ['-c', setting],
)

async function fetchAll(git: Git, from: Source, run: RunOptions, options: ImportOptions): Promise<void> {
  const args = [
    ...transport,
    ...from.settings,
    ...[
      ...fsckSettings('fetch'),
      'fetch.unpackLimit=1',
      'fetch.writeCommitGraph=false',
      'core.bigFileThreshold=32m',
    ].flatMap((s) => ['-c', s]),
    'fetch',
    '--progress',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    ...from.options,
    '--end-of-options',
    from.url,
    '+refs/heads/*:refs/heads/*',
    '+refs/tags/*:refs/tags/*',
  ]
  const limit = watchSize(run.gitDirectory ?? '', options.maxBytes ?? 10 * gibibyte)
  const signals = [limit.signal, ...(options.signal === undefined ? [] : [options.signal])]
  try {
    await git.spawner.run(args, {
      ...run,
      bounds: receivingBounds(),
      signal: AbortSignal.any(signals),
      timeoutMs: options.timeoutMs ?? hourMs,
      onProgress: (line) => {
        const progress = readProgress(line)
        if (progress !== undefined) options.onProgress?.(progress)
      },
    })
  } catch (error) {
    if (limit.signal.aborted && isGitError(error, 'aborted')) {
      throw new GitError('too_large', 'The repository is larger than an import may be', {
        args,
        cause: error,
      })
    }
    throw error
  } finally {
    limit.stop()
  }
}

/** Puts refs into one file and writes the commit-graph with path filters, which make lists by path cheap. */
async function writeIndexes(git: Git, run: RunOptions): Promise<void> {
  await git.spawner.run(['pack-refs', '--all'], run)
  await git.spawner.run(['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'], run)
}

/** Fires its signal once the directory holds more than `maxBytes`: git has no such limit for what it fetches. */
function watchSize(directory: string, maxBytes: number): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const clock = setInterval(() => {
    directoryBytes(directory).then(
      (bytes) => {
        if (bytes > maxBytes) controller.abort()
        return bytes
      },
      () => undefined,
    )
  }, sizeCheckMs)
  return { signal: controller.signal, stop: () => clearInterval(clock) }
}

function readProgress(line: string): ImportProgress | undefined {
  const [, phase, percent] = /^(?:remote: )?([A-Z][A-Za-z ]{2,60}):\s+(?:(\d{1,3})%|\d)/.exec(line) ?? []
  if (phase === undefined) return undefined
  return percent === undefined ? { phase } : { phase, percent: Number(percent) }
}

/** The branch that HEAD is to name: the source's choice if it came along, else a usual name, else the first branch. */
async function settleHead(git: Git, gitDirectory: string, wanted: string | undefined): Promise<string> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads']
  const lines = (await git.spawner.run(args, { gitDirectory })).toString().split('\n')
  const prefix = 'refs/heads/'
  const branches = lines
    .filter((line) => isSha(line.slice(0, 40)) && line.startsWith(prefix, 41))
    .map((line) => line.slice(41 + prefix.length))
  const choices = [...(wanted === undefined ? [] : [wanted]), 'main', 'master', ...branches]
  return choices.find((name) => branches.includes(name)) ?? wanted ?? 'main'
}
