import type { Namespace, Project } from '../../src/db/schema/tables.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

/** Operations of groups beside lists and reads. */
export const groups: Calls = {
  inPrivate: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  createGroup                   201 201 201 201 201 201 201 201 201 201 401
  updateGroup                   404 404 403 403 403 403 403 403 200 200 401
  deleteGroup                   404 404 403 403 403 403 403 403 202 202 401
  listSubgroups                 404 404 200 200 200 200 200 200 200 200 404
  listDescendantGroups          404 404 200 200 200 200 200 200 200 200 404
  listGroupsSharedWithGroup     404 404 200 200 200 200 200 200 200 200 404
  listInvitedGroups             404 404 200 200 200 200 200 200 200 200 404
  listProjectsSharedWithGroup   404 404 200 200 200 200 200 200 200 200 404
  shareGroup                    404 404 403 403 403 403 403 403 201 201 401
  unshareGroup                  404 404 403 403 403 403 403 403 204 204 401
  transferGroup                 404 404 403 403 403 403 403 403 201 201 401
  listGroupTransferLocations    404 404 403 403 403 403 403 403 200 200 404
  addProjectToGroup             403 403 403 403 403 403 403 403 403 201 401
  listGroupCustomAttributes     404 404 403 403 403 403 403 403 403 200 401
  getGroupCustomAttribute       404 404 403 403 403 403 403 403 403 200 401
  setGroupCustomAttribute       404 404 403 403 403 403 403 403 403 200 401
  deleteGroupCustomAttribute    404 404 403 403 403 403 403 403 403 204 401
`,
  inPublic: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  updateGroup                   403 403 403 403 403 403 403 403 200 200 401
  deleteGroup                   403 403 403 403 403 403 403 403 202 202 401
  listSubgroups                 200 200 200 200 200 200 200 200 200 200 200
  listDescendantGroups          200 200 200 200 200 200 200 200 200 200 200
  listGroupsSharedWithGroup     200 200 200 200 200 200 200 200 200 200 200
  listInvitedGroups             200 200 200 200 200 200 200 200 200 200 200
  listProjectsSharedWithGroup   200 200 200 200 200 200 200 200 200 200 200
  shareGroup                    403 403 403 403 403 403 403 403 201 201 401
  unshareGroup                  403 403 403 403 403 403 403 403 204 204 401
  transferGroup                 403 403 403 403 403 403 403 403 201 201 401
  listGroupTransferLocations    403 403 403 403 403 403 403 403 200 200 401
  listGroupCustomAttributes     403 403 403 403 403 403 403 403 403 200 401
  getGroupCustomAttribute       403 403 403 403 403 403 403 403 403 200 401
  setGroupCustomAttribute       403 403 403 403 403 403 403 403 403 200 401
  deleteGroupCustomAttribute    403 403 403 403 403 403 403 403 403 204 401
`,
  bodies: {
    setGroupCustomAttribute: { value: 'fresh' },
    createGroup: ({ group }) => ({ name: 'fresh', path: `fresh-${group.id}` }),
    updateGroup: { description: 'changed' },
    shareGroup: (scene) => ({ group_id: invited.get(scene) ?? 0, group_access: 30 }),
  },
  set: async (world, scene, operation) => {
    const { group } = scene
    await world.make.sql(`
      delete from namespaces where path in ('fresh-${group.id}', 'spare-${group.id}');
      update namespaces set description = '', custom_attributes = '{"known": "as it is"}' where id = ${group.id};
      delete from group_group_links where shared_group_id = ${group.id};`)
    const guest = await guestGroup(world, scene)
    if (operation === 'unshareGroup')
      await world.make.sql(
        `insert into group_group_links (shared_group_id, shared_with_group_id, group_access)
         values (${group.id}, ${guest}, 30)`,
      )
    const goes = operation === 'deleteGroup' || operation === 'transferGroup'
    const project_id = operation === 'addProjectToGroup' ? await strayProject(world) : 0
    return {
      key: 'known',
      group_id: String(guest),
      project_id: String(project_id),
      ...(goes && { id: String(await spareGroup(world, scene)) }),
    }
  },
}

const invited = new WeakMap<Scene, number>()

/** A public group, the same one for a scene each time. */
async function guestGroup(world: World, scene: Scene): Promise<number> {
  const known = invited.get(scene) ?? (await world.make.group({ visibility: 'public' })).id
  invited.set(scene, known)
  return known
}

const strays = new WeakMap<World, { readonly home: Namespace; readonly project: Project }>()

/** A project at home in a group of its own: the same one for all scenes, as whoever moves it sees every project. */
async function strayProject(world: World): Promise<number> {
  const home = strays.get(world)?.home ?? (await world.make.group({ visibility: 'public' }))
  const project = strays.get(world)?.project ?? (await world.make.project({ group: home }))
  strays.set(world, { home, project })
  await world.make.sql(`update projects set namespace_id = ${home.id}, full_path = '${project.full_path}'
    where id = ${project.id}`)
  return project.id
}

/** A group that the scene can do without, in one of its own, with the same members as the scene's. */
async function spareGroup({ make }: World, { group }: Scene): Promise<number> {
  const holder = await make.group({ visibility: group.visibility })
  const { id } = await make.group({
    parent: holder,
    visibility: group.visibility,
    path: `spare-${group.id}`,
  })
  await make.sql(`
    insert into members (user_id, namespace_id, access_level)
    select user_id, ${id}, access_level from members where namespace_id = ${group.id}`)
  return id
}
