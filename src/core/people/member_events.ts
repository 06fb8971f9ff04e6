import type { Db } from '../../db/db.ts'
import { recordEvents, type OutboxEvent } from '../../outbox/record.ts'

export type MemberAct = 'add' | 'update' | 'remove'

/** A role that changed, on a group or on a project. */
export interface MemberChange {
  readonly user_id: number
  readonly namespace_id: number | null
  readonly project_id: number | null
  readonly access_level: number
  readonly expires_at: string | null
}

const ACTIONS = {
  add: ['user_add_to_group', 'user_add_to_team'],
  update: ['user_update_for_group', 'user_update_for_team'],
  remove: ['user_remove_from_group', 'user_remove_from_team'],
} as const
const ACTIVITY = { add: 'joined', update: undefined, remove: 'left' } as const

function memberEvent(act: MemberAct, member: MemberChange, by: number | null): OutboxEvent {
  const inProject = member.project_id !== null
  const { user_id, access_level, expires_at } = member
  return {
    kind: 'member',
    action: ACTIONS[act][inProject ? 1 : 0],
    activity: inProject ? ACTIVITY[act] : undefined,
    // Lists of events show who joined or left.
    author_id: user_id,
    project_id: member.project_id,
    group_id: member.namespace_id,
    trigger: inProject ? undefined : 'member_events',
    data: { user_id, access_level, expires_at, by },
  }
}

/** Records that users got, changed or lost roles. `by` is who did it. */
export const recordMembers = (
  db: Db,
  act: MemberAct,
  members: readonly MemberChange[],
  by: number | null,
): Promise<void> =>
  recordEvents(
    db,
    members.map((member) => memberEvent(act, member, by)),
  )
