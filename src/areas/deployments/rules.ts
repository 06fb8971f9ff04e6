import type { DeploymentStatus } from '../../db/schema/delivery.ts'
import { invalid, refused, type Problem } from '../../http/problems.ts'

/** The statuses that callers tell. */
export const TOLD_STATUSES = ['running', 'success', 'failed', 'canceled'] as const
type Told = (typeof TOLD_STATUSES)[number]

interface Transition {
  /** The published name of the event, for the text of its refusal. */
  readonly event: string
  readonly from: readonly DeploymentStatus[]
}
const others = (status: DeploymentStatus): DeploymentStatus[] =>
  (['created', 'running', 'success', 'failed', 'canceled', 'skipped', 'blocked'] as const).filter(
    (one) => one !== status,
  )
export const TRANSITIONS: Readonly<Record<Told, Transition>> = {
  running: { event: 'run', from: ['created', 'blocked'] },
  success: { event: 'succeed', from: others('success') },
  failed: { event: 'drop', from: others('failed') },
  canceled: { event: 'cancel', from: others('canceled') },
}
export const noTransition = (event = 'run'): Problem =>
  invalid({ status: [`cannot transition via "${event}"`] })

export const slugTaken = (): Problem => invalid({ slug: ['has already been taken'] })
export const isRunning = (): Problem => refused('Cannot destroy running deployment')
export const isDeployed = (): Problem => refused('Deployment currently deployed to environment')

type Column = 'updated_at' | 'finished_at'
export const unpaired = (column: Column = 'updated_at'): Problem =>
  refused(`400 Bad request - \`${column}\` filter and \`${column}\` sorting must be paired`)
export const bothFilters = (): Problem =>
  refused('400 Bad request - Both `updated_at` filter and `finished_at` filter can not be specified')
export const notOfSuccess = (): Problem =>
  refused('400 Bad request - `finished_at` filter must be combined with `success` status filter.')

interface Given {
  readonly order_by: string
  readonly status?: string
  readonly updated_after?: string
  readonly updated_before?: string
  readonly finished_after?: string
  readonly finished_before?: string
}
const dateOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text))

/** The column that the filters by time are about, and its bounds. Throws 400 where an index cannot answer them. */
export function checkFilters(given: Given): {
  readonly timed: Column | null
  readonly after: Date | null
  readonly before: Date | null
} {
  const updated = { after: dateOf(given.updated_after), before: dateOf(given.updated_before) }
  const finished = { after: dateOf(given.finished_after), before: dateOf(given.finished_before) }
  const [byUpdate, byFinish] = [updated, finished].map(
    ({ after, before }) => after !== null || before !== null,
  )
  if (byUpdate && byFinish) throw bothFilters()
  if (byUpdate && given.order_by !== 'updated_at') throw unpaired('updated_at')
  if (byFinish && given.order_by !== 'finished_at') throw unpaired('finished_at')
  if (byFinish && given.status !== 'success') throw notOfSuccess()
  if (byUpdate) return { timed: 'updated_at', ...updated }
  return byFinish ? { timed: 'finished_at', ...finished } : { timed: null, after: null, before: null }
}
