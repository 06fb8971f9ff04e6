import { Type as t } from 'typebox'
import { anyone, project } from '../../access/gates/gates.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { noKeyset } from '../../http/problems.ts'
import { Project } from '../../records/places/full_project.ts'
import { user } from './gates.ts'
import { answerList, listParams, tooDeep, unpaired } from './list_params.ts'

const params = t.Object(listParams)
const returns = pageOf(Project, { keyset: true })
const refuses = [noKeyset, tooDeep, unpaired]

export const listProjects = operation({
  method: 'GET',
  path: '/projects',
  summary: 'List projects; without a token, the public ones with fewer fields',
  published: true,
  params,
  gates: [anyone],
  handle: (ctx) => answerList(ctx, 'all'),
  returns,
  refuses,
})

export const listUserProjects = operation({
  method: 'GET',
  path: '/users/:user_id/projects',
  summary: "List the projects in a user's personal namespace",
  published: true,
  params,
  gates: [user, anyone],
  handle: (ctx) =>
    answerList(ctx, 'namespace', { of_id: ctx.owner.namespace_id, of_path: ctx.owner.full_path }),
  returns,
  refuses,
})

export const listUserStarredProjects = operation({
  method: 'GET',
  path: '/users/:user_id/starred_projects',
  summary: 'List the projects that a user starred',
  published: true,
  params,
  gates: [user, anyone],
  handle: (ctx) => answerList(ctx, 'starred', { of_id: ctx.owner.id }),
  returns,
  refuses,
})

export const listProjectForks = operation({
  method: 'GET',
  path: '/projects/:id/forks',
  summary: 'List the forks of a project',
  published: true,
  params,
  gates: [project, anyone],
  handle: (ctx) => answerList(ctx, 'forks', { of_id: ctx.project.id }),
  returns,
  refuses,
})
