import type { Db } from '../db/db.ts'
import { beginImport, markGone, storeFindings } from './finding_store.ts'
import { openReport, type ReadFinding, type Report, type ReportSource } from './reading.ts'

/** Findings that one statement stores, and characters of their JSON. */
const BATCH = 500
const BATCH_CHARS = 4 * 1024 * 1024
/** Bad entries that are named; all are counted. */
const MAX_NAMED = 50

export interface ImportCounts {
  readonly created: number
  /** Named by the report again, with other fields. */
  readonly updated: number
  /** Were gone, and are named again. */
  readonly reappeared: number
  readonly unchanged: number
  /** No longer named. */
  readonly gone: number
  /** Named more than once in the report. */
  readonly duplicates: number
  readonly invalid: number
  readonly faults: readonly string[]
}

/** Entries of the report are bad, and it was not asked to skip them: nothing was changed. */
export class InvalidEntries extends Error {
  readonly faults: readonly string[]
  constructor(count: number, faults: readonly string[]) {
    super(`${count} ${count === 1 ? 'entry is' : 'entries are'} invalid`)
    this.faults = faults
  }
}

export interface ReportImport extends ReportSource {
  readonly projectId: number
  readonly skipInvalid: boolean
}

/**
 * Brings a project's vulnerabilities in line with a report, all or nothing: creates new findings, and marks findings of
 * the same scanner that it no longer names as gone. Throws BadReport, NotJson, InvalidEntries.
 */
export async function importReport(db: Db, given: ReportImport): Promise<ImportCounts> {
  const report = await openReport(given)
  return db.transaction(async (tx) => {
    await beginImport(tx, given.projectId)
    const counts = await storeReport(tx, report, given)
    return { ...counts, gone: await markGone(tx, given.projectId, report.scanners) }
  })
}

/** Stores the findings of a report. Throws InvalidEntries, and NotJson. */
export async function storeReport(
  tx: Db,
  report: Report,
  { projectId, skipInvalid }: Pick<ReportImport, 'projectId' | 'skipInvalid'>,
): Promise<Omit<ImportCounts, 'gone'>> {
  const counts = { created: 0, updated: 0, reappeared: 0, unchanged: 0, duplicates: 0, invalid: 0 }
  const faults: string[] = []
  const batch = new Map<string, ReadFinding>()
  let chars = 0
  const flush = async (): Promise<void> => {
    if (batch.size === 0) return
    const stored = await storeFindings(tx, projectId, [...batch.values()])
    const { created, updated, reappeared } = stored
    counts.created += created
    counts.updated += updated
    counts.reappeared += reappeared
    counts.unchanged += stored.given - created - updated - reappeared
    counts.duplicates += batch.size - stored.given
    batch.clear()
    chars = 0
  }
  for await (const entry of report.entries()) {
    if (entry.fault !== undefined) {
      counts.invalid += 1
      if (faults.length < MAX_NAMED) faults.push(`${entry.name}: ${entry.fault}`)
    }
    for (const finding of entry.findings) {
      if (batch.has(finding.key)) counts.duplicates += 1
      else {
        batch.set(finding.key, finding)
        chars += finding.json.length
      }
    }
    if (batch.size >= BATCH || chars >= BATCH_CHARS) await flush()
  }
  await flush()
  if (counts.invalid > 0 && !skipInvalid) throw new InvalidEntries(counts.invalid, faults)
  return { ...counts, faults }
}
