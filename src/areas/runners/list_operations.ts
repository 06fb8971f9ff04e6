import { Type as t, type Static } from 'typebox'
import {
  administrator,
  group,
  groupMaintainer,
  maintainer,
  project,
  signedIn,
} from '../../access/gates/gates.ts'
import type { Listed } from '../../db/pages.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { listOf, oneOf } from '../../http/params/schema.ts'
import { Runner, presentRunner } from './entity.ts'
import { TYPES } from './fields.ts'
import { STATUSES, list, type ListShape, type Status } from './list_store.ts'

const filters = {
  type: t.Optional(oneOf(TYPES)),
  status: t.Optional(oneOf(STATUSES)),
  paused: t.Optional(t.Boolean()),
  tag_list: t.Optional(listOf(t.String({ maxLength: 255 }))),
  version_prefix: t.Optional(t.String({ description: 'Such as `17.` or `17.9`' })),
}
const SCOPES = ['active', 'paused', 'online', 'shared', 'specific'] as const
const scope = t.Optional(
  t.Unsafe<(typeof SCOPES)[number]>({
    ...oneOf(SCOPES),
    deprecated: true,
    description: 'Deprecated: see `type` and `status`',
  }),
)

interface Filters {
  readonly type?: (typeof TYPES)[number]
  readonly status?: Status
  readonly paused?: boolean
  readonly tag_list?: readonly string[]
  readonly version_prefix?: string
  readonly scope?: (typeof SCOPES)[number]
}
interface Place {
  readonly id: number
  readonly line: readonly number[]
}
type Listing = Context & { readonly actor: Actor; readonly params: Filters; readonly page: PageRequest }

async function show(
  ctx: Listing,
  of: ListShape['of'],
  place: Place = { id: 0, line: [] },
): Promise<Listed<Static<typeof Runner>>> {
  const { db, actor, params, page } = ctx
  const { type, status, paused, tag_list = [], version_prefix = '', scope: old } = params
  const byScope = old === 'shared' ? TYPES[0] : old === 'specific' ? TYPES[2] : undefined
  const states = [status, old === 'shared' || old === 'specific' ? undefined : old]
  const shape: ListShape = {
    of,
    type: type ?? byScope ?? null,
    statuses: states.filter((each) => each !== undefined),
    paused: paused ?? null,
    tags: tag_list.length > 0,
    version: version_prefix !== '',
  }
  const found = await list(db, shape, {
    user_id: actor.id,
    place_id: place.id,
    line: place.line,
    tags: tag_list,
    version: version_prefix,
    limit: page.limit,
    offset: page.offset,
  })
  return presentPage(found, (row) => presentRunner(row, ctx))
}

const listed = {
  published: true,
  scopes: ['manage_runner'],
  first: [signedIn],
  params: t.Object({ ...filters, scope }),
  returns: pageOf(Runner),
} as const

export const listRunners = operation({
  method: 'GET',
  path: '/runners',
  summary: 'List the runners that the caller manages, the newest first',
  ...listed,
  gates: [],
  handle: (ctx) => show(ctx, 'managed'),
})

export const listAllRunners = operation({
  method: 'GET',
  path: '/runners/all',
  summary: 'List all runners of the instance, the newest first',
  ...listed,
  gates: [administrator],
  handle: (ctx) => show(ctx, 'all'),
})

export const listProjectRunners = operation({
  method: 'GET',
  path: '/projects/:id/runners',
  summary: 'List the runners that run jobs of a project, the newest first',
  ...listed,
  gates: [project, maintainer],
  handle: (ctx) => show(ctx, 'project', { id: ctx.project.id, line: ctx.project.traversal_ids }),
})

export const listGroupRunners = operation({
  method: 'GET',
  path: '/groups/:id/runners',
  summary: 'List the runners that run jobs of a group, the newest first',
  ...listed,
  gates: [group, groupMaintainer],
  handle: (ctx) => show(ctx, 'group', { id: 0, line: ctx.group.traversal_ids }),
})
