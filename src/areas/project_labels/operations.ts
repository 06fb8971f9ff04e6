import { Type as t } from 'typebox'
import { project, reporter, signedIn, unmodified } from '../../access/gates.ts'
import type { Project } from '../../core/projects.ts'
import { violates } from '../../db/errors.ts'
import type { Label } from '../../db/schema.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { nullable } from '../../http/schema.ts'
import {
  ProjectLabel,
  badLabel,
  checkLabel,
  labelDescription,
  labelExists,
  labelLocked,
  presentInProject,
  titleTaken,
  type LabelInProject,
} from '../../records/label.ts'
import { label, labelInReach, labelNamed, noLabel } from './gates.ts'
import * as labels from './store.ts'

export { promoteProjectLabel } from './promote_operations.ts'
export { subscribeToProjectLabel, unsubscribeFromProjectLabel } from './subscription_operations.ts'

const ancestors = {
  include_ancestor_groups: t.Optional(t.Boolean({ default: true })),
}

export const listProjectLabels = operation({
  method: 'GET',
  path: '/projects/:id/labels',
  summary: 'List the labels of a project',
  published: true,
  first: [signedIn],
  params: t.Object({
    with_counts: t.Optional(t.Boolean({ default: false })),
    search: t.Optional(t.String({ maxLength: 1_000, description: 'Part of the title or description' })),
    ...ancestors,
  }),
  gates: [project],
  handle: async (ctx) => {
    const { db, params, page } = ctx
    const found = await labels.listLabels(db, ctx, {
      ancestors: params.include_ancestor_groups ?? true,
      counts: params.with_counts ?? false,
      search: params.search ?? '',
      limit: page.size,
      offset: page.offset,
    })
    return { ...found, items: found.items.map(presentInProject) }
  },
  returns: pageOf(ProjectLabel),
})

export const getProjectLabel = operation({
  method: 'GET',
  path: '/projects/:id/labels/:label_id',
  summary: 'Get a label of a project',
  published: true,
  first: [signedIn],
  params: t.Object(ancestors),
  gates: [project, labelInReach],
  handle: async (ctx) => presentInProject(await labels.forCaller(ctx.db, ctx, ctx.label.id)),
  returns: ProjectLabel,
})

const priority = t.Optional(
  nullable(t.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'null takes it away' })),
)

export const createProjectLabel = operation({
  method: 'POST',
  path: '/projects/:id/labels',
  summary: 'Create a label in a project',
  published: true,
  first: [signedIn],
  params: t.Object({ name: t.String(), color: t.String(), description: labelDescription, priority }),
  gates: [project, reporter],
  handle: async (ctx) => {
    const { db, project, params } = ctx
    const { title, color } = checkLabel({ title: params.name, color: params.color })
    if (await labels.findByTitle(db, labels.reachOf(project, true), title)) throw labelExists()
    const row = await labels
      .insert(db, { project_id: project.id, title, color, description: params.description || null })
      .catch((error: unknown) => {
        throw violates(error, 'labels_project_title_once') ? labelExists() : error
      })
    if (row === undefined) throw new Error('a label was not inserted')
    if (typeof params.priority === 'number') await labels.prioritize(db, project.id, row.id, params.priority)
    return presentInProject(await labels.forCaller(db, ctx, row.id))
  },
  returns: ProjectLabel,
  refuses: [labelExists, badLabel],
})

const changes = {
  new_name: t.Optional(t.String()),
  color: t.Optional(t.String()),
  description: labelDescription,
  priority,
}
const atLeastOne = ['new_name', 'color', 'description', 'priority']
interface Changes {
  readonly new_name?: string
  readonly color?: string
  readonly description?: string | null
  readonly priority?: number | null
}
type Here = Context & { readonly actor: Actor; readonly project: Project }

async function change(ctx: Here, label: Label, to: Changes): Promise<LabelInProject> {
  const { db, project } = ctx
  const { title, color } = checkLabel({ title: to.new_name ?? label.title, color: to.color ?? label.color })
  const row = await labels
    .update(db, {
      project_id: project.id,
      id: label.id,
      title: to.new_name === undefined ? null : title,
      color: to.color === undefined ? null : color,
      description: to.description === undefined ? null : (to.description ?? ''),
    })
    .catch((error: unknown) => {
      throw violates(error, 'labels_project_title_once') ? titleTaken() : error
    })
  if (row === undefined) throw noLabel()
  if (to.priority !== undefined) await labels.prioritize(db, project.id, row.id, to.priority)
  return labels.forCaller(db, ctx, row.id)
}

export const updateProjectLabel = operation({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id',
  summary: 'Change a label of a project',
  published: true,
  first: [signedIn],
  params: t.Object(changes, { atLeastOne }),
  gates: [project, reporter, label],
  handle: async (ctx) => presentInProject(await change(ctx, ctx.label, ctx.params)),
  returns: ProjectLabel,
  refuses: [titleTaken],
})

export const updateProjectLabelByName = operation({
  method: 'PUT',
  path: '/projects/:id/labels',
  summary: 'Change a label of a project (deprecated: name it in the path)',
  deprecated: true,
  published: true,
  first: [signedIn],
  params: t.Object(
    { label_id: t.Optional(t.Integer()), name: t.Optional(t.String()), ...changes },
    { exactlyOne: ['label_id', 'name'], atLeastOne },
  ),
  gates: [project, reporter, labelNamed],
  handle: async (ctx) => presentInProject(await change(ctx, ctx.label, ctx.params)),
  returns: ProjectLabel,
  refuses: [titleTaken],
})

async function discard({ db, project }: Context & { project: Project }, label: Label): Promise<null> {
  if (label.lock_on_merge) throw labelLocked()
  if ((await labels.remove(db, project.id, label.id)) === 0) throw noLabel()
  return null
}

export const deleteProjectLabel = operation({
  method: 'DELETE',
  path: '/projects/:id/labels/:label_id',
  summary: 'Delete a label of a project',
  published: true,
  first: [signedIn],
  gates: [project, reporter, label, unmodified('label')],
  handle: async (ctx) => discard(ctx, ctx.label),
  returns: nothing,
  refuses: [labelLocked],
})

export const deleteProjectLabelByName = operation({
  method: 'DELETE',
  path: '/projects/:id/labels',
  summary: 'Delete a label of a project (deprecated: name it in the path)',
  deprecated: true,
  published: true,
  first: [signedIn],
  params: t.Object(
    { label_id: t.Optional(t.Integer()), name: t.Optional(t.String()) },
    { exactlyOne: ['label_id', 'name'] },
  ),
  gates: [project, reporter, labelNamed, unmodified('label')],
  handle: async (ctx) => discard(ctx, ctx.label),
  returns: nothing,
  refuses: [labelLocked],
})
