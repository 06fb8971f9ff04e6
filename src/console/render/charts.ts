import { html, type Html } from '../web/html.ts'

const [WIDTH, HEIGHT] = [560, 230]
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 10, 12, 24]
const DAY = 86_400_000

/** A change of the issues of a milestone or an iteration. */
export interface BurnEvent {
  readonly created_at: string
  readonly weight: number | null
  /** `created`, `closed` or `reopened`. */
  readonly action: string
}

interface DayPoint {
  readonly day: number
  readonly total: number
  readonly closed: number
}

const dayOf = (moment: string): number => Math.floor(new Date(moment).getTime() / DAY)

/** Open and closed issues at the end of each day, up to today. */
function daily(events: readonly BurnEvent[], from: number, to: number, weigh: boolean): DayPoint[] {
  const sorted = events.toSorted((a, b) => a.created_at.localeCompare(b.created_at))
  const points: DayPoint[] = []
  let [total, closed, at] = [0, 0, 0]
  for (let day = from; day <= to; day++) {
    for (; at < sorted.length; at++) {
      const event = sorted[at]
      if (event === undefined || dayOf(event.created_at) > day) break
      const size = weigh ? (event.weight ?? 0) : 1
      if (event.action === 'created') total += size
      else if (event.action === 'closed') closed += size
      else if (event.action === 'reopened') closed -= size
    }
    points.push({ day, total, closed })
  }
  return points
}

interface Span {
  readonly start: string | null
  readonly due: string | null
  readonly now: Date
}

/** Burndown and burnup of events, drawn by the server. */
export function burnCharts(events: readonly BurnEvent[], { start, due, now }: Span, weigh: boolean): Html {
  const today = Math.floor(now.getTime() / DAY)
  const first = events.length > 0 ? Math.min(...events.map(({ created_at }) => dayOf(created_at))) : today
  const from = start === null ? first : dayOf(start)
  const end = Math.max(due === null ? today : dayOf(due), from + 1)
  const points = daily(events, from, Math.min(today, end), weigh)
  const most = Math.max(1, ...points.map(({ total }) => total))
  const x = (day: number): number => round(LEFT + ((WIDTH - LEFT - RIGHT) * (day - from)) / (end - from))
  const y = (count: number): number => round(HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * count) / most)
  const line = (value: (point: DayPoint) => number): string =>
    points.map((point, i) => `${i === 0 ? 'M' : 'L'}${x(point.day)} ${y(value(point))}`).join('')
  const frame = axes({ from, end, most, x, y })
  const last = points.at(-1) ?? { day: from, total: 0, closed: 0 }
  const { total, closed } = last
  const unit = weigh ? 'weight' : 'issues'
  const done = line((point) => point.closed)
  const under = points.length > 1 ? `${done}L${x(last.day)} ${y(0)}L${x(from)} ${y(0)}Z` : ''
  const ideal = `M${x(from)} ${y(total)}L${x(end)} ${y(0)}`
  return html`<div class="charts">
    ${figure('Burndown', `${total - closed} of ${total} ${unit} remain`, html`${frame}<path class="ideal" d="${ideal}" /><path class="line" d="${line((point) => point.total - point.closed)}" />`)}
    ${figure('Burnup', `${closed} of ${total} ${unit} done`, html`${frame}<path class="under" d="${under}" /><path class="total" d="${line((point) => point.total)}" /><path class="line" d="${done}" />`)}
  </div>`
}

const figure = (title: string, said: string, drawn: Html): Html =>
  html`<figure class="chart box">
    <figcaption class="box-head"><strong>${title}</strong><span class="quiet">${said}</span></figcaption>
    <div class="body">
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${said}">${drawn}</svg>
    </div>
  </figure>`

interface Axes {
  readonly from: number
  readonly end: number
  readonly most: number
  readonly x: (day: number) => number
  readonly y: (count: number) => number
}

function axes({ from, end, most, x, y }: Axes): Html {
  const step = Math.max(1, Math.ceil(most / 4))
  const counts = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step)
  const middle = Math.round((from + end) / 2)
  const label = (day: number): string =>
    new Date(day * DAY).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const days = [
    [from, 'start'],
    [middle, 'middle'],
    [end, 'end'],
  ] as const
  return html`${counts.map((count) => html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(count)}" y2="${y(count)}" /><text class="axis" x="${LEFT - 7}" y="${y(count) + 4}" text-anchor="end">${count}</text>`)}
  ${days.map(([day, anchor]) => html`<text class="axis" x="${x(day)}" y="${HEIGHT - 6}" text-anchor="${anchor}">${label(day)}</text>`)}`
}

const round = (value: number): number => Math.round(value * 10) / 10

/** The done part of a whole, as a bar. */
export const meter = (part: number, whole: number, label: string): Html => {
  const width = whole === 0 ? 0 : round((100 * part) / whole)
  return html`<svg
    class="meter"
    viewBox="0 0 100 8"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <rect class="rest" width="100" height="8" />
    <rect class="part" width="${width}" height="8" />
  </svg>`
}
