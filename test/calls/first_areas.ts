import { rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Groups, namespaces, labels of groups, aliases, limits, and what a caller asks about oneself. */
export const firstAreas: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listNamespaces             200 200 200 200 200 200 200 200 200 200 401
  getNamespace               404 404 200 200 200 200 200 200 200 200 401
  checkNamespaceExists       200 200 200 200 200 200 200 200 200 200 401
  listProjectAliases         403 403 403 403 403 403 403 403 403 200 401
  getProjectAlias            403 403 403 403 403 403 403 403 403 200 401
  createProjectAlias         403 403 403 403 403 403 403 403 403 201 401
  deleteProjectAlias         403 403 403 403 403 403 403 403 403 204 401
  getPlanLimits              403 403 403 403 403 403 403 403 403 200 401
  updatePlanLimits           403 403 403 403 403 403 403 403 403 200 401
  listGroupLabels            404 404 403 200 200 200 200 200 200 200 401
  getGroupLabel              404 404 403 200 200 200 200 200 200 200 401
  createGroupLabel           404 404 403 403 403 201 201 201 201 201 401
  updateGroupLabel           404 404 403 403 403 200 200 200 200 200 401
  updateGroupLabelByName     404 404 403 403 403 200 200 200 200 200 401
  deleteGroupLabel           404 404 403 403 403 204 204 204 204 204 401
  deleteGroupLabelByName     404 404 403 403 403 204 204 204 204 204 401
  subscribeToGroupLabel      404 404 403 201 201 201 201 201 201 201 401
  unsubscribeFromGroupLabel  404 404 403 201 201 201 201 201 201 201 401
  listGroups                 200 200 200 200 200 200 200 200 200 200 200
  getGroup                   404 404 200 200 200 200 200 200 200 200 404
  listGroupProjects          404 404 200 200 200 200 200 200 200 200 404
  getCurrentUser             200 200 200 200 200 200 200 200 200 200 401
  getMetadata                200 200 200 200 200 200 200 200 200 200 401
  getVersion                 200 200 200 200 200 200 200 200 200 200 401
  getPresentedToken          200 200 200 200 200 200 200 200 200 200 401
  listPersonalAccessTokens   200 200 200 200 200 200 200 200 200 200 401
  revokePresentedToken       204 204 204 204 204 204 204 204 204 204 401
  getPersonalAccessToken     401 401 401 401 401 401 401 401 200 200 401
  revokePersonalAccessToken  401 401 401 401 401 401 401 401 204 204 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listGroupLabels            200 200 200 200 200 200 200 200 200 200 401
  getGroupLabel              200 200 200 200 200 200 200 200 200 200 401
  createGroupLabel           403 403 403 403 403 201 201 201 201 201 401
  updateGroupLabel           403 403 403 403 403 200 200 200 200 200 401
  updateGroupLabelByName     403 403 403 403 403 200 200 200 200 200 401
  deleteGroupLabel           403 403 403 403 403 204 204 204 204 204 401
  deleteGroupLabelByName     403 403 403 403 403 204 204 204 204 204 401
  subscribeToGroupLabel      201 201 201 201 201 201 201 201 201 201 401
  unsubscribeFromGroupLabel  201 201 201 201 201 201 201 201 201 201 401
  getGroup                   200 200 200 200 200 200 200 200 200 200 200
  listGroupProjects          200 200 200 200 200 200 200 200 200 200 200
`,
  bodies: {
    createProjectAlias: ({ project }) => ({ name: `fresh-${project.id}`, project_id: project.id }),
    updatePlanLimits: { plan_name: 'default', dotenv_size: 1 },
    createGroupLabel: { name: 'fresh', color: 'red' },
    updateGroupLabel: { color: 'red' },
    updateGroupLabelByName: { name: 'bug', color: 'red' },
    deleteGroupLabelByName: { name: 'bug' },
  },
  set: async (world, { group, project, callers }, operation) => {
    const subscribed =
      operation === 'unsubscribeFromGroupLabel'
        ? `insert into label_subscriptions (label_id, user_id)
           select l.id, u.id from labels l, users u where l.group_id = ${group.id};`
        : ''
    await world.make.sql(`
      update personal_access_tokens set revoked = false, updated_at = created_at;
      update plan_limits set limits = '{}';
      delete from labels where group_id = ${group.id};
      delete from project_aliases where project_id = ${project.id};
      insert into project_aliases (project_id, name) values (${project.id}, 'known-${project.id}');
      insert into labels (group_id, title, color) values (${group.id}, 'bug', '#000000');
      ${subscribed}`)
    const [token] = await rowsOf<{ id: number }>(
      world,
      'select id from personal_access_tokens where user_id = $1',
      [callers.get('owner')?.id],
    )
    const [label] = await rowsOf<{ id: number }>(world, 'select id from labels where group_id = $1', [
      group.id,
    ])
    return {
      label_id: String(label?.id),
      name: `known-${project.id}`,
      namespace: 'anything',
      token_id: String(token?.id),
    }
  },
}
