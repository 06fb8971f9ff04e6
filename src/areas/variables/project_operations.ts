import { Type as t } from 'typebox'
import { maintainer, project, signedIn } from '../../access/gates/gates.ts'
import type { Project } from '../../core/places/projects.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid, notFound } from '../../http/problems.ts'
import * as variables from './actions.ts'
import { Variable, present } from './entity.ts'
import { scoped } from './params.ts'

const owner = ({ project }: { readonly project: Project }) => ({ of: 'project', id: project.id }) as const

const variable = loads({
  param: 'key',
  type: t.String(),
  as: 'variable',
  says: 'a variable of the project',
  missing: () => notFound('Variable'),
  find: (
    ctx: Has<
      { project: Project } & {
        readonly params: { readonly filter?: { readonly environment_scope?: string } }
      }
    >,
    key,
  ) => variables.find(ctx, owner(ctx), { key, scope: ctx.params.filter?.environment_scope }),
})

export const listProjectVariables = operation({
  method: 'GET',
  path: '/projects/:id/variables',
  summary: 'List the variables of a project',
  published: true,
  first: [signedIn],
  gates: [project, maintainer],
  handle: async (ctx) => {
    const found = await variables.list(ctx, owner(ctx))
    return { ...found, items: found.items.map((row) => present(row, ctx)) }
  },
  returns: pageOf(Variable),
})

export const getProjectVariable = operation({
  method: 'GET',
  path: '/projects/:id/variables/:key',
  summary: 'Get a variable of a project',
  published: true,
  first: [signedIn],
  params: scoped.one,
  gates: [project, maintainer, variable],
  handle: async (ctx) => present(ctx.variable, ctx),
  returns: Variable,
  refuses: [variables.ambiguous],
})

export const createProjectVariable = operation({
  method: 'POST',
  path: '/projects/:id/variables',
  summary: 'Add a variable to a project',
  published: true,
  first: [signedIn],
  params: scoped.create,
  gates: [project, maintainer],
  handle: async (ctx) => present(await variables.create(ctx, owner(ctx), ctx.params), ctx),
  returns: Variable,
  refuses: [variables.taken, invalid({ value: ['is invalid'] })],
})

export const updateProjectVariable = operation({
  method: 'PUT',
  path: '/projects/:id/variables/:key',
  summary: 'Change a variable of a project',
  published: true,
  first: [signedIn],
  params: scoped.change,
  gates: [project, maintainer, variable],
  handle: async (ctx) => present(await variables.change(ctx, owner(ctx), ctx.params), ctx),
  returns: Variable,
  refuses: [variables.taken, invalid({ value: ['is invalid'] }), variables.ambiguous],
})

export const deleteProjectVariable = operation({
  method: 'DELETE',
  path: '/projects/:id/variables/:key',
  summary: 'Delete a variable of a project',
  published: true,
  first: [signedIn],
  params: scoped.one,
  gates: [project, maintainer, variable],
  handle: variables.remove,
  returns: nothing,
  refuses: [variables.ambiguous],
})
