import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Freeze periods of projects. */
export const freezePeriods: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listFreezePeriods          404 404 404 403 403 200 200 200 200 200 401
  getFreezePeriod            404 404 404 403 403 200 200 200 200 200 401
  createFreezePeriod         404 404 404 403 403 403 403 201 201 201 401
  updateFreezePeriod         404 404 404 403 403 403 403 200 200 200 401
  deleteFreezePeriod         404 404 404 403 403 403 403 204 204 204 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listFreezePeriods          403 403 403 403 403 200 200 200 200 200 401
  getFreezePeriod            403 403 403 403 403 200 200 200 200 200 401
  createFreezePeriod         403 403 403 403 403 403 403 201 201 201 401
  updateFreezePeriod         403 403 403 403 403 403 403 200 200 200 401
  deleteFreezePeriod         403 403 403 403 403 403 403 204 204 204 401
`,
  bodies: {
    createFreezePeriod: { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1' },
    updateFreezePeriod: { freeze_end: '0 8 * * 1' },
  },
  set: async (world, { project }) => {
    await world.make.sql(`
      delete from freeze_periods where project_id = ${project.id};
      insert into freeze_periods (project_id, freeze_start, freeze_end, cron_timezone)
      values (${project.id}, '0 23 * * 5', '0 7 * * 1', 'UTC')`)
    const row = await rowOf<{ id: number }>(world, 'select id from freeze_periods where project_id = $1', [
      project.id,
    ])
    return { freeze_period_id: String(row.id) }
  },
}
