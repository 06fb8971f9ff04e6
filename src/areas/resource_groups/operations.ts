import { Type as t, type Static } from 'typebox'
import { developer, project, signedIn } from '../../access/gates/gates.ts'
import { setProcessMode } from '../../ci/resource_assignment.ts'
import { inTurn } from '../../ci/turn.ts'
import type { Project } from '../../core/places/projects.ts'
import type { ResourceGroup as Row } from '../../db/schema/ci.ts'
import { loads, type Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { oneOf, timestamp } from '../../http/params/schema.ts'
import { JobBasic, presentJobBasic, presentJobs } from '../../records/jobs/job.ts'
import * as resourceGroups from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

const MODES = ['unordered', 'oldest_first', 'newest_first'] as const

const ResourceGroup = t.Object({
  id: t.Integer(),
  key: t.String(),
  process_mode: oneOf(MODES),
  created_at: timestamp(),
  updated_at: timestamp(),
})
const present = ({ id, key, process_mode, created_at, updated_at }: Row): Static<typeof ResourceGroup> => ({
  id,
  key,
  process_mode,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
})

const resourceGroup = loads({
  param: 'key',
  type: t.String(),
  as: 'resourceGroup',
  says: 'a resource group of the project',
  find: ({ db, project }: Has<{ project: Project }>, key) => resourceGroups.find(db, project.id, key),
})

export const listResourceGroups = operation({
  method: 'GET',
  path: '/projects/:id/resource_groups',
  summary: 'List the resource groups of a project',
  first: [signedIn],
  gates: [project, developer],
  handle: async ({ db, project, page }) => {
    const found = await resourceGroups.list(db, project.id, page)
    return presentPage(found, present)
  },
  returns: pageOf(ResourceGroup),
})

export const getResourceGroup = operation({
  method: 'GET',
  path: '/projects/:id/resource_groups/:key',
  summary: 'Get a resource group',
  first: [signedIn],
  gates: [project, resourceGroup, developer],
  handle: async ({ resourceGroup }) => present(resourceGroup),
  returns: ResourceGroup,
})

export const listUpcomingJobs = operation({
  method: 'GET',
  path: '/projects/:id/resource_groups/:key/upcoming_jobs',
  summary: 'List the upcoming jobs of a resource group, in the order in which they will run',
  first: [signedIn],
  gates: [project, resourceGroup, developer],
  handle: async (ctx) => {
    const { items, total } = await resourceGroups.listUpcoming(ctx.db, ctx.resourceGroup, ctx.page)
    return { items: await presentJobs(ctx, ctx.project, items, presentJobBasic), total }
  },
  returns: pageOf(JobBasic),
})

export const updateResourceGroup = operation({
  method: 'PUT',
  path: '/projects/:id/resource_groups/:key',
  summary: 'Change the process mode of a resource group',
  first: [signedIn],
  params: t.Object({ process_mode: t.Optional(oneOf(MODES)) }),
  gates: [project, resourceGroup, developer],
  handle: async ({ db, project, resourceGroup, params: { process_mode } }) => {
    if (process_mode === undefined) return present(resourceGroup)
    return present(
      await inTurn(db, project.id, (turn) => setProcessMode(turn, resourceGroup.id, process_mode)),
    )
  },
  returns: ResourceGroup,
})
