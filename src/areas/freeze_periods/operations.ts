import { Type as t } from 'typebox'
import { maintainer, project, reporter, signedIn } from '../../access/gates/gates.ts'
import type { Project } from '../../core/places/projects.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid } from '../../http/problems.ts'
import { changesOf } from '../../http/params/schema.ts'
import { FreezePeriod, fields } from './entity.ts'
import { BAD_CRON, checkFreeze } from './rules.ts'
import * as freezePeriods from './store.ts'

const freezePeriod = loads({
  param: 'freeze_period_id',
  type: t.Integer(),
  as: 'freezePeriod',
  says: 'a freeze period of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) =>
    freezePeriods.find(db, { project_id: project.id, id }),
})

export const listFreezePeriods = operation({
  method: 'GET',
  path: '/projects/:id/freeze_periods',
  summary: 'List the freeze periods of a project, the oldest first',
  first: [signedIn],
  gates: [project, reporter],
  handle: ({ db, project, page }) => freezePeriods.list(db, project.id, page),
  returns: pageOf(FreezePeriod),
})

export const getFreezePeriod = operation({
  method: 'GET',
  path: '/projects/:id/freeze_periods/:freeze_period_id',
  summary: 'Get a freeze period',
  first: [signedIn],
  gates: [project, reporter, freezePeriod],
  handle: async ({ freezePeriod }) => freezePeriod,
  returns: FreezePeriod,
})

export const createFreezePeriod = operation({
  method: 'POST',
  path: '/projects/:id/freeze_periods',
  summary: 'Add a freeze period to a project',
  first: [signedIn],
  params: t.Object(fields),
  gates: [project, maintainer],
  handle: async ({ db, project, params }) =>
    freezePeriods.insert(db, { project_id: project.id, ...checkFreeze(params) }),
  returns: FreezePeriod,
  refuses: [invalid({ freeze_start: BAD_CRON })],
})

export const updateFreezePeriod = operation({
  method: 'PUT',
  path: '/projects/:id/freeze_periods/:freeze_period_id',
  summary: 'Change a freeze period',
  first: [signedIn],
  params: t.Object(changesOf(fields)),
  gates: [project, maintainer, freezePeriod],
  handle: async ({ db, freezePeriod, params }) => freezePeriods.update(db, freezePeriod, checkFreeze(params)),
  returns: FreezePeriod,
  refuses: [invalid({ freeze_start: BAD_CRON })],
})

export const deleteFreezePeriod = operation({
  method: 'DELETE',
  path: '/projects/:id/freeze_periods/:freeze_period_id',
  summary: 'Delete a freeze period',
  published: true,
  first: [signedIn],
  gates: [project, maintainer, freezePeriod],
  handle: ({ db, freezePeriod }) => freezePeriods.remove(db, freezePeriod),
  returns: nothing,
})
