import type { Command } from 'commander'
import { createEpic } from '../core/planning/epics.ts'
import * as groups from '../core/places/groups.ts'
import { scheduleCadence } from '../core/planning/iteration_schedule.ts'
import { IterationFault, createCadence, createIteration } from '../core/planning/iterations.ts'
import * as users from '../core/people/users.ts'
import type { Db } from '../db/db.ts'
import { violates } from '../db/errors.ts'
import type { Namespace } from '../db/schema/tables.ts'
import { Misuse, Refusal, command, family, withInstance } from './command.ts'
import { readDate, readTitle } from './words.ts'

const UNDER = 'Planning'

/** Commands about iterations, their cadences, and epics. */
export function addPlanning(program: Command): void {
  addIteration(family(program, 'iteration', 'Iterations of groups'))
  addCadence(family(program, 'cadence', 'Cadences of iterations'))
  addEpic(family(program, 'epic', 'Epics of groups'))
}

async function findGroup(db: Db, fullPath: string): Promise<Namespace> {
  const found = await groups.findByPath(db, fullPath)
  if (found?.kind !== 'group') throw new Refusal(`there is no group "${fullPath}"`)
  return found
}

interface IterationOptions {
  readonly group: string
  readonly title: string
  readonly startDate: string
  readonly dueDate: string
  readonly cadence?: string
  readonly description?: string
}

function addIteration(parent: Command): void {
  command({ parent, name: 'create', description: 'create an iteration', under: UNDER })
    .requiredOption('--group <path>', 'whose iteration')
    .requiredOption('--title <text>', 'the title', readTitle)
    .requiredOption('--start-date <date>', 'the first day, YYYY-MM-DD', readDate('--start-date'))
    .requiredOption('--due-date <date>', 'the last day, YYYY-MM-DD', readDate('--due-date'))
    .option('--cadence <title>', "the cadence; without it, the group's first that is kept by hand")
    .option('--description <text>', 'what it is about')
    .action(async (options: IterationOptions) => {
      if (options.dueDate < options.startDate) throw new Misuse('--due-date comes before --start-date')
      await withInstance({ ...options }, async ({ instance }, { say }) => {
        const group = await findGroup(instance.db, options.group)
        const made = await instance.db
          .transaction((tx) =>
            createIteration(tx, group, {
              title: options.title,
              description: options.description ?? null,
              start_date: options.startDate,
              due_date: options.dueDate,
              cadence: options.cadence,
            }),
          )
          .catch((error: unknown) => {
            throw error instanceof IterationFault ? new Refusal(error.message) : error
          })
        const { id, iid, sequence, title, start_date, due_date } = made
        say(
          { id, iid, sequence, group_id: group.id, title, start_date, due_date },
          `Created iteration ${title} of ${group.full_path} (id ${id}).`,
        )
      })
    })
}

interface CadenceOptions {
  readonly group: string
  readonly title: string
  readonly startDate?: string
  readonly weeks: number
  readonly ahead: number
  readonly rollOver?: boolean
}

const readCount =
  (option: string, most: number) =>
  (given: string): number => {
    const count = Number(given)
    if (!/^\d{1,3}$/.test(given) || count < 1 || count > most)
      throw new Misuse(`${option} takes a number from 1 to ${most}, not "${given}"`)
    return count
  }

function addCadence(parent: Command): void {
  command({ parent, name: 'create', description: 'create a cadence', under: UNDER })
    .requiredOption('--group <path>', 'whose cadence')
    .requiredOption('--title <text>', 'the title', readTitle)
    .option(
      '--start-date <date>',
      'make iterations by itself from that day on; without it, by hand',
      readDate('--start-date'),
    )
    .option('--weeks <number>', 'how long each is', readCount('--weeks', 52), 2)
    .option('--ahead <number>', 'how many are made in advance', readCount('--ahead', 10), 2)
    .option('--roll-over', 'hand open issues on to the next iteration')
    .action((options: CadenceOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const group = await findGroup(instance.db, options.group)
        const { title, startDate, weeks, ahead, rollOver = false } = options
        const automatic = startDate !== undefined
        const { id } = await instance.db
          .transaction(async (tx) => {
            const cadence = await createCadence(tx, {
              group_id: group.id,
              title,
              automatic,
              roll_over: automatic && rollOver,
              start_date: startDate ?? null,
              duration_in_weeks: automatic ? weeks : null,
              iterations_in_advance: automatic ? ahead : null,
            })
            await scheduleCadence(tx, cadence.id)
            return cadence
          })
          .catch((error: unknown) => {
            throw violates(error, 'iteration_cadences_title_key')
              ? new Refusal('--title has already been taken')
              : error
          })
        say(
          { id, group_id: group.id, title, automatic },
          `Created cadence ${title} of ${group.full_path} (id ${id}).`,
        )
      }),
    )
}

interface EpicOptions {
  readonly group: string
  readonly title: string
  readonly description?: string
  readonly author?: string
  readonly confidential?: boolean
}

function addEpic(parent: Command): void {
  command({ parent, name: 'create', description: 'create an epic', under: UNDER })
    .requiredOption('--group <path>', 'whose epic')
    .requiredOption('--title <text>', 'the title', readTitle)
    .option('--description <text>', 'what it is about')
    .option('--author <username>', 'who made it')
    .option('--confidential', 'show it to those who plan in the group alone')
    .action((options: EpicOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const group = await findGroup(instance.db, options.group)
        const { title, description = null, confidential = false } = options
        const author_id = await authorOf(instance.db, options.author)
        const epic = { group_id: group.id, author_id, title, description, confidential }
        const rest = { parent_id: null, start_date: null, due_date: null, color: null, created_at: null }
        const { id, iid } = await instance.db.transaction((tx) => createEpic(tx, { ...epic, ...rest }))
        say(
          { id, iid, group_id: group.id, title, confidential },
          `Created epic ${title} of ${group.full_path} (id ${id}).`,
        )
      }),
    )
}

async function authorOf(db: Db, username: string | undefined): Promise<number | null> {
  if (username === undefined) return null
  const user = await users.findByUsername(db, username)
  if (user === undefined) throw new Refusal(`there is no user "${username}"`)
  return user.id
}
