import { Type as t } from 'typebox'
import { anyone, group } from '../../access/gates.ts'
import { premiumOrForbidden } from '../../access/tiers.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { listOf, oneOf, timestamp } from '../../http/schema.ts'
import { Epic, presentEpic } from './entity.ts'
import * as epics from './store.ts'

const titles = t.Optional(listOf(t.String({ maxLength: 255 })))

export const listEpics = operation({
  method: 'GET',
  path: '/groups/:id/epics',
  summary: 'List the epics of a group and of those inside',
  published: true,
  first: [premiumOrForbidden],
  params: t.Object({
    author_id: t.Optional(t.Integer()),
    labels: titles,
    with_labels_details: t.Optional(t.Boolean({ default: false })),
    order_by: t.Optional(oneOf(epics.ORDERS, { default: 'created_at' })),
    sort: t.Optional(oneOf(['asc', 'desc'], { default: 'desc' })),
    search: t.Optional(t.String({ maxLength: 1000, description: 'Part of the title or description' })),
    state: t.Optional(oneOf(['opened', 'closed', 'all'], { default: 'all' })),
    iids: t.Optional(listOf(t.Integer())),
    confidential: t.Optional(t.Boolean()),
    created_after: t.Optional(timestamp()),
    created_before: t.Optional(timestamp()),
    updated_after: t.Optional(timestamp()),
    updated_before: t.Optional(timestamp()),
    include_ancestor_groups: t.Optional(t.Boolean({ default: false })),
    include_descendant_groups: t.Optional(t.Boolean({ default: true })),
  }),
  gates: [group, anyone],
  handle: async ({ db, actor, group, params, page, config }) => {
    const { author_id, labels, order_by, sort, search, state, with_labels_details: details = false } = params
    const found = await epics.listEpics(
      db,
      actor,
      { group, page },
      {
        state: state === 'all' ? undefined : state,
        author: author_id,
        labels: labels === undefined || labels.length === 0 ? undefined : labels,
        search: search || undefined,
        iids: params.iids,
        confidential: params.confidential,
        created_after: params.created_after,
        created_before: params.created_before,
        updated_after: params.updated_after,
        updated_before: params.updated_before,
        ancestors: params.include_ancestor_groups ?? false,
        descendants: params.include_descendant_groups ?? true,
        order: order_by ?? 'created_at',
        descending: sort !== 'asc',
      },
    )
    return { ...found, items: found.items.map((row) => presentEpic(row, { config, details })) }
  },
  returns: pageOf(Epic),
})
