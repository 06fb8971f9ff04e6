import { Type as t, type Static } from 'typebox'
import type { ProtectedBranch as Row } from '../../db/schema/repositories.ts'
import { nullable } from '../../http/params/schema.ts'

const level = {
  id: t.Integer(),
  access_level: t.Integer(),
  access_level_description: t.String(),
  user_id: nullable(t.Integer()),
  group_id: nullable(t.Integer()),
}
const Level = t.Object(level)

export const ProtectedBranch = t.Object({
  id: t.Integer(),
  name: t.String(),
  push_access_levels: t.Array(t.Object({ ...level, deploy_key_id: nullable(t.Integer()) })),
  merge_access_levels: t.Array(Level),
  allow_force_push: t.Boolean(),
  unprotect_access_levels: t.Array(Level),
  code_owner_approval_required: t.Boolean(),
  inherited: t.Boolean(),
})

/** The published levels with their published words. */
export const LEVELS: Readonly<Record<number, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Administrators',
}

/** A row with its levels, each action's in the order they were given. */
export type ProtectedBranchRow = Pick<Row, 'id' | 'name' | 'allow_force_push'> & {
  readonly levels: readonly {
    readonly id: number
    readonly action: 'push' | 'merge' | 'unprotect'
    readonly access_level: number
    /** One user, in place of everybody of the level. */
    readonly user_id: number | null
    readonly user_name: string | null
  }[]
}

export function present({
  id,
  name,
  allow_force_push,
  levels,
}: ProtectedBranchRow): Static<typeof ProtectedBranch> {
  const of = (wanted: string): Static<typeof Level>[] =>
    levels
      .filter(({ action }) => action === wanted)
      .map(({ id, access_level, user_id, user_name }) => ({
        id,
        access_level,
        access_level_description: user_name ?? LEVELS[access_level] ?? '',
        user_id,
        group_id: null,
      }))
  return {
    id,
    name,
    push_access_levels: of('push').map((one) => ({ ...one, deploy_key_id: null })),
    merge_access_levels: of('merge'),
    allow_force_push,
    unprotect_access_levels: of('unprotect'),
    code_owner_approval_required: false,
    inherited: false,
  }
}
