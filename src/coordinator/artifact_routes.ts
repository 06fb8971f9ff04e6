import { Busboy } from '@fastify/busboy'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BlobTooLarge } from '../blobs/digests.ts'
import { digestOf } from '../access/tokens.ts'
import { FILE_TYPES, findArtifact, keepArtifact } from '../ci/jobs/artifacts.ts'
import { findProjectAs } from '../core/places/project_roles.ts'
import { storageMet } from '../core/places/namespace_storage.ts'
import type { Db } from '../db/db.ts'
import type { Job } from '../db/schema/ci.ts'
import { sealVariables } from '../ci/creation/sealed_variables.ts'
import { readDuration } from '../ci/config/duration.ts'
import { findJob } from '../ci/jobs/store.ts'
import { findJobByToken, renewLease } from '../ci/runners/runners.ts'
import { parseForm } from '../http/params/forms.ts'
import { badBody, badParams, forbidden, notFound, tooLarge, Problem } from '../http/problems.ts'
import { answerJson, enterJob, notRunning, type Around, type Sent } from './access.ts'
import { nameDeployment, readVariables } from './dotenv_reports.ts'

const MB = 1024 * 1024
/** Bytes of one artifact. */
const MAX_ARTIFACT_BYTES = 1_024 * MB
/** Milliseconds without a byte after which an upload is given up. */
const STALL = 60_000
const FORMATS = ['zip', 'gzip', 'raw']
/** Seconds that artifacts are kept whose job does not say how long. */
const DEFAULT_LIFETIME = 30 * 86_400

const queryOf = ({ query }: FastifyRequest): Sent => parseForm((query as { text: string }).text)
const word = (sent: Sent, name: string, otherwise: string): string => {
  const value = sent[name]
  return typeof value === 'string' && value !== '' ? value : otherwise
}

/** Tells a proxy in front of the server how much it may take. */
export async function authorizeArtifact(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await enterJob(around, request, reply)
  return answerJson(reply, 200, { MaximumSize: MAX_ARTIFACT_BYTES })
}

/** Streams a file of a job to the blobs. */
export async function uploadArtifact(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const job = await enterJob(around, request, reply)
  const { db, blobs, vault } = around.instance
  const query = queryOf(request)
  const file_type = word(query, 'artifact_type', 'archive')
  const file_format = word(query, 'artifact_format', 'zip')
  if (!(FILE_TYPES as readonly string[]).includes(file_type))
    throw badParams(['artifact_type does not have a valid value'])
  if (!FORMATS.includes(file_format)) throw badParams(['artifact_format does not have a valid value'])
  const expiry = word(query, 'expire_in', '')
  await checkStorage(db, job, Number(request.headers['content-length'] ?? 0))
  const { filename, sha256, size } = await storeUpload(request, (file) =>
    blobs.write(file, { limit: MAX_ARTIFACT_BYTES }),
  )
  await renewLease(db, job.id)
  await checkStorage(db, job, size)
  const isDotenv = file_type === 'dotenv'
  const dotenv = isDotenv ? await readVariables(around.instance, job, { sha256, size, file_format }) : null
  const isKept = await keepArtifact(db, {
    dotenv: dotenv && sealVariables(vault, dotenv),
    job_id: job.id,
    project_id: job.project_id,
    file_type,
    file_format,
    filename,
    size,
    sha256,
    expires_in:
      expiry === 'never' ? null : ((expiry === '' ? null : readDuration(expiry)) ?? DEFAULT_LIFETIME),
  })
  if (!isKept) throw notRunning()
  if (dotenv !== null) await nameDeployment(db, job.id, dotenv)
  return answerJson(reply, 201, { message: '201 Created' })
}

/** Throws 413 where the plan of the project's root namespace has no room for so many bytes. */
async function checkStorage(db: Db, { project_id, user_id }: Job, bytes: number): Promise<void> {
  const project = await findProjectAs(db, project_id, user_id)
  const met = project && (await storageMet(db, project, bytes))
  if (met?.refuses)
    throw new Problem(
      413,
      { message: '413 Request Entity Too Large' },
      { 'x-plan-limit': `${met.limit}=${met.mebibytes}` },
    )
}

type Stored = { readonly sha256: string; readonly size: number }

/** Reads the one file of a form while it arrives. */
async function storeUpload(
  request: FastifyRequest,
  write: (file: AsyncIterable<Uint8Array>) => Promise<Stored>,
): Promise<Stored & { readonly filename: string }> {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) throw badBody()
  const form = new Busboy({
    headers: { 'content-type': type },
    limits: { files: 1, fields: 100, fieldSize: MB },
  })
  const done = new Promise<Stored & { readonly filename: string }>((resolve, reject) => {
    let stored: Promise<void> | undefined
    form.on('file', (_name, file, filename) => {
      stored = write(file).then(
        (blob) => resolve({ ...blob, filename: nameOf(filename) }),
        (error: unknown) => {
          // The rest of the body is read and discarded: the client reads the answer only after that.
          file.resume()
          reject(error instanceof Error ? error : new Error('an upload failed'))
        },
      )
    })
    form.on('error', () => reject(badBody()))
    form.on('finish', () => {
      if (stored === undefined) reject(badParams(['file is missing']))
    })
  })
  request.raw.once('error', (error) => form.destroy(error))
  const stalled = setTimeout(() => request.raw.destroy(), STALL)
  request.raw.on('data', () => stalled.refresh())
  request.raw.once('close', () => clearTimeout(stalled))
  request.raw.pipe(form)
  return done.catch((error: unknown) => {
    throw error instanceof BlobTooLarge ? tooLarge('413 Request Entity Too Large') : error
  })
}

const nameOf = (filename: unknown): string => {
  const text = typeof filename === 'string' ? filename : ''
  // eslint-disable-next-line no-control-regex -- they are what must not get through
  return text.replaceAll(/[\u0000-\u001F\u007F"\\/]/g, '_').slice(0, 255) || 'artifacts'
}

/** Sends the archive of a job to one that depends on it, or to itself. */
export async function downloadArtifact(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { db, blobs } = around.instance
  const given = request.headers['job-token'] ?? queryOf(request)['token']
  const bearer = typeof given === 'string' ? await findJobByToken(db, digestOf(given)) : undefined
  if (bearer === undefined || !['running', 'canceling'].includes(bearer.status)) {
    reply.headers(await around.admit(null, request.ip))
    throw forbidden()
  }
  const { job_id } = request.params as { job_id: string }
  const job = /^\d{1,15}$/.test(job_id) ? await findJob(db, bearer.project_id, Number(job_id)) : undefined
  const file = job && (await findArtifact(db, job.id, 'archive'))
  if (file === undefined) throw notFound('Artifacts')
  return reply
    .headers({
      'content-type': 'application/zip',
      'content-length': String(file.size),
      'content-disposition': `attachment; filename="${file.filename.replaceAll(/[^ -~]/g, '_')}"`,
    })
    .send(await blobs.read(file.sha256))
}
