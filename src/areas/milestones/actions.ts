import type { Static } from 'typebox'
import { nextInGroup, nextInProject } from '../../core/values/counters.ts'
import { cleanTitle } from '../../core/planning/label_rules.ts'
import { violates } from '../../db/errors.ts'
import type { Context } from '../../http/gate.ts'
import { noSuchRecord } from '../../http/problems.ts'
import { presentMilestone, type Milestone, type MilestoneShown } from '../../records/planning/milestone.ts'
import { recordEvents } from '../../outbox/record.ts'
import { lockNamesakes, mergeMilestones } from './promotion_store.ts'
import {
  FAULTY,
  TAKEN,
  faultsOf,
  notCreated,
  notPromoted,
  notUpdated,
  readDay,
  type Faults,
} from './rules.ts'
import * as milestones from './store.ts'
import type { Home } from './store.ts'

type Shown = Static<typeof Milestone>
type Here = Context & { readonly home: Home }
type At = Here & { readonly milestone: MilestoneShown }

const nextIid = ({ db }: Context, { kind, id }: Home): Promise<number> =>
  kind === 'project' ? nextInProject(db, id, 'milestones') : nextInGroup(db, id, 'milestones')

const isFaulty = (faults: Faults): boolean => Object.keys(faults).length > 0

/** A title that two give at once in one parent is held by a constraint too. */
const orTaken =
  (refusal: (faults: Faults) => Error) =>
  (error: unknown): never => {
    const names = ['milestones_project_title_key', 'milestones_group_title_key']
    throw names.some((name) => violates(error, name)) ? refusal(FAULTY) : error
  }

interface Given {
  readonly title?: string
  readonly description?: string | null
  readonly start_date?: string | null
  readonly due_date?: string | null
}

/** The new values of the milestone; absent ones keep the old. */
const settle = (given: Given, now?: milestones.Values): milestones.Values => {
  const [start, due] = [readDay('start_date', given.start_date), readDay('due_date', given.due_date)]
  return {
    title: given.title === undefined ? (now?.title ?? '') : cleanTitle(given.title),
    description: given.description === undefined ? (now?.description ?? null) : given.description || null,
    start_date: start === undefined ? (now?.start_date ?? null) : start,
    due_date: due === undefined ? (now?.due_date ?? null) : due,
  }
}

export async function create(ctx: Here & { readonly params: Given }): Promise<Shown> {
  const { db, home } = ctx
  const values = settle(ctx.params)
  const faults = faultsOf(values)
  if (isFaulty(faults)) throw notCreated(faults)
  await milestones.lockTitle(db, home, values.title)
  if (await milestones.isTaken(db, home, values.title)) throw notCreated(FAULTY)
  const row = await milestones
    .insertMilestone(db, home, await nextIid(ctx, home), values)
    .catch(orTaken(notCreated))
  await recordMilestoneEvent(ctx, row, 'create')
  return presentMilestone(row, ctx)
}

const ACTIVITY = { create: 'created', close: 'closed', reopen: 'reopened', destroy: 'destroyed' } as const

/** Records what happened to a milestone, whose columns payloads of deleted ones need. */
const recordMilestoneEvent = (
  { db, actor }: Here,
  row: MilestoneShown,
  action: keyof typeof ACTIVITY,
): Promise<void> =>
  recordEvents(db, [
    {
      kind: 'milestone',
      action,
      activity: ACTIVITY[action],
      author_id: actor?.id ?? null,
      project_id: row.project_id,
      group_id: row.group_id,
      target_type: 'milestone',
      target_id: row.id,
      target_iid: row.iid,
      trigger: 'milestone_events',
      data: { milestone: row },
    },
  ])

const STATES = { close: 'closed', activate: 'active' } as const

export async function change(
  ctx: At & { readonly params: Given & { readonly state_event?: keyof typeof STATES } },
): Promise<Shown> {
  const { db, home, params } = ctx
  // The title's lock comes before the row's, here and where milestones are merged.
  if (params.title !== undefined) await milestones.lockTitle(db, home, cleanTitle(params.title))
  const before = await milestones.lockMilestone(db, home, ctx.milestone.id)
  const values = settle(params, before)
  const faults = faultsOf(values)
  if (isFaulty(faults)) throw notUpdated(faults)
  if (values.title !== before.title && (await milestones.isTaken(db, home, values.title, [before.id])))
    throw notUpdated(FAULTY)
  const state = params.state_event === undefined ? before.state : STATES[params.state_event]
  const row = await milestones.updateMilestone(db, before.id, { ...values, state }).catch(orTaken(notUpdated))
  if (state !== before.state) await recordMilestoneEvent(ctx, row, state === 'closed' ? 'close' : 'reopen')
  return presentMilestone(row, ctx)
}

export async function discard(ctx: At): Promise<null> {
  const { db, home, milestone } = ctx
  await milestones.removeMilestone(db, home, milestone.id)
  await recordMilestoneEvent(ctx, milestone, 'destroy')
  return null
}

/** Makes a milestone of the group of all that bear the title in its own projects. */
export async function promote(ctx: At & { readonly promotesTo: Home }): Promise<Shown> {
  const { db, home, milestone, promotesTo } = ctx
  await milestones.lockTitle(db, promotesTo, milestone.title)
  const from = await lockNamesakes(db, promotesTo.id, milestone.title)
  const before = await milestones.lockMilestone(db, home, milestone.id)
  // Another request promoted its namesake or renamed it while this one waited for the locks.
  if (!from.includes(before.id)) throw noSuchRecord()
  if (await milestones.isTaken(db, promotesTo, before.title, from)) throw notPromoted(`Title ${TAKEN}`)
  const row = await milestones
    .insertMilestone(db, promotesTo, await nextIid(ctx, promotesTo), settle({}, before))
    .catch(orTaken(() => notPromoted(`Title ${TAKEN}`)))
  await recordMilestoneEvent(ctx, row, 'create')
  await mergeMilestones(db, { into: row.id, from })
  return presentMilestone(row, ctx)
}
