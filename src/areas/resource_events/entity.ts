import { Type as t, type Static } from 'typebox'
import { nullable, oneOf, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { Iteration, presentIteration, type IterationShown } from '../../records/planning/iteration.ts'
import { Milestone, presentMilestone, type MilestoneShown } from '../../records/planning/milestone.ts'
import { LabelDetails, presentDetails, type LabelShown } from '../../records/conversation/noteable.ts'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'
import type { NoteableKind } from '../../core/conversation/noteable.ts'

const who = { id: t.Integer(), user: nullable(UserBasic), created_at: moment() }
const what = { ...who, resource_type: t.String(), resource_id: t.Integer() }
const action = oneOf(['add', 'remove'])

export const LabelEvent = t.Object({
  ...what,
  // Null once the label is deleted.
  label: nullable(LabelDetails),
  action,
})
export const StateEvent = t.Object({ ...what, state: t.String() })
export const MilestoneEvent = t.Object({ ...what, milestone: nullable(Milestone), action, state: t.String() })
export const WeightEvent = t.Object({ ...who, issue_id: t.Integer(), weight: nullable(t.Integer()) })
export const IterationEvent = t.Object({ ...what, iteration: nullable(Iteration), action })

interface Shown {
  readonly id: number
  readonly user: Author | null
  readonly created_at: Date
  readonly resource_id: number
}
export interface LabelEventShown extends Shown {
  readonly action: 'add' | 'remove'
  readonly label: LabelShown | null
}
export interface StateEventShown extends Shown {
  readonly state: string
}
export interface MilestoneEventShown extends Shown {
  readonly action: 'add' | 'remove'
  readonly state: string
  readonly milestone: MilestoneShown | null
}
export interface WeightEventShown extends Shown {
  readonly weight: number | null
}
export interface IterationEventShown extends Shown {
  readonly action: 'add' | 'remove'
  readonly iteration: IterationShown | null
}

/** The parent of the events, and the target of links. */
export interface Around extends Pick<Instance, 'config'> {
  readonly noteable: { readonly kind: NoteableKind }
}

const TYPES: Readonly<Record<NoteableKind, string>> = {
  issue: 'Issue',
  merge_request: 'MergeRequest',
  epic: 'Epic',
  snippet: 'Snippet',
  commit: 'Commit',
}

const base = (row: Shown, around: Around): Pick<Static<typeof StateEvent>, 'id' | 'user' | 'created_at'> => ({
  id: row.id,
  user: row.user && presentUser(row.user, around),
  created_at: row.created_at,
})
const about = (row: Shown, around: Around): Omit<Static<typeof StateEvent>, 'state'> => ({
  ...base(row, around),
  resource_type: TYPES[around.noteable.kind],
  resource_id: row.resource_id,
})

export const presentLabelEvent = (row: LabelEventShown, around: Around): Static<typeof LabelEvent> => ({
  ...about(row, around),
  label: row.label && presentDetails(row.label),
  action: row.action,
})
export const presentStateEvent = (row: StateEventShown, around: Around): Static<typeof StateEvent> => ({
  ...about(row, around),
  state: row.state,
})
export const presentMilestoneEvent = (
  row: MilestoneEventShown,
  around: Around,
): Static<typeof MilestoneEvent> => ({
  ...about(row, around),
  milestone: row.milestone && presentMilestone(row.milestone, around),
  action: row.action,
  state: row.state,
})
export const presentWeightEvent = (row: WeightEventShown, around: Around): Static<typeof WeightEvent> => ({
  ...base(row, around),
  issue_id: row.resource_id,
  weight: row.weight,
})
export const presentIterationEvent = (
  row: IterationEventShown,
  around: Around,
): Static<typeof IterationEvent> => ({
  ...about(row, around),
  iteration: row.iteration && presentIteration(row.iteration, around),
  action: row.action,
})
