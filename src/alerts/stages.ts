import type { Receiving } from './integrations.ts'
import type { Incoming } from './values.ts'

/** An alert in a request, with the integration that it was sent to. */
export interface Event {
  readonly to: Receiving
  readonly item: Incoming
}

/** Firings, or resolutions, which one statement takes: those of one fingerprint are one group. */
export interface Stage {
  readonly resolves: boolean
  readonly groups: readonly (readonly [Event, ...Event[]])[]
}

/**
 * Sorts events into stages that are taken one after the other: firings, resolutions, firings … Events of one fingerprint
 * keep their order.
 */
export function stagesOf(events: readonly Event[]): Stage[] {
  const stages: Map<string, [Event, ...Event[]]>[] = []
  const reached = new Map<string, number>()
  for (const [i, event] of events.entries()) {
    const { resolves, fingerprint } = event.item
    const key = `${event.to.project_id} ${fingerprint?.toString('hex') ?? `alone ${i}`}`
    const last = reached.get(key) ?? 0
    const place = resolves === isResolving(last) ? last : last + 1
    reached.set(key, place)
    while (stages.length <= place) stages.push(new Map())
    const group = stages[place]?.get(key)
    if (group === undefined) stages[place]?.set(key, [event])
    else group.push(event)
  }
  return stages.flatMap((groups, place) =>
    groups.size > 0 ? [{ resolves: isResolving(place), groups: [...groups.values()] }] : [],
  )
}

const isResolving = (place: number): boolean => place % 2 === 1
