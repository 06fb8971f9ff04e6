import { LRUCache } from 'lru-cache'
import { lruBound } from '../lru_bound.ts'

/** Times in milliseconds. */
export interface TurnLimits {
  /** How long one turn lasts at most. */
  readonly turnMs: number
  /** How long a fetch waits for its turn; after that it goes on without one. */
  readonly waitMs: number
  /** How many wait for a turn in one repository. */
  readonly queue: number
}

interface Turn {
  readonly caller: string
  readonly over: Promise<void>
  readonly end: () => void
}

interface Place {
  /** Writers that have passed and not yet left. */
  inside: number
  turn: Turn | undefined
  /** Pushers that wait for a turn, in the order of asking. */
  readonly queue: Set<() => void>
  /** True while writers have their share after a turn. */
  resting: boolean
  /** Called when the last writer leaves. */
  idle: (() => void) | undefined
}

const LIMITS: TurnLimits = { turnMs: 1_500, waitMs: 6_000, queue: 16 }
const remembered = 10_000
const rememberedMs = 60_000

/**
 * Turns for who is slower than the rest. A writer through the interface reads a branch and moves it within milliseconds;
 * who pushes must fetch first, and finds the branch moved again. So whoever did not come through gets a turn at the next
 * fetch: until the push has landed, for a second and a half at most, others wait to write into that repository.
 * One turn at a time, in the order of asking, and after each the others have as long for themselves.
 */
export class PushTurns {
  readonly #limits: TurnLimits
  readonly #places = new Map<string, Place>()
  /** Pushers that lost a race, by repository and caller. */
  readonly #missed = new LRUCache<string, true>({ ...lruBound(remembered), ttl: rememberedMs })

  constructor(limits: Partial<TurnLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** How many repositories are written into, or have turns. */
  get places(): number {
    return this.#places.size
  }

  /** Notes that a caller is about to push; unless `landed` follows, its next fetch begins a turn. */
  wants(gitDirectory: string, caller: string): void {
    this.#missed.set(`${gitDirectory}\0${caller}`, true)
  }

  /** Notes that nothing stands in the caller's way any more: its push landed, or was refused for good. Ends its turn. */
  landed(gitDirectory: string, caller: string): void {
    this.#missed.delete(`${gitDirectory}\0${caller}`)
    const turn = this.#places.get(gitDirectory)?.turn
    if (turn?.caller === caller) turn.end()
  }

  /** To be called before a fetch: begins the caller's turn if one is due, once it can begin and nobody writes. */
  async begin(gitDirectory: string, caller: string): Promise<void> {
    if (!this.#missed.has(`${gitDirectory}\0${caller}`)) return
    const place = this.#place(gitDirectory)
    if (place.turn?.caller === caller || place.queue.size >= this.#limits.queue) return
    const open = (): Turn => this.#open(gitDirectory, place, caller)
    const isFree = place.turn === undefined && !place.resting && place.queue.size === 0
    const turn = isFree ? open() : await this.#wait(place, open)
    if (turn === undefined) return this.#tidy(gitDirectory, place)
    if (place.inside > 0)
      await Promise.race([new Promise<void>((resolve) => (place.idle = resolve)), turn.over])
  }

  /** Waits while somebody else has the turn, and returns what says that the write is done. */
  async pass(gitDirectory: string, caller?: string): Promise<() => void> {
    const place = this.#place(gitDirectory)
    while (place.turn !== undefined && place.turn.caller !== caller) await place.turn.over
    place.inside += 1
    // While it waited the last one may have left and taken the place away.
    this.#places.set(gitDirectory, place)
    return () => {
      place.inside -= 1
      if (place.inside === 0) place.idle?.()
      this.#tidy(gitDirectory, place)
    }
  }

  #place(gitDirectory: string): Place {
    const known = this.#places.get(gitDirectory)
    if (known !== undefined) return known
    const place: Place = { inside: 0, turn: undefined, queue: new Set(), resting: false, idle: undefined }
    this.#places.set(gitDirectory, place)
    return place
  }

  #tidy(gitDirectory: string, { inside, turn, queue, resting }: Place): void {
    if (inside === 0 && turn === undefined && queue.size === 0 && !resting) this.#places.delete(gitDirectory)
  }

  /** The turn, begun in the moment that it is granted, so that nobody comes between; undefined when that took too long. */
  #wait(place: Place, open: () => Turn): Promise<Turn | undefined> {
    return new Promise((resolve) => {
      const grant = (): void => {
        clearTimeout(clock)
        place.queue.delete(grant)
        resolve(open())
      }
      const clock = setTimeout(() => {
        place.queue.delete(grant)
        resolve(undefined)
      }, this.#limits.waitMs)
      place.queue.add(grant)
    })
  }

  #open(gitDirectory: string, place: Place, caller: string): Turn {
    const began = performance.now()
    let finish = (): void => undefined
    const over = new Promise<void>((resolve) => (finish = resolve))
    const end = (): void => {
      if (place.turn !== turn) return
      clearTimeout(clock)
      place.turn = undefined
      place.idle = undefined
      place.resting = true
      finish()
      setTimeout(() => {
        place.resting = false
        const [next] = place.queue
        if (next === undefined) this.#tidy(gitDirectory, place)
        else next()
      }, performance.now() - began).unref()
    }
    const clock = setTimeout(end, this.#limits.turnMs)
    const turn: Turn = { caller, over, end }
    place.turn = turn
    return turn
  }
}

/** The turns of one repository. */
export interface RepositoryTurns {
  wants(caller: string): void
  landed(caller: string): void
  begin(caller: string): Promise<void>
}

/** Turns, for the repository in `gitDirectory`. */
export const turnsAt = (turns: PushTurns, gitDirectory: string): RepositoryTurns => ({
  wants: (caller) => turns.wants(gitDirectory, caller),
  landed: (caller) => turns.landed(gitDirectory, caller),
  begin: (caller) => turns.begin(gitDirectory, caller),
})
