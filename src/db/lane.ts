import pg from 'pg'
import { isHanging } from './errors.ts'
import type { Sent } from './planning.ts'

/** How much longer we wait than the database lets a statement run: past it the database hangs, and the connection is given up. */
export const HANGING = 2_000

export interface Queryable {
  query(config: Sent): Promise<pg.QueryResult>
}
export interface Lane extends Queryable {
  end(): Promise<void>
}

/** One pipelined connection, made anew after it is lost. What was on its way when it was lost is rejected. */
export function createLane(settings: pg.ClientConfig, deadline: number): Lane {
  let current: Promise<pg.Client> | undefined
  let closed = false
  const open = (): Promise<pg.Client> => {
    const client = new pg.Client({
      ...settings,
      pipeline: true,
      statement_timeout: deadline,
      query_timeout: deadline + HANGING,
    })
    const opening = client.connect().then(() => client)
    const drop = (): void => {
      if (current === opening) current = undefined
    }
    client.on('error', drop)
    client.on('end', drop)
    opening.catch(drop)
    return (current = opening)
  }
  return {
    query: async (config) => {
      if (closed) throw new Error('Connection terminated')
      const opening = current ?? open()
      try {
        return await (await opening).query(config)
      } catch (error) {
        // The driver has ended the connection, and would tell so a moment later.
        if (isHanging(error) && current === opening) current = undefined
        throw error
      }
    },
    end: async () => {
      closed = true
      const client = await current?.catch(() => undefined)
      await client?.end()
    },
  }
}
