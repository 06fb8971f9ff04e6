import { Type as t } from 'typebox'
import { anyone, projectEvenArchived as project, projectOwner, signedIn } from '../../access/gates/gates.ts'
import type { Project as Row } from '../../core/places/projects.ts'
import { removeProject } from '../../core/places/project_removal.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { Answer, operation } from '../../http/operation.ts'
import { Project, presentRecord } from '../../records/places/full_project.ts'
import { withCommitCount } from './commit_counts.ts'
import { recordFor } from './record_store.ts'
import { archive, star, unstar } from './store.ts'
import type { Static } from 'typebox'

export { createProject, createUserProject } from './create_operations.ts'
export {
  listProjectForks,
  listProjects,
  listUserProjects,
  listUserStarredProjects,
} from './list_operations.ts'
export { getProjectLanguages, listProjectGroups } from './content_operations.ts'
export { forkProject, transferProject } from './move_operations.ts'
export { shareProject, unshareProject } from './share_operations.ts'
export { updateProject } from './update_operations.ts'

type Here = Context & { readonly actor: Actor; readonly project: Row }

/** The project as it is now. */
const shown = async (ctx: Here): Promise<Static<typeof Project>> =>
  presentRecord(await recordFor(ctx.db, ctx.actor, ctx.project.id), ctx, {
    signedIn: true,
    admin: ctx.actor.admin,
  })

export const getProject = operation({
  method: 'GET',
  path: '/projects/:id',
  summary: 'Get a project',
  published: true,
  params: t.Object({
    statistics: t.Boolean({ default: false, description: 'For Reporters and above' }),
    license: t.Boolean({ default: false }),
    with_custom_attributes: t.Boolean({ default: false, description: 'For administrators' }),
  }),
  gates: [project, anyone],
  handle: async (ctx) => {
    const { db, git, actor, project, params } = ctx
    const admin = actor?.admin === true
    const record = await recordFor(db, actor, project.id)
    const shown = presentRecord(record, ctx, {
      signedIn: actor !== null,
      admin,
      statistics: params.statistics,
      license: params.license,
      customAttributes: admin && params.with_custom_attributes,
    })
    return withCommitCount(git, record, shown)
  },
  returns: Project,
})

const Accepted = t.Object({ message: t.String() })

export const deleteProject = operation({
  method: 'DELETE',
  path: '/projects/:id',
  summary: 'Delete a project',
  published: true,
  moves: 'rows',
  first: [signedIn],
  gates: [project, projectOwner],
  handle: async (ctx) => {
    await ctx.transact(ctx, ({ db, project, actor }) => removeProject(db, project.id, actor.id))
    return new Answer(202, { message: '202 Accepted' })
  },
  returns: Accepted,
  status: 202,
})

export const archiveProject = operation({
  method: 'POST',
  path: '/projects/:id/archive',
  summary: 'Archive a project: it becomes read-only',
  published: true,
  first: [signedIn],
  gates: [project, projectOwner],
  handle: async (ctx) => {
    await archive(ctx.db, ctx.project.id, true)
    return shown(ctx)
  },
  returns: Project,
})

export const unarchiveProject = operation({
  method: 'POST',
  path: '/projects/:id/unarchive',
  summary: 'Unarchive a project',
  published: true,
  first: [signedIn],
  gates: [project, projectOwner],
  handle: async (ctx) => {
    await archive(ctx.db, ctx.project.id, false)
    return shown(ctx)
  },
  returns: Project,
})

export const starProject = operation({
  method: 'POST',
  path: '/projects/:id/star',
  summary: 'Star a project',
  published: true,
  first: [signedIn],
  gates: [project],
  handle: async (ctx) => ((await star(ctx.db, ctx.project.id, ctx.actor.id)) ? shown(ctx) : new Answer(304)),
  returns: Project,
  also: { 304: null },
})

export const unstarProject = operation({
  method: 'POST',
  path: '/projects/:id/unstar',
  summary: 'Unstar a project',
  published: true,
  first: [signedIn],
  gates: [project],
  handle: async (ctx) =>
    (await unstar(ctx.db, ctx.project.id, ctx.actor.id)) ? shown(ctx) : new Answer(304),
  returns: Project,
  also: { 304: null },
})
