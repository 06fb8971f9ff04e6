import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { FLUSH, pktLine } from './pkt_lines.ts'
import { SERVER_REFS } from '../names.ts'
import type { Spawner } from '../processes/spawner.ts'
import type { GitProcess } from '../processes/spawner_link.ts'

/** The two programs that git clients speak with. */
export type GitProgram = 'upload-pack' | 'receive-pack'

/** The version of the protocol that a client asked for; receive-pack knows no 2. */
export type ProtocolVersion = 0 | 1 | 2

const fixed = [
  ...SERVER_REFS.map((namespace) => `transfer.hideRefs=${namespace}`),
  // The heads of merge requests are fetched by their names, and never pushed.
  'uploadpack.hideRefs=!refs/merge-requests',
  'uploadpack.allowFilter=true',
  'uploadpack.allowTipSHA1InWant=false',
  'uploadpack.allowReachableSHA1InWant=false',
  'uploadpack.allowAnySHA1InWant=false',
  'receive.advertisePushOptions=true',
  'receive.certNonceSeed=',
  // One clone must not take the whole machine.
  'pack.threads=2',
  'pack.windowMemory=64m',
  // Clients would be told of it.
  'advice.graftFileDeprecated=false',
  // The directory is given by us, and checked by nobody else.
  'safe.directory=*',
].flatMap((setting) => ['-c', setting])

/** The refs of the server that one caller may list and fetch. */
export interface Shown {
  readonly mergeRequests: boolean
}
const EVERYTHING: Shown = { mergeRequests: true }

// Of several patterns that match a ref, git takes the last.
const hiding = ({ mergeRequests }: Shown): readonly string[] =>
  mergeRequests ? [] : ['-c', 'uploadpack.hideRefs=refs/merge-requests']

const transferMs = 3_600_000
const advertMs = 120_000
const keptMs = 600_000

const pushCapabilities = [
  'report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options',
  'object-format=sha1',
].join(' ')

/** The body of `info/refs` for a push into a repository that is not there yet. */
export const NO_REFS = Buffer.concat([
  pktLine('# service=git-receive-pack\n'),
  FLUSH,
  pktLine(`${'0'.repeat(40)} capabilities^{}\0${pushCapabilities}\n`),
  FLUSH,
])

/** Speaks git's own protocol for repositories: what a server sends before a transfer, and the transfers that read. */
export class Serving {
  readonly #spawner: Spawner
  /** By the text of a repository's configuration, which with git itself is all that this advertisement depends on. */
  readonly #capabilities = new LRUCache<string, Promise<Buffer>>({ max: 100, ttl: keptMs })

  constructor(spawner: Spawner) {
    this.#spawner = spawner
  }

  /**
   * The body of `info/refs` for one program. Version 2 of upload-pack names no refs and is remembered for ten minutes.
   * Throws GitError, and what reading a file throws when there is no repository.
   */
  async advertise(
    gitDirectory: string,
    program: GitProgram,
    version: ProtocolVersion,
    shows: Shown = EVERYTHING,
  ): Promise<Buffer> {
    const configuration = await readFile(join(gitDirectory, 'config'), 'utf8')
    if (program !== 'upload-pack' || version !== 2) return this.#ask(gitDirectory, program, version, shows)
    const known = this.#capabilities.get(configuration)
    if (known !== undefined) return known
    const asked = this.#ask(gitDirectory, program, version, shows)
    this.#capabilities.set(configuration, asked)
    asked.catch(() => this.#capabilities.delete(configuration))
    return asked
  }

  /** Starts the process that answers one request of a clone or fetch. Throws GitError `spawn`, `gone`, `closed`. */
  upload(gitDirectory: string, version: ProtocolVersion, shows: Shown = EVERYTHING): Promise<GitProcess> {
    return this.#spawner.open(
      [...fixed, ...hiding(shows), 'upload-pack', '--strict', '--stateless-rpc', gitDirectory],
      gitDirectory,
      {
        environment: protocol(version),
        timeoutMs: transferMs,
      },
    )
  }

  async #ask(
    gitDirectory: string,
    program: GitProgram,
    version: ProtocolVersion,
    shows: Shown,
  ): Promise<Buffer> {
    const args = [...fixed, ...hiding(shows), program, '--http-backend-info-refs', gitDirectory]
    const refs = await this.#spawner.run(args, {
      gitDirectory,
      environment: protocol(version),
      timeoutMs: advertMs,
    })
    return Buffer.concat([pktLine(`# service=git-${program}\n`), FLUSH, refs])
  }
}

const protocol = (version: ProtocolVersion): Record<string, string> =>
  version === 0 ? {} : { GIT_PROTOCOL: `version=${version}` }
