import { Type as t } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { premiumOrForbidden, selfManaged } from '../../access/tiers.ts'
import * as projects from '../../core/places/projects.ts'
import { violates } from '../../db/errors.ts'
import type { ProjectAlias as ProjectAliasRow } from '../../db/schema/tables.ts'
import { loads } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid, notFound, type Problem } from '../../http/problems.ts'
import { nameFaults } from './rules.ts'
import * as projectAliases from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

const ProjectAlias = t.Object({ id: t.Integer(), project_id: t.Integer(), name: t.String() })
const present = ({
  id,
  project_id,
  name,
}: ProjectAliasRow): Pick<ProjectAliasRow, 'id' | 'project_id' | 'name'> => ({
  id,
  project_id,
  name,
})

/** The licence comes first, as published: below it everybody gets 403, with a token or without. */
const first = [selfManaged, premiumOrForbidden, signedIn, administrator] as const

const alias = loads({
  param: 'name',
  type: t.String(),
  as: 'alias',
  says: 'an alias',
  find: ({ db }, name) => projectAliases.find(db, name),
})

export const listProjectAliases = operation({
  method: 'GET',
  path: '/project_aliases',
  summary: 'List all project aliases',
  first,
  gates: [],
  handle: async ({ db, page }) => {
    const found = await projectAliases.list(db, page)
    return presentPage(found, present)
  },
  returns: pageOf(ProjectAlias),
})

export const getProjectAlias = operation({
  method: 'GET',
  path: '/project_aliases/:name',
  summary: 'Get a project alias',
  first,
  gates: [alias],
  handle: async ({ alias }) => present(alias),
  returns: ProjectAlias,
})

const noProject = (): Problem => notFound('Project')
const taken = (): Problem => invalid({ name: ['has already been taken'] })

export const createProjectAlias = operation({
  method: 'POST',
  path: '/project_aliases',
  summary: 'Create a project alias',
  first,
  params: t.Object({
    project_id: t.String({ description: 'The id or the full path of the project' }),
    name: t.String(),
  }),
  gates: [],
  handle: async ({ db, params }) => {
    const project = await projects.findByRef(db, params.project_id)
    if (project === undefined) throw noProject()
    const faults = nameFaults(params.name)
    if (faults.length > 0) throw invalid({ name: faults })
    const row = await projectAliases.insert(db, project.id, params.name).catch((error: unknown) => {
      throw violates(error, 'project_aliases_name_key') ? taken() : error
    })
    return present(row)
  },
  returns: ProjectAlias,
  refuses: [noProject, taken],
})

export const deleteProjectAlias = operation({
  method: 'DELETE',
  path: '/project_aliases/:name',
  summary: 'Delete a project alias',
  published: true,
  first,
  gates: [alias],
  handle: async ({ db, alias }) => {
    await projectAliases.remove(db, alias.id)
    return null
  },
  returns: nothing,
})
