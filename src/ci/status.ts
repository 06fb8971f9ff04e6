import type { JobStatus } from '../db/schema/ci.ts'

// The states of jobs and what several of them come to together, as published.

const STATUSES = [
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'canceling',
  'success',
  'failed',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const
export type Status = (typeof STATUSES)[number]

/** A job in one of these is over. */
const COMPLETED: ReadonlySet<string> = new Set<Status>(['success', 'failed', 'canceled', 'skipped'])
export const isCompleted = (status: string): boolean => COMPLETED.has(status)

/** A job in one of these holds the resource of its group. */
export const HOLDING = ['pending', 'running', 'canceling'] as const satisfies readonly JobStatus[]

/** A job in one of these can be canceled. */
export const CANCELABLE = [
  'created',
  'waiting_for_resource',
  'pending',
  'running',
  'scheduled',
  'manual',
] as const satisfies readonly JobStatus[]

export interface Member {
  readonly status: Status
  readonly allow_failure: boolean
}

type Mark = Status | 'warning' | 'ignored'

const markOf = ({ status, allow_failure }: Member): Mark => {
  if (allow_failure && (status === 'failed' || status === 'canceled')) return 'warning'
  if (allow_failure && status === 'manual') return 'ignored'
  return status
}

/** States of many jobs, each counted once; grows as jobs are added. */
export class StatusSet {
  readonly #marks = new Set<Mark>()

  constructor(members: Iterable<Member> = []) {
    for (const member of members) this.add(member)
  }

  add(member: Member): void {
    this.#marks.add(markOf(member))
  }

  /** The composite status; undefined without members. For `dag` a skipped need decides alone. */
  composite(isDag = false): Status | undefined {
    const marks = this.#marks
    if (marks.size === 0) return undefined
    if (isDag && (marks.has('skipped') || marks.has('ignored'))) return 'skipped'
    const only = ONLY.find(([, allowed]) => [...marks].every((mark) => allowed.has(mark)))
    if (only !== undefined) return only[0]
    return ANY.find(([, any]) => any.some((mark) => marks.has(mark)))?.[0] ?? 'failed'
  }
}

const allowed = (...marks: readonly Mark[]): ReadonlySet<Mark> => new Set(marks)

/** In this order: the status that holds where every job is in one of these states. */
const ONLY: readonly (readonly [Status, ReadonlySet<Mark>])[] = [
  ['skipped', allowed('skipped', 'ignored')],
  ['success', allowed('success', 'skipped', 'warning', 'ignored')],
  ['created', allowed('created', 'warning', 'ignored')],
  ['preparing', allowed('preparing', 'warning', 'ignored')],
  ['canceled', allowed('canceled', 'success', 'skipped', 'warning', 'ignored')],
  ['pending', allowed('pending', 'created', 'skipped', 'warning', 'ignored')],
]

/** After those, in this order: the status that holds where any job is in one of these states. */
const ANY: readonly (readonly [Status, readonly Mark[]])[] = [
  ['running', ['running', 'pending']],
  ['waiting_for_resource', ['waiting_for_resource']],
  ['waiting_for_callback', ['waiting_for_callback']],
  ['manual', ['manual']],
  ['scheduled', ['scheduled']],
  ['preparing', ['preparing']],
  ['running', ['created']],
  ['canceling', ['canceling']],
]

/** The status of a pipeline: of its jobs that were not retried and of what other programs report. */
export const pipelineStatus = (members: Iterable<Member>): Status | undefined =>
  new StatusSet(members).composite()
