import { findUsers, holdersNow, type Part } from './rows.ts'
import type { ProjectRun, Run, Told } from './run.ts'
import { namesIn, plural } from '../conversation/quick_action_text.ts'

// Commands that say whose a record is, and who is to look at it.

type People = (part: Part) => (run: ProjectRun, argument: string) => Promise<Told>

const people = (found: readonly { readonly username: string }[]): string =>
  found.map(({ username }) => `@${username}`).join(' ')

const usersIn = (run: Run, argument: string): ReturnType<typeof findUsers> =>
  findUsers(
    run.db,
    namesIn(argument).map((name) => (name === 'me' ? run.actor.username.toLowerCase() : name)),
  )

function giveTo(run: Run, part: Part, ids: readonly number[]): void {
  run.change[`${part}_ids`] = ids
  run.changes[`${part}_ids`] = ids
}
const takers = async (run: ProjectRun, part: Part): Promise<readonly number[]> =>
  run.change[`${part}_ids`] ?? (await holdersNow(run.db, run.about, part)).map(({ id }) => id)

export const assign: People = (part) => async (run, argument) => {
  const found = await usersIn(run, argument)
  if (found.length === 0) return undefined
  giveTo(run, part, [...new Set([...(await takers(run, part)), ...found.map(({ id }) => id)])])
  const as = part === 'assignee' ? '' : ` as ${plural(found.length, part)}`
  return `Assigned ${people(found)}${as}.`
}
export const unassign: People = (part) => async (run, argument) => {
  const now = await takers(run, part)
  if (now.length === 0) return undefined
  if (argument === '') {
    const gone = await holdersNow(run.db, run.about, part)
    giveTo(run, part, [])
    return `Removed ${plural(gone.length, part)} ${people(gone)}.`
  }
  const found = (await usersIn(run, argument)).filter(({ id }) => now.includes(id))
  if (found.length === 0) return undefined
  giveTo(
    run,
    part,
    now.filter((id) => !found.some((one) => one.id === id)),
  )
  return `Removed ${plural(found.length, part)} ${people(found)}.`
}
export const reassign: People = (part) => async (run, argument) => {
  const found = await usersIn(run, argument)
  if (found.length === 0) return undefined
  giveTo(
    run,
    part,
    found.map(({ id }) => id),
  )
  return `Changed ${plural(found.length, part)} to ${people(found)}.`
}
