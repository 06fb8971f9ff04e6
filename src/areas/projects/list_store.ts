import { projectPages } from '../../core/lists/projects.ts'
import type { ProjectRecord } from '../../records/places/full_project.ts'
import { recordsOf, revive } from './record_store.ts'
import { presentPage } from '../../http/answers/pages.ts'

const list = projectPages<ProjectRecord>((p, rows, shape) => recordsOf(p, rows, shape.everything))

/** One page of projects, as far as the viewer may see them. */
export const listProjects: typeof list = async (...args) => {
  const found = await list(...args)
  return presentPage(found, revive)
}
