/** Attributes that differ, as webhook payloads show them. */
export type Changes = Record<string, { readonly previous: unknown; readonly current: unknown }>

/** The attributes of `after` whose values are others in `before`. */
export function changesBetween(before: object, after: object): Changes {
  const old: Record<string, unknown> = { ...before }
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name, current]) => JSON.stringify(old[name]) !== JSON.stringify(current))
      .map(([name, current]) => [name, { previous: old[name], current }]),
  )
}

export type StateAction = 'open' | 'close' | 'reopen' | 'update' | 'merge'

/** The published action of a change, and the word by which lists of events show it. */
export function actionOf(
  before: { readonly state: string },
  after: { readonly state: string },
  isNew: boolean,
): StateAction {
  if (before.state !== after.state) return after.state === 'closed' ? 'close' : 'reopen'
  return isNew ? 'open' : 'update'
}
export const ACTIVITY = {
  open: 'created',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  update: undefined,
} as const

/** Ids that a record got and lost. */
export interface Moves {
  readonly added: readonly number[]
  readonly removed: readonly number[]
}
export const movesOf = (changes: readonly { readonly id: number; readonly added: boolean }[]): Moves => ({
  added: changes.filter(({ added }) => added).map(({ id }) => id),
  removed: changes.filter(({ added }) => !added).map(({ id }) => id),
})
