import { createBatches } from '../core/values/batches.ts'
import type { Db } from '../db/db.ts'
import { isBusy } from '../db/errors.ts'
import { enqueueAll } from '../jobs/job.ts'
import { syncIncident } from './incidents.ts'
import type { Receiving } from './integrations.ts'
import { stagesOf, type Event, type Stage } from './stages.ts'
import * as alerts from './store.ts'
import type { Incoming } from './values.ts'

interface Request {
  readonly to: Receiving
  readonly items: readonly Incoming[]
}
type Outcome = readonly (alerts.Taken | undefined)[]

/** Requests whose alerts are stored together. */
const BATCH = {
  items: 50,
  length: 4 * 1024 * 1024,
  lengthOf: ({ items }: Request) => items.reduce((sum, { payload }) => sum + payload.length, 0),
}

/** How often a batch is tried when other processes lock the same alerts in another order. */
const ATTEMPTS = 5

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

async function takeBatch(db: Db, requests: readonly Request[]): Promise<Outcome[]> {
  const events = requests.map(({ to, items }) => items.map((item): Event => ({ to, item })))
  const taken = await takeEvents(db, events.flat())
  return events.map((ofRequest) => ofRequest.map((event) => taken.get(event)))
}

type Effects = ReadonlyMap<Event, alerts.Taken>

function takeEvents(db: Db, events: readonly Event[]): Promise<Effects> {
  const stages = stagesOf(events)
  // A single statement is a transaction, without the two round trips of one.
  if (stages.length <= 1 && !events.some(mayChangeIncident)) return takeStages(db, stages)
  return db.transaction(async (tx) => {
    const taken = await takeStages(tx, stages)
    // The job is as durable as the alert, and the sender does not wait for it.
    await enqueueAll(tx, syncIncident, jobsOf(taken))
    return taken
  })
}

async function takeStages(db: Db, stages: readonly Stage[]): Promise<Effects> {
  const taken = new Map<Event, alerts.Taken>()
  for (const { resolves, groups } of stages) {
    const effects = await (resolves
      ? alerts.resolve(db, groups.map(resolutionOf))
      : alerts.fire(db, groups.map(firingOf)))
    for (const [i, group] of groups.entries()) {
      const one = effects[i]
      // The first resolution of a group ends the alert, and the others find none.
      if (one !== undefined) for (const event of resolves ? group.slice(0, 1) : group) taken.set(event, one)
    }
  }
  return taken
}

type Group = Stage['groups'][number]

function firingOf([{ to, item }, ...others]: Group): alerts.Firing {
  const { resolves: _resolves, hosts, ...columns } = item
  const { project_id, id: integration_id } = to
  const events = 1 + others.length
  return { project_id, integration_id, ...columns, hosts: JSON.stringify(hosts), events }
}

const resolutionOf = ([{ to, item }]: Group): alerts.Resolution => ({
  project_id: to.project_id,
  fingerprint: item.fingerprint,
  ended_at: item.ended_at ?? item.started_at,
})

const mayChangeIncident = ({ to, item }: Event): boolean =>
  item.resolves ? to.auto_close_incidents : to.create_incidents

/** One job for each alert whose incident is to be opened or closed. */
function jobsOf(taken: Effects): { payload: { alert_id: number }; key: string }[] {
  const changed = [...taken].filter(
    ([event, { issue_id }]) => mayChangeIncident(event) && event.item.resolves === (issue_id !== null),
  )
  return [...new Set(changed.map(([, { id }]) => id))].map((id) => ({
    payload: { alert_id: id },
    key: `incident:${id}`,
  }))
}
