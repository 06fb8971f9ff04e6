import { BadEntry, checkScanner, limited, storedJson, type Finding, type Scanner } from './finding.ts'
import type { Format } from './formats/format.ts'
import { gitlab } from './formats/gitlab.ts'
import { npmAudit } from './formats/npm_audit.ts'
import { sarif } from './formats/sarif.ts'
import { readSlices, type JsonPath, type Slice } from './json_slices.ts'

export const FORMATS = ['gitlab', 'sarif', 'npm-audit'] as const
export type FormatName = (typeof FORMATS)[number]

/** Bytes of one entry, and of all that entries share: the rules of SARIF runs are the most. */
const MAX_ENTRY_BYTES = 1024 * 1024
const MAX_SHARED_BYTES = 32 * 1024 * 1024
/** Characters of a name or a fault: both repeat what the report says. */
const MAX_TOLD_CHARS = 200

/** The document as a whole is no such report. */
export class BadReport extends Error {
  constructor(text: string) {
    super(told(text))
  }
}

/** A finding as JSON for the database; `key` tells it apart from others of the report. */
export interface ReadFinding {
  readonly key: string
  readonly json: string
}

/** An entry of a report by its name: its findings, or why it has none. */
export interface Entry {
  readonly name: string
  readonly findings: readonly ReadFinding[]
  readonly fault?: string
}

export interface Report {
  /** All scanners whose results the report holds, also those that found nothing. */
  readonly scanners: readonly Scanner[]
  readonly entries: () => AsyncGenerator<Entry>
}

export interface ReportSource {
  readonly format: FormatName
  /** Opens the report; called twice. */
  readonly open: () => AsyncIterable<Uint8Array>
  /** Whether several reports may follow each other. */
  readonly many?: boolean | undefined
}

/** Opens a report for reading, entry by entry. Throws BadReport, and `NotJson`. */
export function openReport(source: ReportSource): Promise<Report> {
  if (source.format === 'gitlab') return openAs(gitlab, source)
  return source.format === 'sarif' ? openAs(sarif, source) : openAs(npmAudit, source)
}

async function openAs<Shared>(format: Format<Shared>, { open, many }: ReportSource): Promise<Report> {
  const documents: Slice[][] = []
  let bytes = 0
  for await (const slice of readSlices(open(), format.chooseShared, { limit: MAX_SHARED_BYTES, many })) {
    if (slice.fault !== undefined) throw new BadReport(`${nameOf(slice.path)} is ${slice.fault}`)
    bytes += slice.bytes
    if (bytes > MAX_SHARED_BYTES)
      throw new BadReport(`what all entries share is larger than ${MAX_SHARED_BYTES} bytes`)
    ;(documents[slice.document] ??= []).push(slice)
  }
  try {
    // A report without any such part is refused by the format.
    const shared = documents.length === 0 ? [format.readShared([])] : documents.map(format.readShared)
    const scanners = shared.flatMap((one) => format.scanners(one))
    for (const scanner of scanners) checkScanner(scanner)
    const entries = (): AsyncGenerator<Entry> =>
      entriesOf(format, shared, readSlices(open(), format.chooseEntry, { limit: MAX_ENTRY_BYTES, many }))
    return { scanners, entries }
  } catch (error) {
    throw error instanceof BadEntry ? new BadReport(error.message) : error
  }
}

async function* entriesOf<Shared>(
  format: Format<Shared>,
  documents: readonly Shared[],
  slices: AsyncIterable<Slice>,
): AsyncGenerator<Entry> {
  for await (const slice of slices) {
    const name = told(nameOf(slice.path))
    try {
      if (slice.fault !== undefined) throw new BadEntry(`the entry is ${slice.fault}`)
      const shared = documents[slice.document]
      if (shared === undefined) throw new BadEntry('the document names no scanner')
      yield { name, findings: format.read(slice, shared).map(readFinding) }
    } catch (error) {
      if (!(error instanceof BadEntry)) throw error
      yield { name, findings: [], fault: told(error.message) }
    }
  }
}

function readFinding(finding: Finding): ReadFinding {
  const { fingerprint, ...fields } = limited(finding)
  return {
    key: `${finding.report_type} ${finding.scanner} ${fingerprint}`,
    json: storedJson({ ...fields, fingerprint_hex: fingerprint }),
  }
}

/** `runs[0].results[3]`. */
const nameOf = (path: JsonPath): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at > 0 ? '.' : ''}${part}`)).join('')

/** A text that may be shown and stored: short, and without control characters. */
function told(text: string): string {
  // eslint-disable-next-line no-control-regex -- they are what must not get through
  return text.slice(0, MAX_TOLD_CHARS).replaceAll(/[\u0000-\u001F\u007F\uD800-\uDFFF]/g, '?')
}
