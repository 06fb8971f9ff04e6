import { createBatches } from '../core/batches.ts'
import type { Db } from '../db/client.ts'
import { isBusy } from '../db/errors.ts'
import { enqueueAll } from '../jobs/job.ts'
import { syncIncident } from './incidents.ts'
import type { Receiving } from './integrations.ts'
import * as alerts from './store.ts'
import type { Incoming } from './values.ts'

/** Requests whose alerts are stored by one transaction. */
const BATCH = 50

/** How often a batch is tried when other processes lock the same alerts in another order. */
const ATTEMPTS = 5

interface Request {
  readonly to: Receiving
  readonly items: readonly Incoming[]
}
type Outcome = readonly (alerts.Taken | undefined)[]

const take = createBatches<Request, Outcome>(BATCH, async (db, requests) => {
  for (let attempt = 1; ; attempt++)
    try {
      return await takeBatch(db, requests)
    } catch (error) {
      if (!isBusy(error) || attempt === ATTEMPTS) throw error
    }
})

/**
 * Takes the alerts of one request, all of them or none; they are durable when this resolves. Returns what each became:
 * undefined for a resolution that met no unresolved alert.
 */
export const takeAlerts = (db: Db, to: Receiving, items: readonly Incoming[]): Promise<Outcome> =>
  take(db, { to, items })

function takeBatch(db: Db, requests: readonly Request[]): Promise<Outcome[]> {
  const [first, ...others] = requests
  // A single statement is a transaction, without the two round trips of one.
  if (first && others.length === 0 && isSingle(first)) return takeOne(db, first).then((one) => [one])
  return db.transaction(async (tx) => {
    const outcomes: Outcome[] = []
    for (const request of requests) outcomes.push(await takeOne(tx, request))
    return outcomes
  })
}

const isSingle = ({ to, items: [only, second] }: Request): boolean =>
  only !== undefined && second === undefined && !only.resolves && !to.create_incidents

async function takeOne(db: Db, { to, items }: Request): Promise<Outcome> {
  const taken: (alerts.Taken | undefined)[] = []
  const changed = new Map<number, { payload: { alert_id: number }; key: string }>()
  for (const item of items) {
    const one = await takeItem(db, to, item)
    taken.push(one)
    if (one && changesIncident(to, item, one))
      changed.set(one.id, { payload: { alert_id: one.id }, key: `incident:${one.id}` })
  }
  // The job is as durable as the alert, and the sender does not wait for it.
  await enqueueAll(db, syncIncident, [...changed.values()])
  return taken
}

const changesIncident = (to: Receiving, { resolves }: Incoming, { issue_id }: alerts.Taken): boolean =>
  resolves ? issue_id !== null && to.auto_close_incidents : issue_id === null && to.create_incidents

async function takeItem(db: Db, to: Receiving, item: Incoming): Promise<alerts.Taken | undefined> {
  const { project_id, id: integration_id } = to
  if (!item.resolves) return alerts.fire(db, { project_id, integration_id }, item)
  if (item.fingerprint === null) return undefined
  const ended = item.ended_at ?? item.started_at
  return alerts.resolve(db, project_id, item.fingerprint, ended)
}
