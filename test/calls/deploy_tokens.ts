import { digestOf } from '../../src/access/tokens.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

const fresh = { name: 'fresh', scopes: ['read_repository'] }

/** Deploy tokens of the instance, of groups and of projects. */
export const deployTokens: Calls = {
  inPrivate: `
                             none   0   5  10  15  20  30  40  50 adm nobody
  listDeployTokens           403 403 403 403 403 403 403 403 403 200 401
  listProjectDeployTokens    404 404 404 403 403 403 403 200 200 200 404
  getProjectDeployToken      404 404 404 403 403 403 403 200 200 200 404
  createProjectDeployToken   404 404 404 403 403 403 403 201 201 201 404
  deleteProjectDeployToken   404 404 404 403 403 403 403 204 204 204 404
  listGroupDeployTokens      404 404 403 403 403 403 403 200 200 200 404
  getGroupDeployToken        404 404 403 403 403 403 403 200 200 200 404
  createGroupDeployToken     404 404 403 403 403 403 403 403 201 201 404
  deleteGroupDeployToken     404 404 403 403 403 403 403 403 204 204 404
`,
  inPublic: `
                             none   0   5  10  15  20  30  40  50 adm nobody
  listProjectDeployTokens    403 403 403 403 403 403 403 200 200 200 403
  getProjectDeployToken      403 403 403 403 403 403 403 200 200 200 403
  createProjectDeployToken   403 403 403 403 403 403 403 201 201 201 403
  deleteProjectDeployToken   403 403 403 403 403 403 403 204 204 204 403
  listGroupDeployTokens      403 403 403 403 403 403 403 200 200 200 403
  getGroupDeployToken        403 403 403 403 403 403 403 200 200 200 403
  createGroupDeployToken     403 403 403 403 403 403 403 403 201 201 403
  deleteGroupDeployToken     403 403 403 403 403 403 403 403 204 204 403
`,
  bodies: { createProjectDeployToken: fresh, createGroupDeployToken: fresh },
  set: async (world, { group, project }, operation) => {
    const [groupId, projectId] = operation.includes('Group') ? [group.id, null] : [null, project.id]
    await rowsOf(world, 'delete from deploy_tokens where project_id = $1 or namespace_id = $2', [
      project.id,
      group.id,
    ])
    const { id } = await rowOf<{ id: number }>(
      world,
      `insert into deploy_tokens (project_id, namespace_id, name, username, digest, scopes)
       values ($1, $2, 'known', 'known', $3, '{read_repository}') returning id`,
      [projectId, groupId, digestOf(`gldt-known-${project.id}`)],
    )
    return { token_id: String(id), id: String(groupId ?? projectId) }
  },
}
