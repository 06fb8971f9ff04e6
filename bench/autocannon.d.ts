declare module 'autocannon' {
  import type { EventEmitter } from 'node:events'

  interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly headers: Readonly<Record<string, string>>
  }
  interface Events {
    /** The connection, the status, the bytes of the answer and the milliseconds it took. */
    response: [client: unknown, status: number, bytes: number, ms: number]
    reqError: [error: Error]
  }
  const autocannon: (options: Options, done: (error: Error | null) => void) => EventEmitter<Events>
  export = autocannon
}
