import type { Finding, Scanner } from '../finding.ts'
import type { Choice, JsonPath, Slice } from '../json_slices.ts'

/** A kind of report, read in two passes: what all findings share may stand behind them. */
export interface Format<Shared> {
  /** The parts that the first pass takes. */
  readonly chooseShared: (path: JsonPath) => Choice
  readonly readShared: (slices: readonly Slice[]) => Shared
  readonly scanners: (shared: Shared) => readonly Scanner[]
  /** The entries that the second pass takes. */
  readonly chooseEntry: (path: JsonPath) => Choice
  /** The findings of an entry. Throws BadEntry. */
  readonly read: (entry: Slice, shared: Shared) => readonly Finding[]
}
