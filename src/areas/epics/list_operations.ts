import { Type as t } from 'typebox'
import { anyone, group } from '../../access/gates/gates.ts'
import { premiumOrForbidden, premiumPlanOrForbidden } from '../../access/tiers.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { Epic, presentEpic } from './entity.ts'
import { filtersOf, listParams } from './list_params.ts'
import * as epics from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export const listEpics = operation({
  method: 'GET',
  path: '/groups/:id/epics',
  summary: 'List the epics of a group and of those inside',
  published: true,
  first: [premiumOrForbidden],
  params: t.Object(listParams),
  gates: [group, premiumPlanOrForbidden.group, anyone],
  handle: async ({ db, actor, group, params, page, config }) => {
    const found = await epics.listEpics(
      db,
      actor,
      { group, page },
      {
        ...filtersOf(params),
        ancestors: params.include_ancestor_groups,
        descendants: params.include_descendant_groups,
        order: params.order_by,
        descending: params.sort !== 'asc',
      },
    )
    const details = params.with_labels_details
    return presentPage(found, (row) => presentEpic(row, { config, details }))
  },
  returns: pageOf(Epic),
})
