import { Type as t } from 'typebox'
import type { Project } from '../../core/places/projects.ts'
import type { Label } from '../../db/schema/tables.ts'
import { loads, type Gate, type Has } from '../../http/gate.ts'
import { noLabel } from '../../records/planning/label.ts'
import { findByTitle, findLabel, reachOf } from './store.ts'

type Here = Has<{ project: Project }>

const labelId = t.String({ description: 'The id or the URL-encoded title of the label' })
export const label = loads({
  param: 'label_id',
  type: labelId,
  as: 'label',
  says: 'a label of the project itself',
  missing: noLabel,
  find: ({ db, project }: Here, ref) => findLabel(db, reachOf(project, false), ref),
})
export const labelOfLine = loads({
  param: 'label_id',
  type: labelId,
  as: 'label',
  says: 'a label of the project or of a group above it',
  missing: noLabel,
  find: ({ db, project }: Here, ref) => findLabel(db, reachOf(project, true), ref),
})
export const labelInReach = loads({
  param: 'label_id',
  type: labelId,
  as: 'label',
  says: 'a label within the reach asked for',
  missing: noLabel,
  find: ({ db, project, params }: Here & { params: { include_ancestor_groups?: boolean } }, ref) =>
    findLabel(db, reachOf(project, params.include_ancestor_groups ?? true), ref),
})

/** For the deprecated forms, which name the label by a parameter: `label_id` as the path has it, `name` by its title alone. */
export const labelNamed: Gate<
  'checks',
  never,
  { project: Project; params: { readonly label_id?: number; readonly name?: string } },
  { readonly label: Label }
> = {
  kind: 'checks',
  says: 'a label of the project itself, by the parameter that names it',
  refuses: noLabel,
  pass: async ({ db, project, params }) => {
    const { label_id, name = '' } = params
    const reach = reachOf(project, false)
    const found = await (label_id === undefined
      ? findByTitle(db, reach, name)
      : findLabel(db, reach, String(label_id)))
    return found && { label: found }
  },
}
