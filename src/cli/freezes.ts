import type { Command } from 'commander'
import { comingFreezes, currentFreeze, freezePeriodsOf } from '../core/delivery/freeze_periods.ts'
import { freezeCalendar, type CalendarEntry } from '../core/delivery/freeze_calendar.ts'
import { findByRef } from '../core/places/projects.ts'
import type { Db } from '../db/db.ts'
import type { Project } from '../db/schema/tables.ts'
import { Misuse, Refusal, command, family, withInstance } from './command.ts'

const UNDER = 'Deploy freezes'

/** Commands about the freeze periods of projects. */
export function addFreezes(program: Command): void {
  const parent = family(program, 'freeze', 'Deploy freezes of projects')
  addStatus(parent)
  addCalendar(parent)
}

async function findProject(db: Db, path: string): Promise<Project> {
  const found = await findByRef(db, path)
  if (found === undefined) throw new Refusal(`there is no project "${path}"`)
  return found
}

function readMoment(given: string): Date {
  const moment = new Date(given)
  if (!/^\d{4}-\d\d-\d\dT/.test(given) || Number.isNaN(moment.getTime()))
    throw new Misuse(`--at takes a time such as 2030-01-31T08:00:00Z, not "${given}"`)
  return moment
}

function addStatus(parent: Command): void {
  command({ parent, name: 'status', description: 'say whether deployments are frozen', under: UNDER })
    .requiredOption('--project <path>', 'the full path or the id of the project')
    .option('--at <time>', 'at another time than now', readMoment)
    .action(async ({ project: path, at = new Date(), ...options }: { project: string; at?: Date }) =>
      withInstance(options, async ({ instance }, { say }) => {
        const project = await findProject(instance.db, path)
        const periods = (await freezePeriodsOf(instance.db, project.id)).map((period) => {
          const current = currentFreeze(period, at)
          const [next] = comingFreezes(period, at, 1)
          return { id: period.id, since: current?.start, until: current?.end, next: next?.start, current }
        })
        const frozen = periods.some(({ current }) => current !== undefined)
        const state = frozen ? 'frozen' : 'not frozen'
        const lines = periods.map(
          ({ id, current, until, next }) =>
            `  period ${id}: ${current ? `frozen until ${until?.toISOString() ?? 'it is changed'}` : `next from ${next?.toISOString() ?? 'never'}`}`,
        )
        const shown = periods.map(({ current, since, until, next, ...period }) => ({
          ...period,
          frozen: current !== undefined,
          since: since?.toISOString() ?? null,
          until: until?.toISOString() ?? null,
          next: next?.toISOString() ?? null,
        }))
        say(
          { project: project.full_path, at: at.toISOString(), frozen, periods: shown },
          [`${project.full_path} is ${state} at ${at.toISOString()}.`, ...lines].join('\n'),
        )
      }),
    )
}

/** Freezes of one period in a calendar: a period that freezes each hour still makes a short file. */
const MAX_EVENTS_PER_PERIOD = 100

function addCalendar(parent: Command): void {
  command({ parent, name: 'calendar', description: 'print the coming freezes as iCalendar', under: UNDER })
    .requiredOption('--project <path>', 'the full path or the id of the project')
    .option('--at <time>', 'from another time than now on', readMoment)
    .action(async ({ project: path, at = new Date(), ...options }: { project: string; at?: Date }) =>
      withInstance(options, async ({ instance }, { say, config }) => {
        const project = await findProject(instance.db, path)
        const entries = (await freezePeriodsOf(instance.db, project.id)).flatMap(
          (period): CalendarEntry[] => {
            const current = currentFreeze(period, at)
            const windows = [
              ...(current ? [current] : []),
              ...comingFreezes(period, at, MAX_EVENTS_PER_PERIOD),
            ]
            return windows.map(({ start, end }) => ({ period: period.id, start, end }))
          },
        )
        const host = new URL(config.url).host
        const calendar = freezeCalendar({ project: project.full_path, host, at }, entries)
        const events = entries.map(({ period, start, end }) => ({
          period,
          start: start.toISOString(),
          end: end?.toISOString() ?? null,
        }))
        say({ project: project.full_path, events }, calendar.trimEnd())
      }),
    )
}
