import { createCapacity } from '../core/capacity.ts'
import type { Db } from '../db/client.ts'
import { isBusy } from '../db/errors.ts'
import type { Receiving } from './integrations.ts'
import * as alerts from './store.ts'
import type { Incoming } from './values.ts'

/** Connections that alerts take at once, so that a storm of them leaves the others to everything else. */
const CONNECTIONS = 4
const capacity = createCapacity(CONNECTIONS)

/** How often a request is tried when concurrent requests lock the same alerts in another order. */
const ATTEMPTS = 5

/**
 * Takes the alerts of one request, all of them or none; they are durable when this resolves. Returns what each became:
 * undefined for a resolution that met no unresolved alert.
 */
export async function takeAlerts(
  db: Db,
  to: Receiving,
  items: readonly Incoming[],
): Promise<(alerts.Taken | undefined)[]> {
  for (let attempt = 1; ; attempt++)
    try {
      return await capacity.run(() => takeOnce(db, to, items))
    } catch (error) {
      if (!isBusy(error) || attempt === ATTEMPTS) throw error
    }
}

function takeOnce(db: Db, to: Receiving, items: readonly Incoming[]): Promise<(alerts.Taken | undefined)[]> {
  const [only] = items
  // A single statement is a transaction, without the two round trips of one.
  if (items.length === 1 && only && !only.resolves && !to.create_incidents)
    return takeOne(db, to, only).then((one) => [one])
  return db.transaction(async (tx) => {
    const taken: (alerts.Taken | undefined)[] = []
    for (const item of items) taken.push(await takeOne(tx, to, item))
    return taken
  })
}

async function takeOne(db: Db, to: Receiving, item: Incoming): Promise<alerts.Taken | undefined> {
  const { project_id, id: integration_id } = to
  if (!item.resolves) {
    return alerts.fire(db, { project_id, integration_id }, item)
  }
  if (item.fingerprint === null) return undefined
  const ended = item.ended_at ?? item.started_at
  return alerts.resolve(db, project_id, item.fingerprint, ended)
}
