import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { send, textOf, type Sent } from './http.ts'
import type { ArtifactSpec, Dependency, JobPayload } from './payload.ts'

/** Identity of this process. */
export interface Identity {
  /** The server's address, without a slash at the end. */
  readonly url: string
  readonly token: string
  readonly systemId: string
  readonly version: string
}

/** The state of a job as the server last told it. `gone`: it takes nothing more of the job. */
export type Word = 'running' | 'canceling' | 'gone'

/** The outcome of a job, as the server is told. */
export interface Outcome {
  readonly state: 'success' | 'failed'
  readonly failure_reason?: string
  readonly exit_code?: number
}

/** The server refuses for good: its status and what it says. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(`the server answered ${status} ${text.slice(0, 200)}`.trim())
    this.status = status
  }
}

/** Statuses of a server that is away or busy. */
const isPassing = (status: number): boolean => status >= 500 || status === 429 || status === 408

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 15_000
/** Milliseconds for which a job's outcome, its log and its files are tried to be told. */
const PERSISTENCE = 10 * 60_000

/** Sends until the server answers for good; throws the last failure when `PERSISTENCE` is over. */
async function persist(make: () => Promise<Sent> | Sent, signal?: AbortSignal): Promise<IncomingMessage> {
  const deadline = Date.now() + PERSISTENCE
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      const response = await send({ ...(await make()), signal })
      if (!isPassing(response.statusCode ?? 0) || Date.now() > deadline) return response
      await textOf(response)
    } catch (error) {
      if (signal?.aborted === true || Date.now() > deadline) throw error
    }
    await sleep(pause * (0.5 + Math.random()), undefined, { signal })
  }
}

const FEATURES = {
  variables: true,
  artifacts: true,
  cache: true,
  fallback_cache_keys: true,
  upload_multiple_artifacts: true,
  upload_raw_artifacts: true,
  artifacts_exclude: true,
  multi_build_steps: true,
  refspecs: true,
  masking: true,
  raw_variables: true,
  return_exit_code: true,
  trace_reset: false,
  trace_checksum: true,
  trace_size: true,
  cancelable: true,
  cancel_gracefully: true,
  shared: true,
}

/** The runner's side of the protocol. */
export class Coordinator {
  readonly #identity: Identity
  #lastUpdate: string | undefined

  constructor(identity: Identity) {
    this.#identity = identity
  }

  get url(): string {
    return this.#identity.url
  }

