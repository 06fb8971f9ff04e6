import { Type as t, type Static, type TObject } from 'typebox'
import type { Listed } from '../../db/pages.ts'
import type { Actor, Context } from '../../http/gate.ts'
import type { PageRequest } from '../../http/operation.ts'
import { date, listOf, nullable, oneOf, timestamp } from '../../http/params/schema.ts'
import { presentMilestone, type Milestone } from '../../records/planning/milestone.ts'
import { listMilestones } from './list_store.ts'
import type { Home } from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export const listParams = {
  iids: t.Optional(listOf(t.Integer())),
  state: oneOf(['active', 'closed', 'all'], { default: 'all' }),
  title: t.Optional(t.String({ description: 'The whole title' })),
  search: t.Optional(t.String({ description: 'Part of the title or description' })),
  include_parent_milestones: t.Boolean({
    default: false,
    deprecated: true,
    description: 'Deprecated: `include_ancestors`',
  }),
  include_ancestors: t.Boolean({
    default: false,
    description: 'Those of the groups above too; `iids` counts no more then',
  }),
  updated_before: t.Optional(timestamp()),
  updated_after: t.Optional(timestamp()),
  containing_date: t.Optional(date()),
}

type Here = Context & {
  readonly actor: Actor
  readonly home: Home
  readonly params: Static<TObject<typeof listParams>> & { readonly include_descendants?: boolean }
  readonly page: PageRequest
}

export async function list(ctx: Here): Promise<Listed<Static<typeof Milestone>>> {
  const { db, actor, home, params, page } = ctx
  const ancestors = params.include_ancestors || params.include_parent_milestones
  const found = await listMilestones(
    db,
    actor,
    { home, reach: { ancestors, descendants: params.include_descendants === true }, page },
    {
      state: params.state === 'all' ? undefined : params.state,
      title: params.title,
      search: params.search || undefined,
      iids: ancestors ? undefined : params.iids,
      before: params.updated_before,
      after: params.updated_after,
      containing: params.containing_date,
    },
  )
  return presentPage(found, (row) => presentMilestone(row, ctx))
}

const day = t.Optional(nullable(t.String({ description: '`YYYY-MM-DD`; empty takes it away' })))
const rest = {
  description: t.Optional(nullable(t.String({ maxLength: 1_000_000 }))),
  start_date: day,
  due_date: day,
}

export const createParams = { title: t.String(), ...rest }
export const changeParams = t.Object(
  { title: t.Optional(t.String()), ...rest, state_event: t.Optional(oneOf(['close', 'activate'])) },
  { atLeastOne: ['title', 'description', 'start_date', 'due_date', 'state_event'] },
)
