import { Type as t } from 'typebox'
import { maintainer, project, signedIn } from '../../access/gates/gates.ts'
import { assignRunner, unassignRunner } from '../../ci/runners/runners.ts'
import type { Project } from '../../core/places/projects.ts'
import { checks, loads, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { nothing, operation } from '../../http/operation.ts'
import { forbidden, invalid, notFound, noSuchRecord, type Problem } from '../../http/problems.ts'
import { checkRoom, tooMany } from './creation.ts'
import { Runner, presentRunner } from './entity.ts'
import * as runners from './store.ts'
import type { SeenRunner } from './store.ts'

const common = { published: true, scopes: ['manage_runner'], first: [signedIn] } as const

const noRunner = (): Problem => notFound('Runner')

/** The runner that a parameter names. */
const wantedRunner: Gate<
  'checks',
  never,
  { actor: Actor; params: { readonly runner_id: number } },
  { runner: SeenRunner }
> = {
  kind: 'checks',
  says: 'a runner',
  refuses: noRunner,
  pass: async ({ db, actor, params }) => {
    const runner = await runners.find(db, params.runner_id, actor.id)
    return runner && { runner }
  },
}

type Assigning = Has<{ actor: Actor; runner: SeenRunner }>
const isNoGroupRunner = checks({
  says: 'a runner that is not of a group',
  refuses: () => forbidden('Runner is a group runner'),
  holds: ({ runner }: Assigning) => runner.runner_type !== 'group_type',
})
const isUnlocked = checks({
  says: 'a runner that is not locked, unless an administrator asks',
  refuses: () => forbidden('Runner is locked'),
  holds: ({ actor, runner }: Assigning) => actor.admin || !runner.locked,
})
// A runner of the instance runs the jobs of every project: it is enabled nowhere.
const isAssignable = checks({
  says: 'a runner of projects that the caller manages',
  refuses: () => forbidden('No access granted'),
  holds: ({ actor, runner }: Assigning) =>
    runner.runner_type === 'project_type' && (actor.admin || runner.manages),
})

const isThere = (): Problem => invalid({ 'runner_projects.runner_id': ['has already been taken'] })

export const addProjectRunner = operation({
  method: 'POST',
  path: '/projects/:id/runners',
  summary: 'Assign a runner to a project',
  ...common,
  params: t.Object({ runner_id: t.Integer() }),
  gates: [project, maintainer, wantedRunner, isNoGroupRunner, isUnlocked, isAssignable],
  handle: async (ctx) => {
    const { db, project, runner } = ctx
    const { traversal_ids } = project
    await checkRoom(db, { place: { group_id: null, project_id: project.id }, traversal_ids })
    if ((await assignRunner(db, runner.id, project.id)) === 0) throw isThere()
    await runners.announce(db)
    return presentRunner(runner, ctx)
  },
  returns: Runner,
  refuses: [isThere, tooMany],
})

const assignedRunner = loads({
  param: 'runner_id',
  type: t.Integer(),
  as: 'assigned',
  says: 'a runner of the project',
  missing: noRunner,
  find: async ({ db, actor, project }: Has<{ project: Project; actor: Actor }>, id) => {
    const projects = await runners.projectsOf(db, id, actor.id)
    if (!projects.some((each) => each.id === project.id)) return undefined
    return { id, ownerId: projects[0]?.id }
  },
})

const isNotOwner = checks({
  says: 'a project that does not own the runner: the first one does',
  refuses: () => forbidden('Only one project associated with the runner. Please remove the runner instead'),
  holds: ({ project, assigned }: Has<{ project: Project; assigned: { ownerId: number | undefined } }>) =>
    assigned.ownerId !== project.id,
})

export const removeProjectRunner = operation({
  method: 'DELETE',
  path: '/projects/:id/runners/:runner_id',
  summary: 'Unassign a runner from a project',
  ...common,
  gates: [project, maintainer, assignedRunner, isNotOwner],
  handle: async ({ db, project, assigned }) => {
    if ((await unassignRunner(db, assigned.id, project.id)) === 0) throw noSuchRecord()
    return null
  },
  returns: nothing,
})
