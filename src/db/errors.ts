import pg from 'pg'

/** True when `error` is the named constraint refusing a row. */
export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof pg.DatabaseError && error.constraint === constraint

/** True when a foreign key refuses: as a rule, what a row names went away since the request began. */
export const isGone = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '23503'

// prettier-ignore
const AWAY = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'EHOSTDOWN',
  'ENETUNREACH', 'ENETDOWN', '53300', '25006',
])
const AWAY_CLASSES = ['08', '57P']
const AWAY_TEXTS = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'not queryable',
  'Client was closed',
  'Query read timeout',
  'timeout expired',
]

/** True when the database did not answer in time; the connection is of no use any more. */
export const isHanging = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout'

/** True when the database could not be reached or went away, so that the same request may succeed in a moment. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (error instanceof AggregateError) return error.errors.some(isAway)
  // A socket that is missing is a server that is away; any other missing file is a fault of ours.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect'
  return (
    AWAY.has(code) ||
    AWAY_CLASSES.some((prefix) => code.startsWith(prefix)) ||
    AWAY_TEXTS.some((text) => error.message.includes(text))
  )
}

/** True when the database ended a statement that took longer than its deadline. */
export const isLate = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '57014'

const DISK_FULL = new Set(['53100', 'ENOSPC', 'EDQUOT'])

/** True when a disk is full: the database's (53100), or that of a file. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && DISK_FULL.has(String(error.code))

/** True when a transaction on a snapshot wrote what another had changed since. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '40001'

const BUSY = new Set(['40001', '40P01', '55P03'])

/** True when two writers stood in each other's way and the database ended one of them. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Busy || (error instanceof pg.DatabaseError && BUSY.has(error.code ?? ''))

/** Locked by another transaction. */
export class Busy extends Error {}
