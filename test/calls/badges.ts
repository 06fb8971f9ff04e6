import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

const urls = { link_url: 'https://a.example/%{project_path}', image_url: 'https://a.example/i.svg' }

/** Badges of projects and of groups. */
export const badges: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listBadges                 404 404 404 200 200 200 200 200 200 200 404
  getBadge                   404 404 404 200 200 200 200 200 200 200 404
  renderBadge                404 404 404 403 403 403 403 200 200 200 401
  createBadge                404 404 404 403 403 403 403 201 201 201 401
  updateBadge                404 404 404 403 403 403 403 200 200 200 401
  deleteBadge                404 404 404 403 403 403 403 204 204 204 401
  listGroupBadges            404 404 403 200 200 200 200 200 200 200 404
  getGroupBadge              404 404 403 200 200 200 200 200 200 200 404
  renderGroupBadge           404 404 403 403 403 403 403 403 200 200 401
  createGroupBadge           404 404 403 403 403 403 403 403 201 201 401
  updateGroupBadge           404 404 403 403 403 403 403 403 200 200 401
  deleteGroupBadge           404 404 403 403 403 403 403 403 204 204 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listBadges                 200 200 200 200 200 200 200 200 200 200 200
  getBadge                   200 200 200 200 200 200 200 200 200 200 200
  renderBadge                403 403 403 403 403 403 403 200 200 200 401
  createBadge                403 403 403 403 403 403 403 201 201 201 401
  updateBadge                403 403 403 403 403 403 403 200 200 200 401
  deleteBadge                403 403 403 403 403 403 403 204 204 204 401
  listGroupBadges            200 200 200 200 200 200 200 200 200 200 200
  getGroupBadge              200 200 200 200 200 200 200 200 200 200 200
  renderGroupBadge           403 403 403 403 403 403 403 403 200 200 401
  createGroupBadge           403 403 403 403 403 403 403 403 201 201 401
  updateGroupBadge           403 403 403 403 403 403 403 403 200 200 401
  deleteGroupBadge           403 403 403 403 403 403 403 403 204 204 401
`,
  bodies: {
    createBadge: urls,
    createGroupBadge: urls,
    updateBadge: { name: 'changed' },
    updateGroupBadge: { name: 'changed' },
  },
  queries: { renderBadge: urls, renderGroupBadge: urls },
  set: async (world, { group, project }, operation) => {
    const inGroup = operation.includes('Group')
    const owner = inGroup ? `group_id` : 'project_id'
    const id = inGroup ? group.id : project.id
    await world.make.sql(`
      delete from badges where project_id = ${project.id} or group_id = ${group.id};
      insert into badges (${owner}, link_url, image_url) values (${id}, 'https://a.example', 'https://a.example')`)
    const badge = await rowOf<{ id: number }>(world, `select id from badges where ${owner} = $1`, [id])
    return { badge_id: String(badge.id) }
  },
}
