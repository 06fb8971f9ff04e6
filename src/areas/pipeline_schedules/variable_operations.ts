import { Type as t } from 'typebox'
import { project, signedIn } from '../../access/gates/gates.ts'
import { seesSchedules } from '../../access/gates/pipeline_gates.ts'
import { violates } from '../../db/errors.ts'
import { loads, type Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { notFound } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { ScheduleVariable, VARIABLE_TYPES, presentVariable, type ScheduleWithOwner } from './entity.ts'
import { managesSchedule, ownSchedule, schedule, setsVariables } from './gates.ts'
import { checkVariable, taken } from './rules.ts'
import * as schedules from './store.ts'

const scheduleVariable = loads({
  param: 'key',
  type: t.String(),
  as: 'variable',
  says: 'a variable of the schedule',
  missing: () => notFound('Pipeline Schedule Variable'),
  find: ({ db, schedule }: Has<{ schedule: ScheduleWithOwner }>, key) =>
    schedules.findVariable(db, { schedule_id: schedule.id, key }),
})

export const createPipelineScheduleVariable = operation({
  method: 'POST',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables',
  summary: 'Add a variable to a pipeline schedule',
  published: true,
  first: [signedIn],
  params: t.Object({
    key: t.String(),
    value: t.String(),
    variable_type: oneOf(VARIABLE_TYPES, { default: 'env_var' }),
  }),
  gates: [project, seesSchedules, schedule, setsVariables, ownSchedule],
  handle: async (ctx) => {
    const { db, vault, schedule, params } = ctx
    checkVariable(params)
    const { key, value, variable_type } = params
    const row = await schedules
      .insertVariable(db, { schedule_id: schedule.id, key, sealed_value: vault.seal(value), variable_type })
      .catch((error: unknown) => {
        throw violates(error, 'pipeline_schedule_variables_key') ? taken() : error
      })
    return presentVariable(row, ctx)
  },
  returns: ScheduleVariable,
  refuses: [taken],
})

export const updatePipelineScheduleVariable = operation({
  method: 'PUT',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key',
  summary: 'Change a variable of a pipeline schedule',
  published: true,
  first: [signedIn],
  params: t.Object({
    value: t.Optional(t.String()),
    variable_type: t.Optional(oneOf(VARIABLE_TYPES)),
  }),
  gates: [project, seesSchedules, schedule, setsVariables, ownSchedule, scheduleVariable],
  handle: async (ctx) => {
    const { db, vault, variable, params } = ctx
    const { value, variable_type } = params
    if (value !== undefined) checkVariable({ key: variable.key, value })
    const row = await schedules.updateVariable(db, variable, {
      ...(value !== undefined && { sealed_value: vault.seal(value) }),
      ...(variable_type !== undefined && { variable_type }),
    })
    return presentVariable(row, ctx)
  },
  returns: ScheduleVariable,
  refuses: [taken],
})

export const deletePipelineScheduleVariable = operation({
  method: 'DELETE',
  path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key',
  summary: 'Delete a variable of a pipeline schedule',
  published: true,
  first: [signedIn],
  gates: [project, seesSchedules, schedule, setsVariables, managesSchedule, scheduleVariable],
  handle: async (ctx) => {
    await schedules.removeVariable(ctx.db, ctx.variable)
    return presentVariable(ctx.variable, ctx)
  },
  returns: ScheduleVariable,
  status: 202,
})
