import { Type as t, type Static } from 'typebox'
import { project, reporter, signedIn } from '../../access/gates/gates.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Label } from '../../db/schema/tables.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid } from '../../http/problems.ts'
import { nullable } from '../../http/params/schema.ts'
import {
  ProjectLabel,
  BAD_COLOR,
  labelExists,
  labelLocked,
  presentInProject,
  titleTaken,
  type LabelInProject,
} from '../../records/planning/label.ts'
import {
  changeLabel,
  discardLabel,
  labelChanges,
  makeLabel,
  newLabel,
} from '../../records/planning/label_writing.ts'
import { label, labelInReach, labelNamed } from './gates.ts'
import * as labels from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export { promoteProjectLabel } from './promote_operations.ts'
export { subscribeToProjectLabel, unsubscribeFromProjectLabel } from './subscription_operations.ts'

const ancestors = {
  include_ancestor_groups: t.Boolean({ default: true }),
}

export const listProjectLabels = operation({
  method: 'GET',
  path: '/projects/:id/labels',
  summary: 'List the labels of a project',
  published: true,
  first: [signedIn],
  params: t.Object({
    with_counts: t.Optional(t.Boolean({ description: 'Lists always tell the counts' })),
    search: t.Optional(t.String({ maxLength: 1_000, description: 'Part of the title or description' })),
    ...ancestors,
  }),
  gates: [project],
  handle: async (ctx) => {
    const { db, params, page } = ctx
    const found = await labels.listLabels(db, ctx, {
      ancestors: params.include_ancestor_groups,
      search: params.search ?? '',
      ...page,
    })
    return presentPage(found, presentInProject)
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
  params: t.Object({ ...newLabel, priority }),
  gates: [project, reporter],
  handle: async (ctx) => {
    const { db, project, params } = ctx
    const home = { group_id: null, project_id: project.id }
    const row = await makeLabel(db, home, params, (title) =>
      labels.findByTitle(db, labels.reachOf(project, true), title),
    )
    if (typeof params.priority === 'number') await labels.prioritize(db, project.id, row.id, params.priority)
    return presentInProject(await labels.forCaller(db, ctx, row.id))
  },
  returns: ProjectLabel,
  refuses: [labelExists, invalid({ color: [BAD_COLOR] })],
})

const changes = { ...labelChanges, priority }
const Changes = t.Object(changes, { atLeastOne: Object.keys(changes) })

async function change(
  ctx: Context & { readonly actor: Actor; readonly project: Project },
  label: Label,
  to: Static<typeof Changes>,
): Promise<LabelInProject> {
  const { db, project } = ctx
  const row = await changeLabel(db, label, to)
  if (to.priority !== undefined) await labels.prioritize(db, project.id, row.id, to.priority)
  return labels.forCaller(db, ctx, row.id)
}

export const updateProjectLabel = operation({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id',
  summary: 'Change a label of a project',
  published: true,
  first: [signedIn],
  params: Changes,
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
    { exactlyOne: ['label_id', 'name'], atLeastOne: Object.keys(changes) },
  ),
  gates: [project, reporter, labelNamed],
  handle: async (ctx) => presentInProject(await change(ctx, ctx.label, ctx.params)),
  returns: ProjectLabel,
  refuses: [titleTaken],
})

export const deleteProjectLabel = operation({
  method: 'DELETE',
  path: '/projects/:id/labels/:label_id',
  summary: 'Delete a label of a project',
  published: true,
  first: [signedIn],
  gates: [project, reporter, label],
  handle: ({ db, label }) => discardLabel(db, label),
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
  gates: [project, reporter, labelNamed],
  handle: ({ db, label }) => discardLabel(db, label),
  returns: nothing,
  refuses: [labelLocked],
})
