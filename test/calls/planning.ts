import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Milestones, iterations and epics. */
export const planning: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listMilestones             404 404 404 200 200 200 200 200 200 200 401
  getMilestone               404 404 404 200 200 200 200 200 200 200 401
  createMilestone            404 404 404 403 201 201 201 201 201 201 401
  updateMilestone            404 404 404 403 200 200 200 200 200 200 401
  deleteMilestone            404 404 404 403 204 204 204 204 204 204 401
  promoteMilestone           404 404 404 403 200 200 200 200 200 200 401
  listGroupMilestones        404 404 200 200 200 200 200 200 200 200 401
  getGroupMilestone          404 404 200 200 200 200 200 200 200 200 401
  createGroupMilestone       404 404 403 403 201 201 201 201 201 201 401
  updateGroupMilestone       404 404 403 403 200 200 200 200 200 200 401
  deleteGroupMilestone       404 404 403 403 204 204 204 204 204 204 401
  listMilestoneIssues              404 404 404 200 200 200 200 200 200 200 401
  listMilestoneMergeRequests       404 404 404 200 200 200 200 200 200 200 401
  listBurndownEvents               404 404 404 200 200 200 200 200 200 200 401
  listGroupMilestoneIssues         404 404 200 200 200 200 200 200 200 200 401
  listGroupMilestoneMergeRequests  404 404 200 200 200 200 200 200 200 200 401
  listGroupBurndownEvents          404 404 200 200 200 200 200 200 200 200 401
  listIterations             404 404 404 200 200 200 200 200 200 200 404
  listIterationsMisspelt     404 404 404 200 200 200 200 200 200 200 404
  listGroupIterations        404 404 200 200 200 200 200 200 200 200 404
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listMilestones             200 200 200 200 200 200 200 200 200 200 401
  getMilestone               200 200 200 200 200 200 200 200 200 200 401
  createMilestone            403 403 403 403 201 201 201 201 201 201 401
  updateMilestone            403 403 403 403 200 200 200 200 200 200 401
  deleteMilestone            403 403 403 403 204 204 204 204 204 204 401
  promoteMilestone           403 403 403 403 200 200 200 200 200 200 401
  listGroupMilestones        200 200 200 200 200 200 200 200 200 200 401
  getGroupMilestone          200 200 200 200 200 200 200 200 200 200 401
  createGroupMilestone       403 403 403 403 201 201 201 201 201 201 401
  updateGroupMilestone       403 403 403 403 200 200 200 200 200 200 401
  deleteGroupMilestone       403 403 403 403 204 204 204 204 204 204 401
  listMilestoneIssues              200 200 200 200 200 200 200 200 200 200 401
  listMilestoneMergeRequests       200 200 200 200 200 200 200 200 200 200 401
  listBurndownEvents               200 200 200 200 200 200 200 200 200 200 401
  listGroupMilestoneIssues         200 200 200 200 200 200 200 200 200 200 401
  listGroupMilestoneMergeRequests  200 200 200 200 200 200 200 200 200 200 401
  listGroupBurndownEvents          200 200 200 200 200 200 200 200 200 200 401
  listIterations             200 200 200 200 200 200 200 200 200 200 200
  listIterationsMisspelt     200 200 200 200 200 200 200 200 200 200 200
  listGroupIterations        200 200 200 200 200 200 200 200 200 200 200
`,
  bodies: {
    createMilestone: { title: 'fresh' },
    createGroupMilestone: { title: 'fresh' },
    updateMilestone: { state_event: 'close' },
    updateGroupMilestone: { state_event: 'close' },
  },
  set: async (world, { group, project }, operation) => {
    await world.make.sql(`
      update personal_access_tokens set revoked = false;
      delete from milestones where project_id = ${project.id} or group_id = ${group.id}`)
    const parent = operation.includes('Group') ? `group_id` : 'project_id'
    const milestone = await rowOf<{ id: number }>(
      world,
      `insert into milestones (iid, ${parent}, title) values (1000, $1, 'v1') returning id`,
      [operation.includes('Group') ? group.id : project.id],
    )
    return {
      milestone_id: String(milestone.id),
      ...(operation === 'listIterationsMisspelt' && { id: String(project.id) }),
    }
  },
}
