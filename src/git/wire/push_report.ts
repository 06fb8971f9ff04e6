import { FLUSH, pktLine, sideBand } from './pkt_lines.ts'

/** The result of one ref: moved, or the reason why not. */
export interface RefVerdict {
  readonly ref: string
  readonly refusal?: string
}

const DATA = 1
const WORDS = 2

/** Writes what a client hears of its push, by the capabilities it named. */
export class PushReport {
  readonly #capabilities: ReadonlySet<string>
  readonly #banded: boolean

  constructor(capabilities: ReadonlySet<string>) {
    this.#capabilities = capabilities
    this.#banded = capabilities.has('side-band-64k')
  }

  /** Bytes that say nothing and show that somebody is at work; none where the client could not tell them apart. */
  keepAlive(): Buffer {
    return this.#banded ? Buffer.from('0005\u0001') : Buffer.alloc(0)
  }

  /** Messages for people, each line behind `remote:`. */
  words(text: string): Buffer {
    if (!this.#banded || text === '') return Buffer.alloc(0)
    return sideBand(WORDS, Buffer.from(text.endsWith('\n') ? text : `${text}\n`))
  }

  /** The end: whether the pack was taken, in git's words, and each ref's verdict. */
  end(unpack: string, verdicts: readonly RefVerdict[]): Buffer {
    const reports = this.#capabilities.has('report-status') || this.#capabilities.has('report-status-v2')
    const lines = reports
      ? [pktLine(`unpack ${unpack}\n`), ...verdicts.map((one) => pktLine(verdictLine(one))), FLUSH]
      : []
    const report = Buffer.concat(lines)
    return this.#banded ? Buffer.concat([sideBand(DATA, report), FLUSH]) : report
  }
}

const verdictLine = ({ ref, refusal }: RefVerdict): string =>
  refusal === undefined ? `ok ${ref}\n` : `ng ${ref} ${refusal.replaceAll(/\s+/g, ' ')}\n`
