import { Type as t } from 'typebox'
import type { Project } from '../../core/places/projects.ts'
import { loads, type Has } from '../../http/gate.ts'
import { notFound, type Problem } from '../../http/problems.ts'
import * as packages from '../../packages/store.ts'

export const noPackage = (): Problem => notFound('Package')

export const packageOf = loads({
  param: 'package_id',
  type: t.Integer(),
  as: 'pack',
  says: 'a package of the project',
  missing: noPackage,
  find: ({ db, project }: Has<{ project: Project }>, id) => packages.find(db, project.id, id),
})

/** Statuses in which a package is shown by its id. */
export const DISPLAYED: ReadonlySet<string> = new Set(['default', 'deprecated'])
