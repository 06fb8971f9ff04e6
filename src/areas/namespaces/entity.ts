import { Type as t, type Static } from 'typebox'
import type { Namespace as NamespaceRow } from '../../db/schema/tables.ts'
import type { Actor } from '../../http/gate.ts'
import { date, nullable, oneOf, timestamp } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { ROLES } from '../../core/sight/roles.ts'

export const Namespace = t.Object({
  id: t.Integer(),
  name: t.String(),
  path: t.String(),
  kind: oneOf(['user', 'group']),
  full_path: t.String(),
  parent_id: nullable(t.Integer()),
  avatar_url: nullable(t.String()),
  web_url: t.String(),
  billable_members_count: t.Integer(),
  // Shown to those who may administer the namespace.
  plan: t.Optional(t.String()),
  end_date: t.Optional(nullable(date())),
  trial_ends_on: t.Optional(nullable(date())),
  trial: t.Optional(t.Boolean()),
  // The same, for groups only.
  members_count_with_descendants: t.Optional(t.Integer()),
  root_repository_size: t.Optional(t.Integer()),
  projects_count: t.Optional(t.Integer()),
  // The hosted offering only.
  max_seats_used: t.Optional(t.Integer()),
  max_seats_used_changed_at: t.Optional(nullable(timestamp())),
  seats_in_use: t.Optional(t.Integer()),
})

export type NamespaceWithCounts = NamespaceRow & {
  readonly role: number
  readonly billable_members_count: number
  readonly members_count_with_descendants: number
  readonly root_repository_size: number
  readonly projects_count: number
}

export function present(
  row: NamespaceWithCounts,
  { config, settings, actor }: Pick<Instance, 'config' | 'settings'> & { actor: Actor },
): Static<typeof Namespace> {
  const group = row.kind === 'group'
  const administers = actor.admin || row.role >= ROLES.owner
  const paid = row.plan !== 'default' && row.plan !== 'free'
  const seats = paid ? row.billable_members_count : 0
  return {
    id: row.id,
    name: row.name,
    path: row.path,
    kind: row.kind,
    full_path: row.full_path,
    parent_id: row.parent_id,
    avatar_url: row.avatar_url,
    web_url: group ? `${config.url}/groups/${row.full_path}` : `${config.url}/${row.full_path}`,
    billable_members_count: row.billable_members_count,
    ...(administers && { plan: row.plan, end_date: null, trial_ends_on: null, trial: false }),
    ...(administers &&
      group && {
        members_count_with_descendants: row.members_count_with_descendants,
        root_repository_size: row.root_repository_size,
        projects_count: row.projects_count,
      }),
    ...(settings.get('offering') === 'hosted' && {
      max_seats_used: seats,
      max_seats_used_changed_at: null,
      seats_in_use: seats,
    }),
  }
}
