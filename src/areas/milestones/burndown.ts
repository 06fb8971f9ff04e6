import type { HistoryRow } from './burndown_store.ts'

/**
 * One step of a milestone's open work. The sum of all weights up to a moment, those of `closed` and `removed` taken
 * away, is the open weight then; the number of `created` and `reopened` less that of `closed` and `removed` is how many
 * issues were open. A `weight` step is by how much an open issue's weight changed.
 */
interface Step {
  readonly created_at: Date
  readonly weight: number
  readonly action: 'created' | 'closed' | 'reopened' | 'removed' | 'weight'
}

/** Draws the steps from what was recorded of the issues; the rows of one issue stand together, in their order. */
export function stepsOf(rows: readonly HistoryRow[]): Step[] {
  const steps: Step[] = []
  let story: Story | undefined
  for (const row of rows) {
    if (story?.id !== row.issue_id) {
      story?.end()
      story = new Story(row, steps)
    }
    story.tell(row)
  }
  story?.end()
  return steps.sort((a, b) => a.created_at.getTime() - b.created_at.getTime())
}

/** One issue from its first record to now. */
class Story {
  readonly id: number
  readonly #now: HistoryRow
  readonly #steps: Step[]
  #inside = false
  #open = true
  #weight: number

  constructor(row: HistoryRow, steps: Step[]) {
    this.id = row.issue_id
    this.#now = row
    this.#steps = steps
    // Without records all was from the beginning as it is now.
    this.#weight = row.weighed ? 0 : (row.weight ?? 0)
  }

  tell({ at, kind, value }: HistoryRow): void {
    if (kind === 'weight') this.#weigh(at, value ?? 0)
    else if (kind === 'created') {
      if (this.#now.always) this.#enter(at)
    } else if (kind === 'milestone') {
      if (value === 1) this.#enter(at)
      else this.#leave(at)
    } else this.#turn(at, value === 1)
  }

  /** Changes without an event come last: issues closed or moved by other means. */
  end(): void {
    const { closed, closed_at, updated_at, within } = this.#now
    if (closed && this.#open) this.#turn(closed_at ?? updated_at, false)
    if (!within) this.#leave(updated_at)
  }

  #step(created_at: Date, action: Step['action'], weight = this.#weight): void {
    if (this.#inside) this.#steps.push({ created_at, weight, action })
  }

  #enter(at: Date): void {
    if (this.#inside) return
    this.#inside = true
    this.#step(at, 'created')
    if (!this.#open) this.#step(at, 'closed')
  }

  #leave(at: Date): void {
    if (this.#open) this.#step(at, 'removed')
    this.#inside = false
  }

  #turn(at: Date, open: boolean): void {
    if (open === this.#open) return
    this.#open = open
    this.#step(at, open ? 'reopened' : 'closed')
  }

  #weigh(at: Date, weight: number): void {
    if (this.#open && weight !== this.#weight) this.#step(at, 'weight', weight - this.#weight)
    this.#weight = weight
  }
}