  #json(method: 'POST' | 'PUT', path: string, body: object, headers: Record<string, string> = {}): Sent {
    return {
      method,
      url: `${this.#identity.url}/api/v4${path}`,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: Buffer.from(JSON.stringify(body)),
    }
  }

  #self(): object {
    const { token, systemId, version } = this.#identity
    const info = {
      name: 'guildhall-runner',
      version,
      platform: process.platform,
      architecture: process.arch,
      executor: 'shell',
      shell: 'bash',
      features: FEATURES,
    }
    return { token, system_id: systemId, info }
  }

  /** Throws Refused where the token is none. */
  async verify(signal?: AbortSignal): Promise<void> {
    const make = (): Sent => this.#json('POST', '/runners/verify', this.#self())
    const response = await persist(make, signal)
    const text = await textOf(response)
    if (response.statusCode !== 200) throw new Refused(response.statusCode ?? 0, text)
  }

  /** The next job; undefined where there is none. Rejects where the server is away. */
  async request(signal: AbortSignal): Promise<JobPayload | undefined> {
    const known = this.#lastUpdate
    const sent = this.#json('POST', '/jobs/request', {
      ...this.#self(),
      ...(known !== undefined && { last_update: known }),
    })
    const response = await send({ ...sent, signal, silence: 120_000 })
    const text = await textOf(response)
    const update = response.headers['x-gitlab-last-update']
    if (typeof update === 'string') this.#lastUpdate = update
    if (response.statusCode === 201) return JSON.parse(text) as JobPayload
    if (response.statusCode === 204) return undefined
    throw new Refused(response.statusCode ?? 0, text)
  }

  /** Sends a part of a log: the server's word on the job, and how many bytes of the log it has. */
  async append(
    job: JobPayload,
    offset: number,
    bytes: Uint8Array,
  ): Promise<{ readonly word: Word; readonly size: number }> {
    const response = await persist(() => ({
      method: 'PATCH',
      url: `${this.#identity.url}/api/v4/jobs/${job.id}/trace`,
      headers: {
        'content-type': 'text/plain',
        'job-token': job.token,
        'content-range': `${offset}-${offset + bytes.byteLength - 1}`,
      },
      body: bytes,
    }))
    await textOf(response)
    const size = Number(/^0-(\d+)$/.exec(String(response.headers['range']))?.[1])
    const status = response.statusCode
    if (status === 202 || status === 416)
      return { word: wordOf(response), size: Number.isNaN(size) ? offset : size }
    return { word: 'gone', size: offset }
  }

  /** Tells that the job is still worked on. */
  async touch(job: JobPayload): Promise<Word> {
    const response = await persist(() =>
      this.#json('PUT', `/jobs/${job.id}`, { ...this.#self(), token: job.token, state: 'running' }),
    )
    await textOf(response)
    return response.statusCode === 200 || response.statusCode === 202 ? wordOf(response) : 'gone'
  }

  /** Tells how a job ended. False where the server has another log than this one. */
  async finish(
    job: JobPayload,
    outcome: Outcome,
    output: { readonly checksum: string; readonly bytesize: number } | undefined,
  ): Promise<boolean> {
    const body = { ...this.#self(), token: job.token, ...outcome, ...(output && { output, ...output }) }
    for (;;) {
      const response = await persist(() => this.#json('PUT', `/jobs/${job.id}`, body))
      await textOf(response)
      if (response.statusCode === 412) return false
      if (response.statusCode !== 202) return true
      await sleep(1_000)
    }
  }

  /** Sends a file of the job. Throws Refused. */
  async upload(
    job: JobPayload,
    spec: ArtifactSpec,
    file: { readonly path: string; readonly name: string },
  ): Promise<void> {
    const query = new URLSearchParams({
      artifact_format: spec.artifact_format ?? 'zip',
      artifact_type: spec.artifact_type,
      ...(spec.expire_in !== null && spec.expire_in !== '' && { expire_in: spec.expire_in }),
    })
    const boundary = `guildhall-${randomBytes(12).toString('hex')}`
    const name = file.name.replaceAll(/["\r\n\\]/g, '_')
    const head = Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n` +
        'content-type: application/octet-stream\r\n\r\n',
    )
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
    const { size } = await stat(file.path)
    const parts = async function* (): AsyncGenerator<Uint8Array> {
      yield head
      for await (const chunk of createReadStream(file.path)) yield chunk as Buffer
      yield tail
    }
    const response = await persist(() => ({
      method: 'POST',
      url: `${this.#identity.url}/api/v4/jobs/${job.id}/artifacts?${query.toString()}`,
      headers: { 'job-token': job.token, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: { stream: Readable.from(parts()), length: head.length + size + tail.length },
      silence: 300_000,
    }))
    const text = await textOf(response)
    if (response.statusCode !== 201) throw new Refused(response.statusCode ?? 0, text)
  }

  /** Writes the archive of a job to a file. Throws Refused. */
  async download({ id, token }: Dependency, path: string): Promise<void> {
    const response = await persist(() => ({
      method: 'GET',
      url: `${this.#identity.url}/api/v4/jobs/${id}/artifacts`,
      headers: { 'job-token': token },
      silence: 300_000,
    }))
    if (response.statusCode !== 200) throw new Refused(response.statusCode ?? 0, await textOf(response))
    await pipeline(response, createWriteStream(path, { mode: 0o600 }))
  }
}

function wordOf(response: IncomingMessage): Word {
  const status = response.headers['job-status']
  if (status === 'canceling') return 'canceling'
  return status === undefined || status === 'running' ? 'running' : 'gone'
}
