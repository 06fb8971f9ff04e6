import { Type as t } from 'typebox'
import { mayWriteRef } from '../../access/gates/pipeline_gates.ts'
import { findPipeline } from '../../ci/pipeline_store.ts'
import type { Project } from '../../core/places/projects.ts'
import { loads, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { forbidden } from '../../http/problems.ts'
import * as jobs from './store.ts'

export const job = loads({
  param: 'job_id',
  type: t.Integer(),
  as: 'job',
  says: 'a job of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => jobs.find(db, project.id, id),
})

/** The same for what starts trigger jobs too. */
export const anyJob = loads({
  param: 'job_id',
  type: t.Integer(),
  as: 'job',
  says: 'a job or trigger job of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => jobs.findAny(db, project.id, id),
})

export const pipeline = loads({
  param: 'pipeline_id',
  type: t.Integer(),
  as: 'pipeline',
  says: 'a pipeline of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => findPipeline(db, project.id, id),
})

/** The right to change a job: Developers have it, on a protected branch those who may push or merge. */
export const writesJob: Gate<
  'allows',
  never,
  { project: Project; actor: Actor; job: jobs.JobOnRef },
  object
> = {
  kind: 'allows',
  says: 'the right to push or merge into the branch of the job',
  refuses: forbidden,
  pass: async ({ db, project, actor, job }) =>
    (await mayWriteRef(db, { project, actor }, job)) ? {} : undefined,
}
