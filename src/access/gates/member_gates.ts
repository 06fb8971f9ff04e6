import { sql } from 'kysely'
import type { Group } from '../../core/places/groups.ts'
import type { Source } from '../../core/people/membership.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Actor, Context, Gate } from '../../http/gate.ts'
import { forbidden, noSuchRecord } from '../../http/problems.ts'
import { includes, tierAt } from '../../core/settings/plans.ts'

type Becomes<Needs extends object> = Gate<'checks', never, Needs, { readonly source: Source }>

/** The group, as that of which people are members. */
export const groupSource: Becomes<{ group: Group }> = {
  kind: 'checks',
  says: 'members of the group',
  refuses: noSuchRecord,
  pass: ({ group }) => ({
    source: {
      kind: 'group',
      id: group.id,
      role: group.role,
      above: group.traversal_ids.slice(0, -1),
    },
  }),
}

/** The project, as that of which people are members. */
export const projectSource: Becomes<{ project: Project }> = {
  kind: 'checks',
  says: 'members of the project',
  refuses: noSuchRecord,
  pass: ({ project }) => ({
    source: { kind: 'project', id: project.id, role: project.role, above: project.traversal_ids },
  }),
}

const lock = statement(
  (p: Slots<{ id: number }>) => sql<{ locked: boolean }>`
    select coalesce((settings->>'membership_lock')::boolean, false) as locked from namespaces where id = ${p.id}`,
)
/** The membership of projects is locked where their group says so, for every caller. */
export const takesMembers: Gate<'checks', never, { project: Project }, object> = {
  kind: 'checks',
  says: 'a project whose group does not lock its membership',
  refuses: forbidden,
  pass: async (ctx) => {
    const { db, project } = ctx
    if (!includes(await tierAt(ctx, project), 'premium')) return {}
    return (await db.one(lock, { id: project.namespace_id }))?.locked === true ? undefined : {}
  },
}

/** Whether the caller has a say over those who have that level: over owners only owners have. */
export const maySetLevel = (actor: Actor, source: Source, level: number): boolean =>
  actor.admin || source.role >= ROLES.owner || (level < ROLES.owner && manages(actor, source))

/** Whether the caller gives and takes roles there. */
export const manages = (actor: Actor, { kind, role }: Source): boolean =>
  actor.admin || role >= (kind === 'group' ? ROLES.owner : ROLES.maintainer)

/** Whether promotions that this caller asks for wait for an administrator while the setting asks for that. */
export const asksForPromotions = ({ settings }: Pick<Context, 'settings'>, actor: Actor): boolean =>
  !actor.admin && includes(settings.get('tier'), 'ultimate')

/** Whether they wait now. */
export const queuesPromotions = (ctx: Context, actor: Actor): boolean =>
  asksForPromotions(ctx, actor) && ctx.settings.get('enable_member_promotion_management')

export const QUEUED = 'Request queued for administrator approval.'
export const LIMIT = 100
export const TOO_MANY = `Too many users specified (limit is ${LIMIT})`
