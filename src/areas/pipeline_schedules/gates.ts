import { Type as t } from 'typebox'
import { maySetVariables } from '../../ci/creation/creation_checks.ts'
import { mayWriteRef } from '../../access/gates/pipeline_gates.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { allows, loads, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { forbidden, invalid, notFound, type Problem } from '../../http/problems.ts'
import type { ScheduleWithOwner } from './entity.ts'
import * as schedules from './store.ts'

interface Around {
  readonly actor: Actor
  readonly project: Project
}
type AroundSchedule = Around & { readonly schedule: ScheduleWithOwner }

export const schedule = loads({
  param: 'pipeline_schedule_id',
  type: t.Integer(),
  as: 'schedule',
  says: 'a pipeline schedule of the project',
  missing: () => notFound('Pipeline Schedule'),
  find: ({ db, project }: Has<{ project: Project }>, id) =>
    schedules.find(db, { project_id: project.id, id }),
})

const isOwner = ({ actor, project, schedule }: AroundSchedule): boolean =>
  schedule.owner_id === actor.id && project.role >= ROLES.developer

/** A schedule runs as its owner: others take it over before they change what it runs. */
export const ownSchedule = allows({
  says: 'the owner of the schedule, at least Developer, or an administrator',
  refuses: forbidden,
  holds: (ctx: Has<AroundSchedule>) => ctx.actor.admin || isOwner(ctx),
})

/** Whether the caller may delete the schedule, take it over and read its variables. */
export const mayManage = (ctx: AroundSchedule): boolean =>
  ctx.actor.admin || ctx.project.role >= ROLES.maintainer || isOwner(ctx)

export const managesSchedule = allows({
  says: 'at least Maintainer in the project, or the owner of the schedule',
  refuses: forbidden,
  holds: (ctx: Has<AroundSchedule>) => mayManage(ctx),
})

export const setsVariables = allows({
  says: 'the right to set pipeline variables',
  refuses: forbidden,
  holds: ({ actor, project }: Has<Around>) => maySetVariables(project, actor),
})

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'
const split = (full: string): { readonly ref: string; readonly tag: boolean } => ({
  ref: full.slice(full.indexOf('/', 'refs/'.length) + 1),
  tag: full.startsWith(TAGS),
})

/** The protection of the schedule's branch is checked for the caller, who will own the pipeline. */
export const runsOnRef: Gate<'allows', never, AroundSchedule, object> = {
  kind: 'allows',
  says: 'at least Developer in the project, with the right to run pipelines on the ref of the schedule',
  refuses: forbidden,
  pass: async ({ db, project, actor, schedule }) => {
    if (!actor.admin && project.role < ROLES.developer) return undefined
    return (await mayWriteRef(db, { actor, project }, split(schedule.ref))) ? {} : undefined
  },
}

const noRef = (text = 'Reference not found'): Problem => invalid({ base: [text] })

type Wanted = Around & { readonly params: { readonly ref?: string }; readonly schedule?: ScheduleWithOwner }

/** The ref that is asked for by its full name; undefined where none is. Git is read before there is a transaction. */
export const writableRef: Gate<'checks', never, Wanted, { fullRef: string | undefined }> = {
  kind: 'checks',
  says: 'a branch or tag that is there, and on which the caller may run pipelines',
  refuses: noRef,
  pass: async ({ db, git, actor, project, params, schedule }) => {
    const ref = params.ref ?? schedule?.ref ?? ''
    const full =
      params.ref === undefined ? ref : await expand(git.repository(repositoryPath(project.id)), ref)
    if (!(await mayWriteRef(db, { actor, project }, split(full)))) {
      const deed = schedule === undefined ? 'create' : 'update'
      throw noRef(`The current user is not authorized to ${deed} the pipeline schedule`)
    }
    return { fullRef: params.ref === undefined ? undefined : full }
  },
}

type Refs = ReturnType<Has<object>['git']['repository']>

async function expand(repository: Refs, ref: string): Promise<string> {
  if (!(await repository.exists())) throw noRef()
  const isFull = ref.startsWith(HEADS) || ref.startsWith(TAGS)
  const names = isFull ? [ref] : [HEADS + ref, TAGS + ref]
  const found: string[] = []
  for (const name of names) if ((await repository.ref(name)) !== undefined) found.push(name)
  const [full, another] = found
  if (another !== undefined) throw noRef('Ref is ambiguous')
  if (full === undefined) throw noRef()
  return full
}
