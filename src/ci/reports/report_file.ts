import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Instance } from '../../instance.ts'

/** A report that cannot be read; its message is for the reader of the report. */
export class BadReport extends Error {}
export class ReportTooLarge extends BadReport {
  constructor() {
    super('the report is too large')
  }
}

/** A report of a job, as it was uploaded. */
export interface UploadedReport {
  readonly sha256: string
  readonly size: number
  readonly file_format: string
}

const inflate = promisify(gunzip)

/** The bytes of a report, unpacked. Throws BadReport, and ReportTooLarge past `limit` bytes. */
export async function readReport(
  blobs: Pick<Instance['blobs'], 'read'>,
  { sha256, size, file_format }: UploadedReport,
  limit: number,
): Promise<Buffer> {
  if (size > limit || limit <= 0) throw new ReportTooLarge()
  const parts: Buffer[] = []
  for await (const part of await blobs.read(sha256)) parts.push(part as Buffer)
  const bytes = Buffer.concat(parts)
  if (file_format !== 'gzip') return bytes
  return inflate(bytes, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE'
      ? new ReportTooLarge()
      : new BadReport('the report is not compressed by gzip')
  })
}
