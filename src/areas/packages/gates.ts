import { Type as t } from 'typebox'
import type { Project } from '../../core/places/projects.ts'
import { loads, type Actor, type Has } from '../../http/gate.ts'
import { notFound, type Problem } from '../../http/problems.ts'
import * as packages from '../../packages/store.ts'
import { ROLES } from '../../core/sight/roles.ts'

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

export const mayDelete = (actor: Actor | null, { role }: { readonly role: number }): boolean =>
  actor?.admin === true || role >= ROLES.maintainer
