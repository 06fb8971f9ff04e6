import { Type as t, type Static } from 'typebox'
import { projectEvenArchived as project, projectOwner, signedIn } from '../../access/gates/gates.ts'
import { createPendingProject } from '../../core/pushes/import_job.ts'
import { levelOf } from '../../core/sight/project_settings.ts'
import type { Project as Row } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { violates } from '../../db/errors.ts'
import { allows, type Actor, type Context, type Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { conflict, invalid, noSuchRecord, notFound, refused, type Problem } from '../../http/problems.ts'
import { mayReadCode } from '../../access/gates/gates.ts'
import { oneOf } from '../../http/params/schema.ts'
import { Project, presentRecord } from '../../records/places/full_project.ts'
import { FORK_VISIBILITY, TAKEN, isTaken } from './gates.ts'
import { findTargetNamespace, personalNamespace, limitFault } from '../../core/places/target_namespace.ts'
import { recordFor } from './record_store.ts'
import {
  bounded,
  faultsOf,
  limitText,
  mayFill,
  maySee,
  nameBoth,
  type TargetNamespace,
} from '../../core/places/project_rules.ts'
import { takenBy } from './store.ts'
import { transfer } from '../../core/places/project_transfer.ts'
import { VISIBILITIES, narrower } from '../../core/values/visibilities.ts'

type Here = Context & { readonly actor: Actor; readonly project: Row }

const shown = async (ctx: Here, id: number): Promise<Static<typeof Project>> =>
  presentRecord(await recordFor(ctx.db, ctx.actor, id), ctx, { signedIn: true, admin: ctx.actor.admin })

const notTransferred = (why: string): Problem =>
  refused(`Failed to transfer project {:new_namespace=>["${why}"]}`)
const NOT_ALLOWED = "You don't have permission to transfer projects into that namespace."
const IN_THE_WAY = 'Project with same name or path in target namespace already exists'

export const transferProject = operation({
  method: 'PUT',
  path: '/projects/:id/transfer',
  summary: 'Transfer a project into another namespace',
  published: true,
  first: [signedIn],
  params: t.Object({
    namespace: t.String({ description: 'The id or the full path of a group or a personal namespace' }),
  }),
  gates: [project, projectOwner],
  handle: async (ctx) => {
    const { db, actor, project, params } = ctx
    const home = await findTargetNamespace(db, actor, params.namespace)
    if (home === undefined || !maySee(actor, home)) throw notFound('Namespace')
    if (home.id === project.namespace_id) throw notTransferred('Project is already in this namespace.')
    if (!mayFill(actor, home)) throw notTransferred(NOT_ALLOWED)
    const visibility = bounded(home, project.visibility)
    await transfer(db, { id: project.id, namespace_id: home.id, visibility }).catch((error: unknown) => {
      throw isTaken(error) ? notTransferred(IN_THE_WAY) : error
    })
    return shown(ctx, project.id)
  },
  returns: Project,
  refuses: [notFound('Namespace'), notTransferred(NOT_ALLOWED)],
})

const forks = allows({
  says: 'the right to read code; forking is enabled',
  refuses: noSuchRecord,
  holds: ({ actor, project }: Has<{ project: Row }>) => {
    const level = levelOf(project, 'forking')
    const belongs = actor?.admin === true || project.role >= ROLES.guest
    return mayReadCode(actor, project) && (level === 'enabled' || (level === 'private' && belongs))
  },
})

const forkParams = t.Object({
  namespace: t.Optional(
    t.String({ deprecated: true, description: 'Deprecated: namespace_id or namespace_path' }),
  ),
  namespace_id: t.Optional(t.Integer()),
  namespace_path: t.Optional(t.String()),
  path: t.Optional(t.String({ maxLength: 1_000 })),
  name: t.Optional(t.String({ maxLength: 1_000 })),
  description: t.Optional(t.String({ maxLength: 10_000 })),
  visibility: t.Optional(oneOf(VISIBILITIES)),
  mr_default_target_self: t.Optional(t.Boolean()),
})
type ForkCtx = Has<{ actor: Actor; project: Row; params: Static<typeof forkParams> }>

const noTarget = (): Problem => notFound('Target Namespace')
const limitReached = (text: string): Problem => conflict({ limit_reached: [text] })
const forked = (): Problem => conflict({ name: TAKEN, path: TAKEN })

async function targetOf({ db, actor, params }: ForkCtx): Promise<TargetNamespace> {
  const ref = params.namespace_id ?? params.namespace_path ?? params.namespace
  const home = await (ref === undefined
    ? personalNamespace(db, actor, actor.id)
    : findTargetNamespace(db, actor, ref))
  if (home === undefined || !mayFill(actor, home)) throw noTarget()
  return home
}

export const forkProject = operation({
  method: 'POST',
  path: '/projects/:id/fork',
  summary: 'Fork a project; its repository is copied after the answer',
  published: true,
  moves: 'refs',
  first: [signedIn],
  params: forkParams,
  gates: [project, forks],
  handle: async (ctx) => {
    const { db, actor, project, params } = ctx
    const home = await targetOf(ctx)
    const named =
      (params.name ?? params.path) === undefined
        ? { name: project.name, path: project.path }
        : nameBoth({ name: params.name ?? project.name, path: params.path ?? project.path })
    const faults = faultsOf({ ...named, description: params.description })
    if (Object.keys(faults).length > 0) throw invalid(faults)
    const limited = await limitFault(db, home)
    if (limited !== undefined) throw limitReached(limited)
    const place = { namespace_id: home.id, name: named.name, full_path: `${home.full_path}/${named.path}` }
    const taken = await takenBy(db, 0, place)
    if (taken.name || taken.path)
      throw conflict({ ...(taken.name && { name: TAKEN }), ...(taken.path && { path: TAKEN }) })
    const wanted = params.visibility ?? project.visibility
    const row = await createPendingProject(
      ctx,
      {
        ...named,
        namespace: home,
        creator_id: actor.id,
        // Never wider than where it comes from.
        visibility: bounded(home, narrower(wanted, project.visibility)),
        description: params.description ?? project.description,
        topics: project.topics,
        settings: {
          ...project.settings,
          ...(params.mr_default_target_self !== undefined && {
            mr_default_target_self: params.mr_default_target_self,
          }),
        },
        repository_access_level: project.repository_access_level,
        forked_from_project_id: project.id,
      },
      { kind: 'fork', projectId: project.id },
    ).catch(async (error: unknown) => {
      // The source became less visible since it was read.
      if (violates(error, FORK_VISIBILITY)) throw conflict()
      if (violates(error, 'projects_limit')) throw limitReached((await limitFault(db, home)) ?? limitText(0))
      throw isTaken(error) ? forked() : error
    })
    return shown(ctx, row.id)
  },
  returns: Project,
  refuses: [noTarget, forked, limitReached(limitText(1))],
})
