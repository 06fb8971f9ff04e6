import pg from 'pg'

export interface Listener {
  end(): Promise<void>
}

/** The two keys of an advisory lock. */
export type LockKeys = readonly [number, number]

export interface Listening {
  readonly channel: string
  readonly heard: () => void
  /** Shared, and held as long as the connection: how others see that this process lives. */
  readonly holds?: LockKeys | undefined
}

/** A connection of its own that hears what is told of a channel, made anew after it is lost; `heard` after that too. */
export function createListener(settings: pg.ClientConfig, { channel, heard, holds }: Listening): Listener {
  let closed = false
  let client: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  const again = (): void => {
    client = undefined
    if (closed) return
    clearTimeout(retry)
    retry = setTimeout(() => void connect(), 500)
  }
  const connect = async (): Promise<void> => {
    const mine = new pg.Client(settings)
    client = mine
    mine.on('error', () => {})
    mine.on('notification', heard)
    mine.once('end', again)
    try {
      await mine.connect()
      if (holds !== undefined) await mine.query('select pg_advisory_lock_shared($1, $2)', [...holds])
      await mine.query(`listen ${pg.escapeIdentifier(channel)}`)
      heard()
    } catch {
      await mine.end().catch(() => {})
      again()
    }
  }
  void connect()
  return {
    end: async () => {
      closed = true
      clearTimeout(retry)
      await client?.end().catch(() => {})
    },
  }
}
