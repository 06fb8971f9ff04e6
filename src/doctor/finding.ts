/** The result of one check. `fault` needs a person; `warning` can wait. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'fault'
  /** The state, and where it is not well, its cause and remedy. */
  readonly text: string
  /** Heals it without losing anything. */
  readonly fix?: () => Promise<unknown>
}

type Make = (check: string, text: string, fix?: Finding['fix']) => Finding
const making =
  (status: Finding['status']): Make =>
  (check, text, fix) => ({ check, status, text, ...(fix && { fix }) })
export const ok = making('ok')
export const warning = making('warning')
export const fault = making('fault')

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
