import { Type as t } from 'typebox'
import { project, signedIn } from '../../access/gates/gates.ts'
import { seesSchedules } from '../../access/gates/pipeline_gates.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { oneOf, timestamp } from '../../http/params/schema.ts'
import { Pipeline, presentPipeline } from '../../records/pipelines/pipeline.ts'
import { schedule } from './gates.ts'
import { listPipelines } from './pipeline_store.ts'

const STATUSES = [
  ...(['created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending'] as const),
  ...(['running', 'canceling', 'success', 'failed', 'canceled', 'skipped', 'manual', 'scheduled'] as const),
] as const

export const listSchedulePipelines = operation({
  method: 'GET',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines',
  summary: 'List the pipelines that a schedule started',
  published: true,
  first: [signedIn],
  params: t.Object({
    scope: t.Optional(oneOf(['running', 'pending', 'finished', 'branches', 'tags'])),
    status: t.Optional(oneOf(STATUSES)),
    updated_before: t.Optional(timestamp()),
    updated_after: t.Optional(timestamp()),
    created_before: t.Optional(timestamp()),
    created_after: t.Optional(timestamp()),
    sort: oneOf(['asc', 'desc'], { default: 'asc' }),
  }),
  gates: [project, seesSchedules, schedule],
  handle: async (ctx) => {
    const { db, project, schedule, params, page } = ctx
    const { scope = null, status = null, sort } = params
    const {
      updated_before = null,
      updated_after = null,
      created_before = null,
      created_after = null,
    } = params
    const found = await listPipelines(
      db,
      { scope, desc: sort === 'desc' },
      {
        schedule_id: schedule.id,
        status,
        updated_before,
        updated_after,
        created_before,
        created_after,
        limit: page.limit,
        offset: page.offset,
      },
    )
    return presentPage(found, (row) => presentPipeline(row, project, ctx))
  },
  returns: pageOf(Pipeline),
})
