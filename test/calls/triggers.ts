import { digestOf } from '../../src/access/tokens.ts'
import { writeConfig } from '../support/config_commit.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

const body = { description: 'nightly' }

const tokenOf = ({ id }: { readonly id: number }): string => `glptt-${id}`

/** Trigger tokens. The token in the path belongs to the maintainer: only its owner may change it. */
export const triggers: Calls = {
  inPrivate: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listTriggerTokens        404 404 404 403 403 403 403 200 200 200 401
  getTriggerToken          404 404 404 403 403 403 403 200 200 200 401
  createTriggerToken       404 404 404 403 403 403 403 201 201 201 401
  updateTriggerToken       404 404 404 403 403 403 403 200 403 403 401
  deleteTriggerToken       404 404 404 403 403 403 403 204 204 204 401
  createTriggeredPipeline  201 201 201 201 201 201 201 201 201 201 201
  createTriggeredPipelineOnRef 201 201 201 201 201 201 201 201 201 201 201
`,
  inPublic: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listTriggerTokens        403 403 403 403 403 403 403 200 200 200 401
  getTriggerToken          403 403 403 403 403 403 403 200 200 200 401
  createTriggerToken       403 403 403 403 403 403 403 201 201 201 401
  updateTriggerToken       403 403 403 403 403 403 403 200 403 403 401
  deleteTriggerToken       403 403 403 403 403 403 403 204 204 204 401
  createTriggeredPipeline  201 201 201 201 201 201 201 201 201 201 201
  createTriggeredPipelineOnRef 201 201 201 201 201 201 201 201 201 201 201
`,
  bodies: {
    createTriggerToken: body,
    updateTriggerToken: body,
    createTriggeredPipeline: ({ project }) => ({ token: tokenOf(project), ref: 'ci' }),
    createTriggeredPipelineOnRef: ({ project }) => ({ token: tokenOf(project) }),
  },
  set: async (world, scene) => {
    const token = tokenOf(scene.project)
    writeConfig(world, scene.project, 'build: { script: make }\n')
    const { vault } = world.opened.instance
    await rowsOf(world, 'delete from trigger_tokens where project_id = $1', [scene.project.id])
    const row = await rowOf<{ id: number }>(
      world,
      `insert into trigger_tokens (project_id, owner_id, description, digest, sealed)
       values ($1, $2, 'known', $3, $4) returning id`,
      [scene.project.id, scene.callers.get('maintainer')?.id, digestOf(token), vault.seal(token)],
    )
    return { trigger_id: String(row.id), ref: 'ci' }
  },
}
