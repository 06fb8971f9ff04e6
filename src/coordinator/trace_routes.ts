import type { FastifyReply, FastifyRequest } from 'fastify'
import { finishJob, type Outcome } from '../ci/jobs/actions.ts'
import { readLogResults, setLogResults } from '../ci/reports/coverage.ts'
import { renewLease } from '../ci/runners/runners.ts'
import { inTurn } from '../ci/turn.ts'
import type { Job } from '../db/schema/ci.ts'
import { badParams, Problem } from '../http/problems.ts'
import { answerJson, enterJob, sentBy, textIn, treeIn, type Around, type Sent } from './access.ts'

const MB = 1024 * 1024
/** Bytes of a log past which its job fails. */
const MAX_TRACE_BYTES = 100 * MB
/** Seconds after which a runner sends what it has, or a sign of life. */
const UPDATE_INTERVAL = 3

const RANGE = /^(\d{1,12})-(\d{1,12})$/

/** Appends to a job's log. A wrong offset is answered with the length that the log has. */
export async function appendTrace(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { instance, traces } = around
  const job = await enterJob(around, request, reply)
  const header = request.headers['content-range']
  if (typeof header !== 'string')
    throw new Problem(400, { message: '400 Missing header Content-Range' }, { range: '0-0' })
  const [, first] = RANGE.exec(header) ?? []
  if (first === undefined) throw badParams(['Content-Range is invalid'])
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const offset = Number(first)
  const length = await traces.size(job.id)
  if (offset === length && offset + bytes.length > MAX_TRACE_BYTES) {
    await end(around, job, { status: 'failed', failure_reason: 'trace_size_exceeded' })
    throw new Problem(403, { message: '403 Forbidden - Trace size exceeded' }, { 'job-status': 'failed' })
  }
  await renewLease(instance.db, job.id)
  const size = bytes.length === 0 ? length : await traces.append(job.id, offset, bytes)
  if (size === undefined)
    return reply
      .code(416)
      .header('range', `0-${await traces.size(job.id)}`)
      .header('content-type', 'text/plain')
      .send('416 Range Not Satisfiable')
  return reply
    .code(202)
    .headers({
      'job-status': job.status,
      range: `0-${size}`,
      'x-gitlab-trace-update-interval': String(UPDATE_INTERVAL),
      'content-type': 'text/plain',
    })
    .send('0')
}

/** Ends a job with what its log says. */
async function end(
  { instance: { db }, traces }: Around,
  { id, project_id }: Job,
  outcome: Outcome,
): Promise<boolean> {
  const results = await readLogResults(db, traces, id)
  return db.transaction((tx) =>
    inTurn(tx, project_id, async (turn) => {
      // First the coverage: a pipeline that ends with this job shows it.
      await setLogResults(tx, id, results)
      return finishJob(turn, id, outcome)
    }),
  )
}

const CHECKSUM = /^crc32:([0-9a-f]{1,8})$/

/** Takes the outcome of a job, once its whole log is here; `running` is a sign of life. */
export async function updateJob(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const job = await enterJob(around, request, reply)
  const sent = sentBy(request)
  const state = textIn(sent, 'state')
  if (state === undefined) throw badParams(['state is missing'])
  await renewLease(around.instance.db, job.id)
  reply.header('job-status', job.status)
  if (state !== 'success' && state !== 'failed') return answerJson(reply, 200, null)
  if (!(await hasWholeTrace(around, job.id, sent)))
    return answerJson(reply, 412, { message: '412 Precondition Failed' })
  const exit = sent['exit_code']
  const outcome: Outcome = {
    status: state,
    ...(state === 'failed' && { failure_reason: reasonIn(sent) }),
    exit_code: typeof exit === 'number' && (exit | 0) === exit ? exit : null,
  }
  await end(around, job, outcome)
  return answerJson(reply, 200, null)
}

const reasonIn = (sent: Sent): string => {
  const reason = textIn(sent, 'failure_reason') ?? ''
  return /^[a-z_]{1,64}$/.test(reason) ? reason : 'unknown_failure'
}

/** Whether the log is the one that the runner means; without a checksum it is taken as it is. */
async function hasWholeTrace(
  { traces }: Around,
  jobId: number,
  sent: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const output = treeIn(sent, 'output')
  const { bytesize } = output
  if (typeof bytesize === 'number' && bytesize !== (await traces.size(jobId))) return false
  const [, sum] = CHECKSUM.exec(textIn(output, 'checksum') ?? textIn(sent, 'checksum') ?? '') ?? []
  return sum === undefined || Number.parseInt(sum, 16) === (await traces.checksum(jobId))
}
