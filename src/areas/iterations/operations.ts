import { Type as t, type Static } from 'typebox'
import { anyone, group, insideGroup, project } from '../../access/gates/gates.ts'
import { premiumOrAbsent, premiumPlanOrAbsent } from '../../access/tiers.ts'
import type { Listed } from '../../db/pages.ts'
import type { Context } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { oneOf, timestamp } from '../../http/params/schema.ts'
import { Iteration, presentIteration } from '../../records/planning/iteration.ts'
import { FIELDS, STATES, listIterations as find } from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

const params = t.Object({
  state: oneOf(STATES, { default: 'all', description: '`started` is the older name of `current`' }),
  search: t.Optional(t.String({ description: 'A part of what `in` names' })),
  in: t.Array(oneOf(FIELDS), { commas: true, default: ['title'] }),
  include_ancestors: t.Boolean({ default: true }),
  include_descendants: t.Boolean({ default: false }),
  updated_before: t.Optional(timestamp()),
  updated_after: t.Optional(timestamp()),
})

type Asked = Context & { readonly page: PageRequest; readonly params: Static<typeof params> }

async function list(ctx: Asked, line: readonly number[]): Promise<Listed<Static<typeof Iteration>>> {
  const { db, actor, params, page } = ctx
  const found = await find(
    db,
    actor,
    {
      line,
      ancestors: params.include_ancestors,
      descendants: params.include_descendants,
      state: params.state,
      search: params.search ?? '',
      fields: params.in.length === 0 ? ['title'] : params.in,
      before: params.updated_before,
      after: params.updated_after,
    },
    page,
  )
  return presentPage(found, (row) => presentIteration(row, ctx))
}

const gates = [project, premiumPlanOrAbsent.project, anyone] as const

export const listIterations = operation({
  method: 'GET',
  path: '/projects/:id/iterations',
  summary: 'List the iterations of the groups of a project',
  first: [premiumOrAbsent],
  params,
  gates,
  handle: (ctx) => list(ctx, ctx.project.traversal_ids),
  returns: pageOf(Iteration),
})

/** One client leaves a letter out. */
export const listIterationsMisspelt = operation({
  method: 'GET',
  path: '/project/:id/iterations',
  summary: 'Check whether a path is taken, at the address that one client calls',
  published: true,
  first: [premiumOrAbsent],
  params,
  gates,
  handle: (ctx) => list(ctx, ctx.project.traversal_ids),
  returns: pageOf(Iteration),
})

export const listGroupIterations = operation({
  method: 'GET',
  path: '/groups/:id/iterations',
  summary: 'List the iterations of a group and the groups above',
  published: true,
  first: [premiumOrAbsent],
  params,
  gates: [group, premiumPlanOrAbsent.group, insideGroup],
  handle: (ctx) => list(ctx, ctx.group.traversal_ids),
  returns: pageOf(Iteration),
})
