import { Type as t } from 'typebox'
import { maintainer, project, reporter, signedIn } from '../../access/gates.ts'
import type { Project } from '../../core/projects.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { FreezePeriod, present } from './entity.ts'
import { badFreeze, changeParams, checkFreeze, newParams } from './params.ts'
import * as freezePeriods from './store.ts'
import { presentPage } from '../../http/pages.ts'

const freezePeriod = loads({
  param: 'freeze_period_id',
  type: t.Integer(),
  as: 'freezePeriod',
  says: 'a freeze period of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => freezePeriods.find(db, project.id, id),
})

export const listFreezePeriods = operation({
  method: 'GET',
  path: '/projects/:id/freeze_periods',
  summary: 'List the freeze periods of a project, the oldest first',
  first: [signedIn],
  gates: [project, reporter],
  handle: async ({ db, project, page }) => {
    const found = await freezePeriods.list(db, project.id, page)
    return presentPage(found, present)
  },
  returns: pageOf(FreezePeriod),
})

export const getFreezePeriod = operation({
  method: 'GET',
  path: '/projects/:id/freeze_periods/:freeze_period_id',
  summary: 'Get a freeze period',
  first: [signedIn],
  gates: [project, reporter, freezePeriod],
  handle: async ({ freezePeriod }) => present(freezePeriod),
  returns: FreezePeriod,
})

export const createFreezePeriod = operation({
  method: 'POST',
  path: '/projects/:id/freeze_periods',
  summary: 'Add a freeze period to a project',
  first: [signedIn],
  params: newParams,
  gates: [project, maintainer],
  handle: async ({ db, project, params }) => {
    const { freeze_start, freeze_end, cron_timezone = 'UTC' } = checkFreeze(params)
    return present(await freezePeriods.insert(db, project.id, { freeze_start, freeze_end, cron_timezone }))
  },
  returns: FreezePeriod,
  refuses: [badFreeze],
})

export const updateFreezePeriod = operation({
  method: 'PUT',
  path: '/projects/:id/freeze_periods/:freeze_period_id',
  summary: 'Change a freeze period',
  first: [signedIn],
  params: changeParams,
  gates: [project, maintainer, freezePeriod],
  handle: async ({ db, freezePeriod, params }) => {
    const { freeze_start = null, freeze_end = null, cron_timezone = null } = checkFreeze(params)
    const row = await freezePeriods.update(db, freezePeriod, { freeze_start, freeze_end, cron_timezone })
    return present(row)
  },
  returns: FreezePeriod,
  refuses: [badFreeze],
})

export const deleteFreezePeriod = operation({
  method: 'DELETE',
  path: '/projects/:id/freeze_periods/:freeze_period_id',
  summary: 'Delete a freeze period',
  published: true,
  first: [signedIn],
  gates: [project, maintainer, freezePeriod],
  handle: async ({ db, freezePeriod }) => {
    await freezePeriods.remove(db, freezePeriod)
    return null
  },
  returns: nothing,
})
