import { existing } from '../../db/rows.ts'
import { Type as t, type Static } from 'typebox'
import { developer, project, signedIn } from '../../access/gates/gates.ts'
import { readsPipelines, seesSchedules } from '../../access/gates/pipeline_gates.ts'
import { enqueueRun, nextRun, playSchedule, scheduleVariables } from '../../ci/creation/schedules.ts'
import { inTurn } from '../../ci/turn.ts'
import { limitOf } from '../../core/settings/plan_limits.ts'
import type { Project } from '../../core/places/projects.ts'
import { enqueue } from '../../jobs/job.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { Answer, nothing, operation, pageOf } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { invalid } from '../../http/problems.ts'
import { changesOf, oneOf } from '../../http/params/schema.ts'
import { PipelineSchedule, PipelineScheduleDetail, fields, present, presentDetail } from './entity.ts'
import { managesSchedule, mayManage, ownSchedule, runsOnRef, schedule, writableRef } from './gates.ts'
import { BAD_CRON, checkSchedule, tooMany } from './rules.ts'
import * as schedules from './store.ts'

export { listSchedulePipelines } from './pipeline_operations.ts'
export {
  createPipelineScheduleVariable,
  deletePipelineScheduleVariable,
  updatePipelineScheduleVariable,
} from './variable_operations.ts'

/** A schedule as it is now; its variables only for those who may read them. */
async function show(
  ctx: Has<{ actor: Actor; project: Project }>,
  id: number,
): Promise<Static<typeof PipelineScheduleDetail>> {
  const { db, actor, project } = ctx
  const row = existing(await schedules.find(db, { project_id: project.id, id }))
  const variables = mayManage({ actor, project, schedule: row }) ? await scheduleVariables(db, id) : undefined
  return presentDetail(row, { project, last: await schedules.lastPipeline(db, id), variables }, ctx)
}

export const listPipelineSchedules = operation({
  method: 'GET',
  path: '/projects/:id/pipeline_schedules',
  summary: 'List the pipeline schedules of a project',
  published: true,
  first: [signedIn],
  params: t.Object({ scope: t.Optional(oneOf(['active', 'inactive'])) }),
  gates: [project, readsPipelines],
  handle: async (ctx) => {
    const { limit, offset } = ctx.page
    const values = { project_id: ctx.project.id, limit, offset }
    return presentPage(await schedules.list(ctx.db, ctx.params.scope ?? null, values), (row) =>
      present(row, ctx),
    )
  },
  returns: pageOf(PipelineSchedule),
})

export const getPipelineSchedule = operation({
  method: 'GET',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id',
  summary: 'Get a pipeline schedule',
  published: true,
  first: [signedIn],
  gates: [project, seesSchedules, schedule],
  handle: (ctx) => show(ctx, ctx.schedule.id),
  returns: PipelineScheduleDetail,
})

export const createPipelineSchedule = operation({
  method: 'POST',
  path: '/projects/:id/pipeline_schedules',
  summary: 'Create a pipeline schedule',
  published: true,
  first: [signedIn],
  params: t.Object(fields),
  gates: [project, developer, writableRef],
  handle: async (ctx) => {
    const { db, actor, project, params, fullRef = '', now } = ctx
    const { description, cron, cron_timezone, active } = checkSchedule(params)
    const limit = await limitOf(db, project, 'ci_pipeline_schedules')
    if ((await schedules.lockAndCount(db, project.id)) >= limit) throw tooMany(limit)
    const timed = { cron, cron_timezone, active, next_run_at: nextRun({ cron, cron_timezone }, now) }
    const kept = { project_id: project.id, owner_id: actor.id, description, ref: fullRef, ...timed }
    const row = await schedules.insert(db, kept)
    await enqueueRun(db, row)
    return show(ctx, row.id)
  },
  returns: PipelineScheduleDetail,
  refuses: [invalid({ cron: BAD_CRON }), tooMany],
})

export const updatePipelineSchedule = operation({
  method: 'PUT',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id',
  summary: 'Change a pipeline schedule',
  published: true,
  first: [signedIn],
  params: t.Object(changesOf(fields)),
  gates: [project, seesSchedules, schedule, ownSchedule, writableRef],
  handle: async (ctx) => {
    const { db, schedule, fullRef, now } = ctx
    const given = checkSchedule(ctx.params)
    const { cron = schedule.cron, cron_timezone = schedule.cron_timezone, active = schedule.active } = given
    const isTimed =
      cron !== schedule.cron || cron_timezone !== schedule.cron_timezone || active !== schedule.active
    const row = await schedules.update(db, schedule, {
      ...given,
      ...(fullRef !== undefined && { ref: fullRef }),
      ...(isTimed && { next_run_at: nextRun({ cron, cron_timezone }, now) }),
    })
    if (isTimed) await enqueueRun(db, row)
    return show(ctx, row.id)
  },
  returns: PipelineScheduleDetail,
  refuses: [invalid({ cron: BAD_CRON })],
})

export const takePipelineScheduleOwnership = operation({
  method: 'POST',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/take_ownership',
  summary: 'Take ownership of a pipeline schedule',
  published: true,
  first: [signedIn],
  gates: [project, seesSchedules, schedule, managesSchedule],
  handle: async (ctx) => {
    const { db, actor, schedule } = ctx
    if (schedule.owner_id === actor.id) return new Answer(200, await show(ctx, schedule.id))
    await schedules.update(db, schedule, { owner_id: actor.id })
    return show(ctx, schedule.id)
  },
  returns: PipelineScheduleDetail,
  also: { 200: PipelineScheduleDetail },
})

export const deletePipelineSchedule = operation({
  method: 'DELETE',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id',
  summary: 'Delete a pipeline schedule; its pipelines stay',
  published: true,
  first: [signedIn],
  gates: [project, seesSchedules, schedule, managesSchedule],
  // In turn with what inserts pipelines: they are locked in the same order.
  handle: ({ db, project, schedule }) => inTurn(db, project.id, () => schedules.remove(db, schedule)),
  returns: nothing,
})

export const playPipelineSchedule = operation({
  method: 'POST',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/play',
  summary: 'Run a pipeline schedule at once, as the caller',
  published: true,
  first: [signedIn],
  gates: [project, seesSchedules, schedule, runsOnRef],
  handle: async ({ db, actor, schedule }) => {
    await enqueue(db, playSchedule, { id: schedule.id, user_id: actor.id })
    return { message: '201 Created' }
  },
  returns: t.Object({ message: t.String() }),
})
