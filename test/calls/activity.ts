import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Acts of users, as events of their own, of a user and of a project. */
export const activity: Calls = {
  inPrivate: `
                     none   0   5  10  15  20  30  40  50 adm nobody
  listEvents          200 200 200 200 200 200 200 200 200 200 401
  listEventsOfUser    200 200 200 200 200 200 200 200 200 200 200
  listProjectEvents   404 404 404 200 200 200 200 200 200 200 404
`,
  inPublic: `
                     none   0   5  10  15  20  30  40  50 adm nobody
  listProjectEvents   200 200 200 200 200 200 200 200 200 200 200
`,
  set: async (world, scene, operation) => {
    const owner = scene.callers.get('owner')
    await world.make.sql(`
      delete from events where project_id = ${scene.project.id};
      insert into events (kind, action, activity, author_id, project_id, target_type)
      values ('member', 'user_add_to_team', 'joined', ${owner?.id}, ${scene.project.id}, null)`)
    const { id } = await rowOf<{ id: number }>(world, 'select id from users where id = $1', [owner?.id])
    return operation === 'listEventsOfUser' ? { id: String(id) } : {}
  },
}
