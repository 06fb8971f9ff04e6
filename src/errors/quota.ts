import type { Settings } from '../core/settings/settings.ts'

/** Milliseconds of a quota's window. */
const WINDOW = 60_000
/** Projects that are counted at once; past it the oldest windows are forgotten. */
const PROJECTS = 10_000

const windows = new Map<number, { start: number; events: number }>()

/** Counts an event of a project. Returns the seconds to wait when the minute's quota of this process is used up. */
export function overQuota(settings: Settings, projectId: number, now: Date): number | undefined {
  const at = now.getTime()
  const known = windows.get(projectId)
  const window = known !== undefined && at - known.start < WINDOW ? known : { start: at, events: 0 }
  if (window.events >= settings.get('error_tracking_events_per_minute'))
    return Math.max(1, Math.ceil((window.start + WINDOW - at) / 1000))
  window.events += 1
  windows.delete(projectId)
  windows.set(projectId, window)
  const [oldest] = windows.keys()
  if (windows.size > PROJECTS && oldest !== undefined) windows.delete(oldest)
  return undefined
}
