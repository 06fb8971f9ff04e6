import { rowOf } from '../support/rows.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

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
  listGroupMilestones        404 404 403 200 200 200 200 200 200 200 401
  getGroupMilestone          404 404 403 200 200 200 200 200 200 200 401
  createGroupMilestone       404 404 403 403 201 201 201 201 201 201 401
  updateGroupMilestone       404 404 403 403 200 200 200 200 200 200 401
  deleteGroupMilestone       404 404 403 403 204 204 204 204 204 204 401
  listMilestoneIssues              404 404 404 200 200 200 200 200 200 200 401
  listMilestoneMergeRequests       404 404 404 200 200 200 200 200 200 200 401
  listBurndownEvents               404 404 404 200 200 200 200 200 200 200 401
  listGroupMilestoneIssues         404 404 403 200 200 200 200 200 200 200 401
  listGroupMilestoneMergeRequests  404 404 403 200 200 200 200 200 200 200 401
  listGroupBurndownEvents          404 404 403 200 200 200 200 200 200 200 401
  listIterations             404 404 404 200 200 200 200 200 200 200 404
  listIterationsMisspelt     404 404 404 200 200 200 200 200 200 200 404
  listGroupIterations        404 404 403 200 200 200 200 200 200 200 404
  listEpics                        404 404 200 200 200 200 200 200 200 200 404
  getEpic                          404 404 404 200 200 200 200 200 200 200 404
  createEpic                       404 404 403 403 201 201 201 201 201 201 401
  updateEpic                       404 404 403 403 200 200 200 200 200 200 401
  deleteEpic                       404 404 403 403 204 403 403 403 204 204 401
  listEpicIssues                   404 404 404 200 200 200 200 200 200 200 404
  addEpicIssue                     404 404 403 403 201 201 201 201 201 201 401
  removeEpicIssue                  404 404 403 403 200 200 200 200 200 200 401
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
  listEpics                        200 200 200 200 200 200 200 200 200 200 200
  getEpic                          200 200 200 200 200 200 200 200 200 200 200
  createEpic                       403 403 403 403 201 201 201 201 201 201 401
  updateEpic                       403 403 403 403 200 200 200 200 200 200 401
  deleteEpic                       403 403 403 403 204 403 403 403 204 204 401
  listEpicIssues                   200 200 200 200 200 200 200 200 200 200 200
  addEpicIssue                     403 403 403 403 201 201 201 201 201 201 401
  removeEpicIssue                  403 403 403 403 200 200 200 200 200 200 401
`,
  bodies: {
    createMilestone: { title: 'fresh' },
    createGroupMilestone: { title: 'fresh' },
    createEpic: { title: 'fresh' },
    updateEpic: { state_event: 'close' },
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
      ...(operation.includes('Epic') && (await epicIn(world, { group, project }, operation))),
      ...(operation === 'listIterationsMisspelt' && { id: String(project.id) }),
    }
  },
}

/** An epic of the group, and an issue of the project that is in it where it is to be taken out. */
async function epicIn(
  world: World,
  { group, project }: Pick<Scene, 'group' | 'project'>,
  operation: string,
): Promise<Readonly<Record<string, string>>> {
  await world.make.sql(`
    delete from epics where group_id = ${group.id};
    delete from issues where project_id = ${project.id}`)
  const epic = await rowOf<{ id: number }>(
    world,
    `insert into epics (iid, group_id, title) values (1000 + $1, $1, 'an epic') returning id`,
    [group.id],
  )
  const issue = await rowOf<{ id: number }>(
    world,
    `insert into issues (iid, project_id, title, epic_id) values (1000, $1, 'an issue', $2) returning id`,
    [project.id, operation === 'removeEpicIssue' ? epic.id : null],
  )
  return { epic_iid: String(1000 + group.id), issue_id: String(issue.id) }
}
