import { Type as t } from 'typebox'
import type { Group } from '../../core/places/groups.ts'
import type { Label } from '../../db/schema/tables.ts'
import { loads, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { noLabel } from '../../records/planning/label.ts'
import * as labels from './store.ts'

type Here = Has<{ group: Group; actor: Actor }>

export const reachParams = {
  include_ancestor_groups: t.Boolean({ default: true }),
  include_descendant_groups: t.Boolean({ default: false }),
  only_group_labels: t.Boolean({ default: true, description: 'False: labels of projects too' }),
}
interface ReachParams {
  readonly include_ancestor_groups?: boolean
  readonly include_descendant_groups?: boolean
  readonly only_group_labels?: boolean
}
export const reachOf = (params: ReachParams): labels.Reach => ({
  ancestors: params.include_ancestor_groups ?? true,
  descendants: params.include_descendant_groups ?? false,
  projects: params.only_group_labels === false,
})
const OWN: labels.Reach = { ancestors: false, descendants: false, projects: false }
export const LINE: labels.Reach = { ...OWN, ancestors: true }

const find = ({ db, actor, group }: Here, reach: labels.Reach, ref: string): Promise<Label | undefined> =>
  labels.findLabel(db, actor, { group, reach }, ref)

const labelId = t.String({ description: 'The id or the URL-encoded title of the label' })
export const label = loads({
  param: 'label_id',
  type: labelId,
  as: 'label',
  says: 'a label of the group itself',
  missing: noLabel,
  find: (ctx: Here, ref) => find(ctx, OWN, ref),
})
export const labelOfLine = loads({
  param: 'label_id',
  type: labelId,
  as: 'label',
  says: 'a label of the group or of a group above it',
  missing: noLabel,
  find: (ctx: Here, ref) => find(ctx, LINE, ref),
})
export const labelInReach = loads({
  param: 'label_id',
  type: labelId,
  as: 'label',
  says: 'a label within the reach asked for',
  missing: noLabel,
  find: (ctx: Here & { params: ReachParams }, ref) => find(ctx, reachOf(ctx.params), ref),
})

/** For the deprecated forms, which name the label by a parameter: `label_id` as the path has it, `name` by its title alone. */
export const labelNamed: Gate<
  'checks',
  never,
  { group: Group; actor: Actor; params: { readonly label_id?: number; readonly name?: string } },
  { readonly label: Label }
> = {
  kind: 'checks',
  says: 'a label of the group itself, by the parameter that names it',
  refuses: noLabel,
  pass: async (ctx) => {
    const { db, actor, group, params } = ctx
    const { label_id, name = '' } = params
    const found = await (label_id === undefined
      ? labels.findByTitle(db, actor, { group, reach: OWN }, name)
      : find(ctx, OWN, String(label_id)))
    return found && { label: found }
  },
}
