import { Type as t } from 'typebox'
import type { Project } from '../../core/places/projects.ts'
import { loads, type Has } from '../../http/gate.ts'
import * as pipelines from './store.ts'

export const pipeline = loads({
  param: 'pipeline_id',
  type: t.Integer(),
  as: 'pipeline',
  says: 'a pipeline of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => pipelines.find(db, project.id, id),
})
