import { Type as t } from 'typebox'
import { group, groupOwner, signedIn } from '../../access/gates/gates.ts'
import type { Group } from '../../core/places/groups.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid, notFound } from '../../http/problems.ts'
import * as variables from './actions.ts'
import { Variable, present } from './entity.ts'
import { scoped } from './params.ts'

const owner = ({ group }: { readonly group: Group }) => ({ of: 'group', id: group.id }) as const

const variable = loads({
  param: 'key',
  type: t.String(),
  as: 'variable',
  says: 'a variable of the group',
  missing: () => notFound('GroupVariable'),
  find: (
    ctx: Has<
      { group: Group } & { readonly params: { readonly filter?: { readonly environment_scope?: string } } }
    >,
    key,
  ) => variables.find(ctx, owner(ctx), { key, scope: ctx.params.filter?.environment_scope }),
})

export const listGroupVariables = operation({
  method: 'GET',
  path: '/groups/:id/variables',
  summary: 'List the variables of a group',
  published: true,
  first: [signedIn],
  gates: [group, groupOwner],
  handle: async (ctx) => {
    const found = await variables.list(ctx, owner(ctx))
    return { ...found, items: found.items.map((row) => present(row, ctx)) }
  },
  returns: pageOf(Variable),
})

export const getGroupVariable = operation({
  method: 'GET',
  path: '/groups/:id/variables/:key',
  summary: 'Get a variable of a group',
  published: true,
  first: [signedIn],
  params: scoped.one,
  gates: [group, groupOwner, variable],
  handle: async (ctx) => present(ctx.variable, ctx),
  returns: Variable,
  refuses: [variables.ambiguous],
})

export const createGroupVariable = operation({
  method: 'POST',
  path: '/groups/:id/variables',
  summary: 'Add a variable to a group',
  published: true,
  first: [signedIn],
  params: scoped.create,
  gates: [group, groupOwner],
  handle: async (ctx) => present(await variables.create(ctx, owner(ctx), ctx.params), ctx),
  returns: Variable,
  refuses: [variables.taken, invalid({ value: ['is invalid'] })],
})

export const updateGroupVariable = operation({
  method: 'PUT',
  path: '/groups/:id/variables/:key',
  summary: 'Change a variable of a group',
  published: true,
  first: [signedIn],
  params: scoped.change,
  gates: [group, groupOwner, variable],
  handle: async (ctx) => present(await variables.change(ctx, owner(ctx), ctx.params), ctx),
  returns: Variable,
  refuses: [variables.taken, invalid({ value: ['is invalid'] }), variables.ambiguous],
})

export const deleteGroupVariable = operation({
  method: 'DELETE',
  path: '/groups/:id/variables/:key',
  summary: 'Delete a variable of a group',
  published: true,
  first: [signedIn],
  params: scoped.one,
  gates: [group, groupOwner, variable],
  handle: variables.remove,
  returns: nothing,
  refuses: [variables.ambiguous],
})
