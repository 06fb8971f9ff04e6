import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** The audit log of the instance, of groups and of projects. */
export const auditEvents: Calls = {
  inPrivate: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listAuditEvents          403 403 403 403 403 403 403 403 403 200 401
  getAuditEvent            403 403 403 403 403 403 403 403 403 200 401
  listGroupAuditEvents     404 404 403 403 403 403 200 200 200 200 401
  getGroupAuditEvent       404 404 403 403 403 403 403 403 200 200 401
  listProjectAuditEvents   404 404 404 403 403 403 200 200 200 200 401
  getProjectAuditEvent     404 404 404 403 403 403 403 200 200 200 401
`,
  inPublic: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listGroupAuditEvents     403 403 403 403 403 403 200 200 200 200 401
  getGroupAuditEvent       403 403 403 403 403 403 403 403 200 200 401
  listProjectAuditEvents   403 403 403 403 403 403 200 200 200 200 401
  getProjectAuditEvent     403 403 403 403 403 403 403 200 200 200 401
`,
  set: async (world, { group, project }, operation) => {
    const [type, of] = operation.includes('Group') ? ['Group', group.id] : ['Project', project.id]
    await world.make.sql(`
      delete from audit_events where entity_type = '${type}' and entity_id = ${of};
      insert into audit_events (entity_type, entity_id, event_type, details)
      values ('${type}', ${of}, 'member_created', '{"add": "user_access"}')`)
    const { id } = await rowOf<{ id: number }>(
      world,
      'select id from audit_events where entity_type = $1 and entity_id = $2',
      [type, of],
    )
    return { audit_event_id: String(id), ...(operation === 'getAuditEvent' && { id: String(id) }) }
  },
}
