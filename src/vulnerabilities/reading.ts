import { BadEntry, type Finding, type Scanner } from './finding.ts'
import type { Format } from './formats/format.ts'
import { gitlab } from './formats/gitlab.ts'
import { npmAudit } from './formats/npm_audit.ts'
import { sarif } from './formats/sarif.ts'
import { readSlices, type JsonPath, type Slice } from './json_slices.ts'

export const FORMATS = ['gitlab', 'sarif', 'npm-audit'] as const
export type FormatName = (typeof FORMATS)[number]

/** Bytes of one entry, and of what all entries share: the rules of a SARIF run are the most. */
const MAX_ENTRY_BYTES = 1024 * 1024
const MAX_SHARED_BYTES = 32 * 1024 * 1024

/** The document as a whole is no such report. */
export class BadReport extends Error {}

/** An entry of a report by its name: its findings, or why it has none. */
export interface Entry {
  readonly name: string
  readonly findings: readonly Finding[]
  readonly fault?: string
}

export interface Report {
  /** All scanners whose results the report holds, also those that found nothing. */
  readonly scanners: readonly Scanner[]
  readonly entries: () => AsyncGenerator<Entry>
}

/** Opens a report for reading, entry by entry. `open` is called twice. Throws BadReport, and `NotJson`. */
export function openReport(format: FormatName, open: () => AsyncIterable<Uint8Array>): Promise<Report> {
  if (format === 'gitlab') return openAs(gitlab, open)
  return format === 'sarif' ? openAs(sarif, open) : openAs(npmAudit, open)
}

async function openAs<Shared>(
  format: Format<Shared>,
  open: () => AsyncIterable<Uint8Array>,
): Promise<Report> {
  const slices: Slice[] = []
  for await (const slice of readSlices(open(), format.chooseShared, MAX_SHARED_BYTES)) slices.push(slice)
  try {
    const shared = format.readShared(slices)
    return { scanners: format.scanners(shared), entries: () => entriesOf(format, shared, open) }
  } catch (error) {
    throw error instanceof BadEntry ? new BadReport(error.message) : error
  }
}

async function* entriesOf<Shared>(
  format: Format<Shared>,
  shared: Shared,
  open: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Entry> {
  for await (const slice of readSlices(open(), format.chooseEntry, MAX_ENTRY_BYTES)) {
    const name = nameOf(slice.path)
    try {
      if (slice.tooLarge) throw new BadEntry(`the entry is larger than ${MAX_ENTRY_BYTES} bytes`)
      yield { name, findings: format.read(slice, shared).map(checkText) }
    } catch (error) {
      if (!(error instanceof BadEntry)) throw error
      yield { name, findings: [], fault: error.message }
    }
  }
}

/** `runs[0].results[3]`. */
const nameOf = (path: JsonPath): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at > 0 ? '.' : ''}${part}`)).join('')

/** Throws for text that PostgreSQL does not store: NUL, and halves of surrogate pairs. */
function checkText(finding: Finding): Finding {
  if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(JSON.stringify(finding)))
    throw new BadEntry('the entry holds characters that cannot be stored')
  return finding
}
