import { project, reporter, signedIn } from '../../access/gates/gates.ts'
import { findGroup } from '../../core/places/group_sight.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { operation } from '../../http/operation.ts'
import { forbidden, refused, type Problem } from '../../http/problems.ts'
import { ProjectLabel, presentInProject, noLabel } from '../../records/planning/label.ts'
import { label } from './gates.ts'
import { promote } from './promote_store.ts'
import { forCaller } from './store.ts'

const failed = (): Problem => refused('Failed to promote project label to group label')

export const promoteProjectLabel = operation({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id/promote',
  summary: 'Promote a project label to a group label',
  published: true,
  first: [signedIn],
  gates: [project, reporter, label],
  handle: async (ctx) => {
    const { db, actor, project, label } = ctx
    const group = await findGroup(db, actor, project.namespace_id)
    if (group === undefined) throw failed()
    if (!actor.admin && group.role < ROLES.reporter) throw forbidden()
    const promoted = await promote(db, group.id, label)
    if (promoted === undefined) throw noLabel()
    return presentInProject(await forCaller(db, ctx, promoted.id))
  },
  returns: ProjectLabel,
  refuses: [failed, forbidden],
})
