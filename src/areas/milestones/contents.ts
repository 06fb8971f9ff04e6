import { Type as t, type Static } from 'typebox'
import type { Listed } from '../../db/pages.ts'
import type { Actor, Context } from '../../http/gate.ts'
import type { PageRequest } from '../../http/operation.ts'
import { oneOf, moment } from '../../http/params/schema.ts'
import { presentIssue, type Issue } from '../../records/planning/issue.ts'
import { presentMergeRequest, type MergeRequest } from '../../records/merge_requests/merge_request.ts'
import type { MilestoneShown } from '../../records/planning/milestone.ts'
import { stepsOf } from './burndown.ts'
import { readHistory } from './burndown_store.ts'
import * as contents from './contents_store.ts'
import { presentPage } from '../../http/answers/pages.ts'

type Here = Context & {
  readonly actor: Actor
  readonly milestone: MilestoneShown
  /** Set where the list is a group's. */
  readonly group?: { readonly full_path: string }
}
type Paging = Here & { readonly page: PageRequest }

const around = ({ config, group }: Here): { config: Context['config']; group?: string } => ({
  config,
  ...(group && { group: group.full_path }),
})

export async function listIssues(ctx: Paging): Promise<Listed<Static<typeof Issue>>> {
  const found = await contents.listIssues(ctx.db, ctx.actor, ctx.milestone.id, ctx.page)
  return presentPage(found, (row) => presentIssue(row, around(ctx)))
}

export async function listMergeRequests(ctx: Paging): Promise<Listed<Static<typeof MergeRequest>>> {
  const found = await contents.listMergeRequests(ctx.db, ctx.actor, ctx.milestone.id, ctx.page)
  return presentPage(found, (row) => presentMergeRequest(row, around(ctx)))
}

export const BurndownEvent = t.Object({
  created_at: moment(),
  weight: t.Integer({ description: 'Of the issue then; of a `weight` event, by how much it changed' }),
  action: oneOf(['created', 'closed', 'reopened', 'removed', 'weight'], {
    description: '`created` is when an issue came to the milestone, `removed` when it left it open',
  }),
})

export async function listBurndownEvents({
  db,
  actor,
  milestone,
}: Here): Promise<Static<typeof BurndownEvent>[]> {
  const steps = stepsOf(await readHistory(db, actor, milestone.id))
  return steps.map((step) => ({ ...step, created_at: step.created_at }))
}
