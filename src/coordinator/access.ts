import type { FastifyReply, FastifyRequest } from 'fastify'
import { digestOf } from '../access/tokens.ts'
import { findJobByToken, findRunnerByDigest, noteContact, type ManagerFacts } from '../ci/runners/runners.ts'
import type { Job, Runner } from '../db/schema/ci.ts'
import type { Actor } from '../http/gate.ts'
import { badParams, forbidden, Problem } from '../http/problems.ts'
import type { Instance } from '../instance.ts'
import type { Waiting } from './waiting.ts'
import type { Traces } from '../ci/jobs/traces.ts'

/** Parts that every route of the coordinator needs. */
export interface Around {
  readonly instance: Instance
  readonly traces: Traces
  readonly waiting: Waiting
  /** Counts a request of nobody: of those whose token is none. */
  readonly admit: (actor: Actor | null, ip: string) => Promise<Record<string, string>>
}

export type Sent = Readonly<Record<string, unknown>>
export const sentBy = ({ body }: FastifyRequest): Sent =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) ? (body as Sent) : {}

export const textIn = (sent: Sent, name: string): string | undefined => {
  const value = sent[name]
  return typeof value === 'string' && !value.includes('\0') ? value : undefined
}
export const treeIn = (sent: Sent, name: string): Sent => {
  const value = sent[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Sent) : {}
}

const short = (sent: Sent, name: string): string | null => textIn(sent, name)?.slice(0, 255) ?? null

/** The self-description of the calling process; undefined without `system_id`. */
function managerIn(sent: Sent, ip: string): ManagerFacts | undefined {
  const system_id = textIn(sent, 'system_id')
  if (system_id === undefined || system_id === '') return undefined
  const info = treeIn(sent, 'info')
  return {
    system_id: system_id.slice(0, 64),
    version: short(info, 'version'),
    revision: short(info, 'revision'),
    platform: short(info, 'platform'),
    architecture: short(info, 'architecture'),
    ip_address: ip,
  }
}

/** The runner whose token the request bears, and its process. Throws 400 and 403; a wrong token counts as a try. */
export async function enterRunner(
  { instance: { db }, admit }: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ readonly runner: Runner; readonly managerId: number | null }> {
  const sent = sentBy(request)
  const given = textIn(sent, 'token') ?? request.headers['runner-token']
  if (typeof given !== 'string' || given === '') throw badParams(['token is missing'])
  const runner = await findRunnerByDigest(db, digestOf(given))
  if (runner === undefined) {
    reply.headers(await admit(null, request.ip))
    throw forbidden()
  }
  return { runner, managerId: await noteContact(db, runner, managerIn(sent, request.ip)) }
}

/** The published word on a job whose runner asks about it, for the header that ends its work. */
const statusHeader = ({ status }: Job): Record<string, string> => ({ 'job-status': status })

const isAtWork = ({ status }: Pick<Job, 'status'>): boolean => status === 'running' || status === 'canceling'

/** The refusal of what a job does that is over. */
export const notRunning = (job?: Job): Problem =>
  new Problem(403, { message: '403 Forbidden - Job is not running' }, job && statusHeader(job))

/** The running job that the address names, by its own token. Throws 403 and 404. */
export async function enterJob(
  { instance: { db }, admit }: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Job> {
  const { job_id } = request.params as { job_id: string }
  const given = request.headers['job-token'] ?? textIn(sentBy(request), 'token')
  const job = typeof given === 'string' ? await findJobByToken(db, digestOf(given)) : undefined
  if (job === undefined || String(job.id) !== job_id) {
    reply.headers(await admit(null, request.ip))
    throw forbidden()
  }
  if (!isAtWork(job)) throw notRunning(job)
  return job
}

export const answerJson = (reply: FastifyReply, status: number, body: unknown): FastifyReply =>
  reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)))
