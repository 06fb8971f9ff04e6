import { Type as t } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid, notFound } from '../../http/problems.ts'
import * as variables from './actions.ts'
import { InstanceVariable, presentInstance } from './entity.ts'
import { plain } from './params.ts'

const owner = (_ctx: object) => ({ of: 'instance', id: 0 }) as const

const variable = loads({
  param: 'key',
  type: t.String(),
  as: 'variable',
  says: 'a variable of the instance',
  missing: () => notFound('InstanceVariable'),
  find: (ctx: Has<object>, key) => variables.find(ctx, owner(ctx), { key, scope: undefined }),
})

export const listInstanceVariables = operation({
  method: 'GET',
  path: '/admin/ci/variables',
  summary: 'List the variables of the instance',
  published: true,
  first: [signedIn, administrator],
  gates: [],
  handle: async (ctx) => {
    const found = await variables.list(ctx, owner(ctx))
    return { ...found, items: found.items.map((row) => presentInstance(row, ctx)) }
  },
  returns: pageOf(InstanceVariable),
})

export const getInstanceVariable = operation({
  method: 'GET',
  path: '/admin/ci/variables/:key',
  summary: 'Get a variable of the instance',
  published: true,
  first: [signedIn, administrator],
  params: plain.one,
  gates: [variable],
  handle: async (ctx) => presentInstance(ctx.variable, ctx),
  returns: InstanceVariable,
})

export const createInstanceVariable = operation({
  method: 'POST',
  path: '/admin/ci/variables',
  summary: 'Add a variable to the instance',
  published: true,
  first: [signedIn, administrator],
  params: plain.create,
  gates: [],
  handle: async (ctx) => presentInstance(await variables.create(ctx, owner(ctx), ctx.params), ctx),
  returns: InstanceVariable,
  refuses: [variables.taken, invalid({ value: ['is invalid'] })],
})

export const updateInstanceVariable = operation({
  method: 'PUT',
  path: '/admin/ci/variables/:key',
  summary: 'Change a variable of the instance',
  published: true,
  first: [signedIn, administrator],
  params: plain.change,
  gates: [variable],
  handle: async (ctx) => presentInstance(await variables.change(ctx, owner(ctx), ctx.params), ctx),
  returns: InstanceVariable,
  refuses: [variables.taken, invalid({ value: ['is invalid'] })],
})

export const deleteInstanceVariable = operation({
  method: 'DELETE',
  path: '/admin/ci/variables/:key',
  summary: 'Delete a variable of the instance',
  published: true,
  first: [signedIn, administrator],
  params: plain.one,
  gates: [variable],
  handle: variables.remove,
  returns: nothing,
})
