import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { BlobMissing, type Blobs } from '../blobs/blobs.ts'
import { securityReports } from '../core/delivery/security_reports.ts'
import type { Db } from '../db/db.ts'
import type { Job } from '../jobs/job.ts'
import type { Scanner } from './finding.ts'
import { beginImport, markGone } from './finding_store.ts'
import { InvalidEntries, storeReport } from './import.ts'
import { NotJson } from './json_slices.ts'
import { newerTypes, noteScan, reportsOf, type NewScan, type ScanReport } from './pipeline_scans.ts'
import { BadReport, openReport } from './reading.ts'

/** Bytes of a report once it is unpacked. */
const MAX_REPORT_BYTES = 1024 ** 3

type Outcome = Pick<NewScan, 'status'> & Partial<NewScan>

/**
 * Imports the security reports of a pipeline and its children when all of them are done. A bad report changes nothing and
 * is noted with its faults; findings of its type are not marked as gone then. Its reports together decide what is gone.
 */
export const importSecurityReports: Job<{ pipeline_id: number }> = {
  ...securityReports,
  slow: true,
  run: async ({ db, blobs }, { pipeline_id }) => {
    const reports = await reportsOf(db, pipeline_id)
    const [first] = reports
    if (first === undefined) return
    await db.transaction(async (tx) => {
      await beginImport(tx, first.project_id)
      const newer = await newerTypes(tx, first)
      const scanners: Scanner[] = []
      const spared = new Set<string>()
      for (const report of reports) {
        const outcome: Outcome = newer.has(report.report_type)
          ? { status: 'outdated' }
          : report.job_status === 'success'
            ? await importScan(tx, blobs, report, scanners)
            : { status: 'job_failed' }
        if (outcome.status !== 'succeeded') spared.add(report.report_type)
        await noteScan(tx, { ...scanOf(report), ...outcome })
      }
      await markGone(
        tx,
        first.project_id,
        scanners.filter(({ report_type }) => !spared.has(report_type)),
      )
    })
  },
}

const scanOf = ({ project_id, pipeline_id, job_id, report_type }: ScanReport): Omit<NewScan, 'status'> => ({
  project_id,
  pipeline_id,
  job_id,
  report_type,
  faults: [],
  created_count: 0,
  updated_count: 0,
  unchanged_count: 0,
})

/** Stores the findings of one report, or nothing of it. Adds its scanners to `scanners`. */
async function importScan(tx: Db, blobs: Blobs, report: ScanReport, scanners: Scanner[]): Promise<Outcome> {
  await tx.script('savepoint scan')
  try {
    const opened = await openReport({ format: 'gitlab', open: () => bytesOf(blobs, report), many: true })
    const other = opened.scanners.find(({ report_type }) => report_type !== report.report_type)
    if (other !== undefined)
      throw new BadReport(`scan.type is "${other.report_type}", not "${report.report_type}"`)
    const counts = await storeReport(tx, opened, { projectId: report.project_id, skipInvalid: false })
    scanners.push(...opened.scanners)
    return {
      status: 'succeeded',
      created_count: counts.created,
      updated_count: counts.updated + counts.reappeared,
      unchanged_count: counts.unchanged,
    }
  } catch (error) {
    const faults = faultsOf(error)
    if (faults === undefined) throw error
    await tx.script('rollback to savepoint scan')
    return { status: 'report_error', faults }
  } finally {
    await tx.script('release savepoint scan').catch(() => {})
  }
}

/** Undefined for what is no fault of the report. */
function faultsOf(error: unknown): string[] | undefined {
  if (error instanceof InvalidEntries) return [error.message, ...error.faults]
  if (error instanceof BadReport || error instanceof NotJson) return [error.message]
  if (error instanceof BlobMissing) return ['the file of the report is gone']
  const { code = '', message } = error as NodeJS.ErrnoException
  return code.startsWith('Z_') ? [`not gzip: ${message}`] : undefined
}

async function* bytesOf(blobs: Blobs, { sha256, file_format }: ScanReport): AsyncGenerator<Uint8Array> {
  yield* unpacked(await blobs.read(sha256), { isPacked: file_format === 'gzip', limit: MAX_REPORT_BYTES })
}

/** The bytes of a file, unpacked. Throws BadReport past `limit` of them. */
export async function* unpacked(
  file: Readable,
  { isPacked, limit }: { readonly isPacked: boolean; readonly limit: number },
): AsyncGenerator<Uint8Array> {
  const stream = isPacked ? file.pipe(createGunzip()) : file
  // An error of the file ends the unpacking too; `pipe` forwards none.
  file.once('error', (error) => stream.destroy(error))
  try {
    let bytes = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > limit) throw new BadReport(`the report is larger than ${limit} bytes`)
      yield chunk
    }
  } finally {
    file.destroy()
    stream.destroy()
  }
}
