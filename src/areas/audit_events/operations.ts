import { Type as t } from 'typebox'
import {
  administrator,
  developer,
  group,
  groupDeveloper,
  groupOwner,
  maintainer,
  project,
  signedIn,
} from '../../access/gates/gates.ts'
import { premiumOrAbsent, premiumPlanOrAbsent } from '../../access/tiers.ts'
import type { Group } from '../../core/places/groups.ts'
import type { Project } from '../../core/places/projects.ts'
import { findAudit, listAudit, type AuditFilter } from '../../core/settings/audit_log.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { loads, type Actor, type Context, type Has } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { oneOf, timestamp } from '../../http/params/schema.ts'
import { badParams, type Problem } from '../../http/problems.ts'
import { AuditEvent, presentAudit } from './entity.ts'

const common = { method: 'GET', published: true } as const
const times = { created_after: t.Optional(timestamp()), created_before: t.Optional(timestamp()) }
interface Times {
  readonly created_after?: string | undefined
  readonly created_before?: string | undefined
}

/** Milliseconds that one query may span, as published. */
const MAX_SPAN = 30 * 86_400_000
const tooLong = (): Problem => badParams(['created_before must be within 30 days of created_after'])
const checkSpan = ({ created_after: from, created_before: to }: Times): void => {
  if (from !== undefined && to !== undefined && Date.parse(to) - Date.parse(from) > MAX_SPAN) throw tooLong()
}

async function list(
  ctx: Context & { readonly page: PageRequest; readonly params: Times },
  filter: AuditFilter,
) {
  checkSpan(ctx.params)
  const { created_after, created_before } = ctx.params
  const whole = { ...filter, created_after, created_before }
  return presentPage(await listAudit(ctx.db, whole, { ...ctx.page }), presentAudit)
}

const says = 'a row of the audit log there'
/** The row of a path parameter, among those of the instance, of a group or of a project. */
const row = loads({
  param: 'id',
  type: t.Integer(),
  as: 'audited',
  says,
  find: ({ db }: Context, id) => findAudit(db, {}, id),
})
const rowOfGroup = loads({
  param: 'audit_event_id',
  type: t.Integer(),
  as: 'audited',
  says,
  find: ({ db, group }: Has<{ group: Group }>, id) =>
    findAudit(db, { entity_type: 'Group', entity_id: group.id }, id),
})
const rowOfProject = loads({
  param: 'audit_event_id',
  type: t.Integer(),
  as: 'audited',
  says,
  find: ({ db, project }: Has<{ project: Project }>, id) =>
    findAudit(db, { entity_type: 'Project', entity_id: project.id }, id),
})

export const listAuditEvents = operation({
  ...common,
  path: '/audit_events',
  summary: 'List the audit log of the instance, the newest first',
  first: [premiumOrAbsent, signedIn, administrator],
  params: t.Object({
    ...times,
    entity_type: t.Optional(oneOf(['User', 'Group', 'Project', 'Gitlab::Audit::InstanceScope'])),
    entity_id: t.Optional(t.Integer({ description: 'With `entity_type`' })),
  }),
  gates: [],
  handle: (ctx) => {
    const { entity_type, entity_id } = ctx.params
    return list(ctx, { entity_type, ...(entity_type !== undefined && { entity_id }) })
  },
  returns: pageOf(AuditEvent),
  refuses: [tooLong],
})

export const getAuditEvent = operation({
  ...common,
  path: '/audit_events/:id',
  summary: 'Get a row of the audit log of the instance',
  first: [premiumOrAbsent, signedIn, administrator],
  gates: [row],
  handle: async ({ audited }) => presentAudit(audited),
  returns: AuditEvent,
})

/** Below that role callers see their own acts alone. */
const ownBelow = (
  actor: Actor,
  place: { readonly role: number },
  role: number,
): { readonly author_id?: number } => (actor.admin || place.role >= role ? {} : { author_id: actor.id })

export const listGroupAuditEvents = operation({
  ...common,
  path: '/groups/:id/audit_events',
  summary: 'List the audit log of a group; below Owner, one’s own acts',
  first: [premiumOrAbsent, signedIn],
  params: t.Object(times),
  gates: [group, premiumPlanOrAbsent.group, groupDeveloper],
  handle: (ctx) => {
    const { actor, group } = ctx
    return list(ctx, { entity_type: 'Group', entity_id: group.id, ...ownBelow(actor, group, ROLES.owner) })
  },
  returns: pageOf(AuditEvent),
  refuses: [tooLong],
})

export const getGroupAuditEvent = operation({
  ...common,
  path: '/groups/:id/audit_events/:audit_event_id',
  summary: 'Get a row of the audit log of a group',
  first: [premiumOrAbsent, signedIn],
  gates: [group, premiumPlanOrAbsent.group, groupOwner, rowOfGroup],
  handle: async ({ audited }) => presentAudit(audited),
  returns: AuditEvent,
})

export const listProjectAuditEvents = operation({
  ...common,
  path: '/projects/:id/audit_events',
  summary: 'List the audit log of a project; below Maintainer, one’s own acts',
  first: [premiumOrAbsent, signedIn],
  params: t.Object(times),
  gates: [project, premiumPlanOrAbsent.project, developer],
  handle: (ctx) => {
    const { actor, project } = ctx
    const own = ownBelow(actor, project, ROLES.maintainer)
    return list(ctx, { entity_type: 'Project', entity_id: project.id, ...own })
  },
  returns: pageOf(AuditEvent),
  refuses: [tooLong],
})

export const getProjectAuditEvent = operation({
  ...common,
  path: '/projects/:id/audit_events/:audit_event_id',
  summary: 'Get a row of the audit log of a project',
  first: [premiumOrAbsent, signedIn],
  gates: [project, premiumPlanOrAbsent.project, maintainer, rowOfProject],
  handle: async ({ audited }) => presentAudit(audited),
  returns: AuditEvent,
})
