/** An answer as it was or will be sent: kept under an `Idempotency-Key`. */
export class KeptAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON; undefined for an answer without a body. */
  readonly text: string | undefined
  constructor(status: number, headers: Readonly<Record<string, string>>, text: string | undefined) {
    this.status = status
    this.headers = headers
    this.text = text
  }
}
