import { writeConfig } from '../support/config_commit.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

const body = { description: 'nightly', ref: 'ci', cron: '0 2 * * *' }

/** Pipeline schedules. The one in the path belongs to the developer, with a variable. */
export const pipelineSchedules: Calls = {
  inPrivate: `
                                  none   0   5  10  15  20  30  40  50 adm nobody
  listPipelineSchedules            404 404 404 403 403 200 200 200 200 200 401
  getPipelineSchedule              404 404 404 404 404 200 200 200 200 200 401
  createPipelineSchedule           404 404 404 403 403 403 201 201 201 201 401
  updatePipelineSchedule           404 404 404 404 404 403 200 403 403 200 401
  deletePipelineSchedule           404 404 404 404 404 403 204 204 204 204 401
  takePipelineScheduleOwnership    404 404 404 404 404 403 200 201 201 201 401
  playPipelineSchedule             404 404 404 404 404 403 201 201 201 201 401
  listSchedulePipelines            404 404 404 404 404 200 200 200 200 200 401
  createPipelineScheduleVariable   404 404 404 404 404 403 201 403 403 201 401
  updatePipelineScheduleVariable   404 404 404 404 404 403 200 403 403 200 401
  deletePipelineScheduleVariable   404 404 404 404 404 403 202 202 202 202 401
`,
  inPublic: `
                                  none   0   5  10  15  20  30  40  50 adm nobody
  listPipelineSchedules            200 200 200 200 200 200 200 200 200 200 401
  getPipelineSchedule              200 200 200 200 200 200 200 200 200 200 401
  createPipelineSchedule           403 403 403 403 403 403 201 201 201 201 401
  updatePipelineSchedule           403 403 403 403 403 403 200 403 403 200 401
  deletePipelineSchedule           403 403 403 403 403 403 204 204 204 204 401
  takePipelineScheduleOwnership    403 403 403 403 403 403 200 201 201 201 401
  playPipelineSchedule             403 403 403 403 403 403 201 201 201 201 401
  listSchedulePipelines            200 200 200 200 200 200 200 200 200 200 401
  createPipelineScheduleVariable   403 403 403 403 403 403 201 403 403 201 401
  updatePipelineScheduleVariable   403 403 403 403 403 403 200 403 403 200 401
  deletePipelineScheduleVariable   403 403 403 403 403 403 202 202 202 202 401
`,
  bodies: {
    createPipelineSchedule: body,
    updatePipelineSchedule: body,
    createPipelineScheduleVariable: { key: 'ANOTHER', value: 'x' },
    updatePipelineScheduleVariable: { value: 'x' },
  },
  set: async (world, { project, callers }) => {
    writeConfig(world, project, 'build: { script: make }\n')
    const { vault } = world.opened.instance
    await rowsOf(world, 'delete from pipeline_schedules where project_id = $1', [project.id])
    const row = await rowOf<{ id: number }>(
      world,
      `with made as (
         insert into pipeline_schedules (project_id, owner_id, description, ref, cron, cron_timezone, next_run_at)
         values ($1, $2, 'nightly', 'refs/heads/ci', '0 1 * * *', 'UTC', now() + interval '1 day') returning id)
       insert into pipeline_schedule_variables (schedule_id, key, sealed_value) select id, 'KNOWN', $3 from made
       returning schedule_id as id`,
      [project.id, callers.get('developer')?.id, vault.seal('value')],
    )
    return { pipeline_schedule_id: String(row.id), key: 'KNOWN' }
  },
}
