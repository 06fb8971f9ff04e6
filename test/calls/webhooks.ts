import { NO_SECRETS } from '../../src/hooks/rows.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import { allowLocal, openReceiver, type Receiver } from '../support/webhook_receiver.ts'
import type { Calls } from './calls.ts'

let receiver: Promise<Receiver> | undefined

const url = 'https://receiver.example/hook'

/** Webhooks of projects, of groups and of the instance, with a receiver on this machine. */
export const webhooks: Calls = {
  inPrivate: `
                                  none   0   5  10  15  20  30  40  50 adm nobody
  listProjectHooks                 404 404 404 403 403 403 403 200 200 200 401
  getProjectHook                   404 404 404 403 403 403 403 200 200 200 401
  createProjectHook                404 404 404 403 403 403 403 201 201 201 401
  updateProjectHook                404 404 404 403 403 403 403 200 200 200 401
  deleteProjectHook                404 404 404 403 403 403 403 204 204 204 401
  testProjectHook                  404 404 404 403 403 403 403 201 201 201 401
  listProjectHookEvents            404 404 404 403 403 403 403 200 200 200 401
  resendProjectHookEvent           404 404 404 403 403 403 403 201 201 201 401
  setProjectHookUrlVariable        404 404 404 403 403 403 403 204 204 204 401
  deleteProjectHookUrlVariable     404 404 404 403 403 403 403 204 204 204 401
  setProjectHookCustomHeader       404 404 404 403 403 403 403 204 204 204 401
  deleteProjectHookCustomHeader    404 404 404 403 403 403 403 204 204 204 401
  listGroupHooks                   404 404 403 403 403 403 403 403 200 200 401
  getGroupHook                     404 404 403 403 403 403 403 403 200 200 401
  createGroupHook                  404 404 403 403 403 403 403 403 201 201 401
  updateGroupHook                  404 404 403 403 403 403 403 403 200 200 401
  deleteGroupHook                  404 404 403 403 403 403 403 403 204 204 401
  testGroupHook                    404 404 403 403 403 403 403 403 201 201 401
  listGroupHookEvents              404 404 403 403 403 403 403 403 200 200 401
  resendGroupHookEvent             404 404 403 403 403 403 403 403 201 201 401
  setGroupHookUrlVariable          404 404 403 403 403 403 403 403 204 204 401
  deleteGroupHookUrlVariable       404 404 403 403 403 403 403 403 204 204 401
  setGroupHookCustomHeader         404 404 403 403 403 403 403 403 204 204 401
  deleteGroupHookCustomHeader      404 404 403 403 403 403 403 403 204 204 401
  listSystemHooks                  403 403 403 403 403 403 403 403 403 200 401
  getSystemHook                    403 403 403 403 403 403 403 403 403 200 401
  createSystemHook                 403 403 403 403 403 403 403 403 403 201 401
  updateSystemHook                 403 403 403 403 403 403 403 403 403 200 401
  deleteSystemHook                 403 403 403 403 403 403 403 403 403 204 401
  testSystemHook                   403 403 403 403 403 403 403 403 403 201 401
`,
  inPublic: `
                                  none   0   5  10  15  20  30  40  50 adm nobody
  listProjectHooks                 403 403 403 403 403 403 403 200 200 200 401
  getProjectHook                   403 403 403 403 403 403 403 200 200 200 401
  createProjectHook                403 403 403 403 403 403 403 201 201 201 401
  updateProjectHook                403 403 403 403 403 403 403 200 200 200 401
  deleteProjectHook                403 403 403 403 403 403 403 204 204 204 401
  testProjectHook                  403 403 403 403 403 403 403 201 201 201 401
  listProjectHookEvents            403 403 403 403 403 403 403 200 200 200 401
  resendProjectHookEvent           403 403 403 403 403 403 403 201 201 201 401
  setProjectHookUrlVariable        403 403 403 403 403 403 403 204 204 204 401
  deleteProjectHookUrlVariable     403 403 403 403 403 403 403 204 204 204 401
  setProjectHookCustomHeader       403 403 403 403 403 403 403 204 204 204 401
  deleteProjectHookCustomHeader    403 403 403 403 403 403 403 204 204 204 401
  listGroupHooks                   403 403 403 403 403 403 403 403 200 200 401
  getGroupHook                     403 403 403 403 403 403 403 403 200 200 401
  createGroupHook                  403 403 403 403 403 403 403 403 201 201 401
  updateGroupHook                  403 403 403 403 403 403 403 403 200 200 401
  deleteGroupHook                  403 403 403 403 403 403 403 403 204 204 401
  testGroupHook                    403 403 403 403 403 403 403 403 201 201 401
  listGroupHookEvents              403 403 403 403 403 403 403 403 200 200 401
  resendGroupHookEvent             403 403 403 403 403 403 403 403 201 201 401
  setGroupHookUrlVariable          403 403 403 403 403 403 403 403 204 204 401
  deleteGroupHookUrlVariable       403 403 403 403 403 403 403 403 204 204 401
  setGroupHookCustomHeader         403 403 403 403 403 403 403 403 204 204 401
  deleteGroupHookCustomHeader      403 403 403 403 403 403 403 403 204 204 401
`,
  bodies: {
    createProjectHook: { url },
    createGroupHook: { url },
    createSystemHook: { url },
    updateProjectHook: { issues_events: true },
    updateGroupHook: { issues_events: true },
    updateSystemHook: { push_events: true },
    setProjectHookUrlVariable: { value: 'a' },
    setGroupHookUrlVariable: { value: 'a' },
    setProjectHookCustomHeader: { value: 'a' },
    setGroupHookCustomHeader: { value: 'a' },
  },
  set: async (world, { group, project }, operation) => {
    const { instance } = world.opened
    await allowLocal(world)
    const { url: address } = await (receiver ??= openReceiver())
    const kind = /Project/.test(operation) ? 'project' : /Group/.test(operation) ? 'group' : 'system'
    const secrets = { ...NO_SECRETS, url_variables: { known: 'a' }, custom_headers: { known: 'a' } }
    const isDeleting = /^delete\w+(Variable|Header)$/.test(operation)
    await rowsOf(
      world,
      `delete from web_hooks where project_id = $1 or group_id = $2 or project_id is null and group_id is null`,
      [project.id, group.id],
    )
    const hook = await rowOf<{ id: number }>(
      world,
      `insert into web_hooks (project_id, group_id, url, subscriptions, enable_ssl_verification, branch_filter_strategy,
                              secrets, url_variables, custom_headers)
       values ($1, $2, $3, '{push_events}', true, 'wildcard', $4, '{known}', '{known}') returning id`,
      [
        kind === 'project' ? project.id : null,
        kind === 'group' ? group.id : null,
        address,
        instance.vault.seal(JSON.stringify(secrets)),
      ],
    )
    const event = await rowOf<{ id: number }>(
      world,
      `insert into web_hook_deliveries (hook_id, trigger, pending, attempts, url, body, response_status)
       values ($1, 'push_events', false, 1, $2, '{}', '200') returning id`,
      [hook.id, address],
    )
    return {
      hook_id: String(hook.id),
      hook_event_id: String(event.id),
      trigger: 'push_events',
      key: isDeleting ? 'known' : 'fresh',
    }
  },
}
