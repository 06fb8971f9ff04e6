import { randomBytes } from 'node:crypto'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

const fresh = (): string => `fresh-${randomBytes(4).toString('hex')}`

/** Of each scene, the id of a group that is everybody's to see and that its owner owns too. */
const strangers = new WeakMap<Scene, number>()

async function strangerOf({ make }: World, scene: Scene): Promise<number> {
  const { group, callers } = scene
  const known = strangers.get(scene)
  if (known !== undefined) return known
  const { id } = await make.group({ visibility: 'public', path: `${group.path}-harbour` })
  const owner = callers.get('owner')
  if (owner) await make.member(owner, 'owner', { group: { id } })
  strangers.set(scene, id)
  return id
}

/** Projects. Whoever writes does so in one that was made for the call. */
export const projects: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listProjects               200 200 200 200 200 200 200 200 200 200 200
  listUserProjects           200 200 200 200 200 200 200 200 200 200 200
  listUserStarredProjects    200 200 200 200 200 200 200 200 200 200 200
  listProjectForks           404 404 404 200 200 200 200 200 200 200 404
  getProject                 404 404 404 200 200 200 200 200 200 200 404
  getProjectLanguages        404 404 404 403 403 200 200 200 200 200 404
  listProjectGroups          404 404 404 200 200 200 200 200 200 200 404
  createProject              400 400 400 400 400 400 201 201 201 201 401
  createUserProject          403 403 403 403 403 403 403 403 403 201 401
  updateProject              404 404 404 403 403 403 403 200 200 200 401
  deleteProject              404 404 404 403 403 403 403 403 202 202 401
  archiveProject             404 404 404 403 403 403 403 403 201 201 401
  unarchiveProject           404 404 404 403 403 403 403 403 201 201 401
  starProject                404 404 404 201 201 201 201 201 201 201 401
  unstarProject              404 404 404 201 201 201 201 201 201 201 401
  forkProject                404 404 404 404 404 201 201 201 201 201 401
  transferProject            404 404 404 403 403 403 403 403 200 200 401
  shareProject               404 404 404 403 403 403 403 201 201 201 401
  unshareProject             404 404 404 403 403 403 403 204 204 204 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listProjectForks           200 200 200 200 200 200 200 200 200 200 200
  getProject                 200 200 200 200 200 200 200 200 200 200 200
  getProjectLanguages        200 200 200 200 200 200 200 200 200 200 200
  listProjectGroups          200 200 200 200 200 200 200 200 200 200 200
  updateProject              403 403 403 403 403 403 403 200 200 200 401
  deleteProject              403 403 403 403 403 403 403 403 202 202 401
  archiveProject             403 403 403 403 403 403 403 403 201 201 401
  unarchiveProject           403 403 403 403 403 403 403 403 201 201 401
  starProject                201 201 201 201 201 201 201 201 201 201 401
  unstarProject              201 201 201 201 201 201 201 201 201 201 401
  forkProject                201 201 201 201 201 201 201 201 201 201 401
  transferProject            403 403 403 403 403 403 403 403 200 200 401
  shareProject               403 403 403 403 403 403 403 201 201 201 401
  unshareProject             403 403 403 403 403 403 403 204 204 204 401
`,
  bodies: {
    createProject: ({ group }) => ({ name: fresh(), namespace_id: group.id }),
    createUserProject: () => ({ name: fresh() }),
    updateProject: () => ({ description: fresh() }),
    forkProject: () => ({ name: fresh(), path: fresh() }),
    transferProject: ({ group }) => ({ namespace: `${group.path}-harbour` }),
    shareProject: (scene) => ({ group_id: strangers.get(scene), group_access: 20 }),
  },
  set: async (world, scene, operation) => {
    const { group, project, callers } = scene
    const group_id = String(await strangerOf(world, scene))
    const user_id = String(callers.get('owner')?.id)
    if (operation.startsWith('list') || operation.startsWith('get')) return { user_id }
    await world.make.sql(
      `delete from projects where namespace_id in (${group.id}, ${group_id}) and path = 'stage'`,
    )
    const { id } = await world.make.project({ group, visibility: project.visibility, path: 'stage' })
    if (operation === 'unarchiveProject')
      await world.make.sql(`update projects set archived = true where id = ${id}`)
    if (operation === 'unstarProject')
      await world.make.sql(`insert into project_stars (user_id, project_id) select id, ${id} from users`)
    if (operation === 'unshareProject')
      await world.make.sql(
        `insert into project_group_links (project_id, group_id, group_access) values (${id}, ${group_id}, 20)`,
      )
    return { id: String(id), user_id, group_id }
  },
}
