import type { Someone } from '../support/makers.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

const known = new WeakMap<Scene, Someone>()

/** A user without any relation to the scene. */
export async function somebody(world: World, scene: Scene): Promise<Pick<Someone, 'id' | 'username'>> {
  const id = known.get(scene)?.id ?? 0
  const [row] = await rowsOf<Someone>(world, 'select id, username from users where id = $1', [id])
  if (row !== undefined) return row
  const made = await world.make.user()
  known.set(scene, made)
  return made
}

/** Users, their tokens and addresses, and the settings of the instance. */
export const people: Calls = {
  inPrivate: `
                                none   0   5  10  15  20  30  40  50 adm nobody
  getApplicationSettings         403 403 403 403 403 403 403 403 403 200 401
  updateApplicationSettings      403 403 403 403 403 403 403 403 403 200 401
  listUsers                      200 200 200 200 200 200 200 200 200 200 403
  getUser                        200 200 200 200 200 200 200 200 200 200 403
  createUser                     403 403 403 403 403 403 403 403 403 201 401
  updateUser                     403 403 403 403 403 403 403 403 403 200 401
  deleteUser                     403 403 403 403 403 403 403 403 403 204 401
  blockUser                      403 403 403 403 403 403 403 403 403 201 401
  unblockUser                    403 403 403 403 403 403 403 403 403 201 401
  activateUser                   403 403 403 403 403 403 403 403 403 201 401
  deactivateUser                 403 403 403 403 403 403 403 403 403 201 401
  getStatusOfUser                200 200 200 200 200 200 200 200 200 200 200
  getOwnStatus                   200 200 200 200 200 200 200 200 200 200 401
  setOwnStatus                   200 200 200 200 200 200 200 200 200 200 401
  listMembershipsOfUser          403 403 403 403 403 403 403 403 403 200 401
  listEmailsOfUser               403 403 403 403 403 403 403 403 403 200 401
  addEmailToUser                 403 403 403 403 403 403 403 403 403 201 401
  deleteEmailOfUser              403 403 403 403 403 403 403 403 403 204 401
  listOwnEmails                  200 200 200 200 200 200 200 200 200 200 401
  addOwnEmail                    201 201 201 201 201 201 201 201 201 201 401
  getOwnEmail                    404 404 404 404 404 404 404 404 200 404 401
  deleteOwnEmail                 404 404 404 404 404 404 404 404 204 404 401
  createPersonalAccessToken      403 403 403 403 403 403 403 403 403 201 401
  createOwnPersonalAccessToken   201 201 201 201 201 201 201 201 201 201 401
  listImpersonationTokens        403 403 403 403 403 403 403 403 403 200 401
  getImpersonationToken          403 403 403 403 403 403 403 403 403 200 401
  createImpersonationToken       403 403 403 403 403 403 403 403 403 201 401
  revokeImpersonationToken       403 403 403 403 403 403 403 403 403 204 401
  rotatePersonalAccessToken      401 401 401 401 401 401 401 401 200 200 401
  rotatePresentedToken           200 200 200 200 200 200 200 200 200 200 401
`,
  bodies: {
    updateApplicationSettings: { default_projects_limit: 7 },
    createUser: { email: 'fresh@x.example', username: 'fresh', name: 'Fresh', force_random_password: true },
    updateUser: { name: 'Renamed' },
    setOwnStatus: { message: 'away' },
    addEmailToUser: { email: 'more@x.example' },
    addOwnEmail: { email: 'more@x.example' },
    createPersonalAccessToken: { name: 'fresh', scopes: ['api'] },
    createOwnPersonalAccessToken: { name: 'fresh', scopes: ['k8s_proxy'] },
    createImpersonationToken: { name: 'fresh', scopes: ['api'] },
  },
  set: async (world, scene, operation) => {
    const user = await somebody(world, scene)
    const owner = scene.callers.get('owner')?.id ?? 0
    const before: Record<string, string> = { unblockUser: 'blocked', activateUser: 'deactivated' }
    const addressOf = operation.endsWith('OwnEmail') ? owner : user.id
    await world.make.sql(`
      delete from settings;
      delete from users where username = 'fresh';
      update users set status = '{}', updated_at = created_at;
      update users set state = '${before[operation] ?? 'active'}', name = 'Somebody' where id = ${user.id};
      update namespaces set name = 'Somebody', full_name = 'Somebody', updated_at = created_at where owner_id = ${user.id};
      delete from user_emails where not is_primary and user_id in (${user.id}, ${owner});
      delete from user_emails where email = 'more@x.example';
      insert into user_emails (user_id, email) values (${addressOf}, 'second-${addressOf}@x.example');
      delete from personal_access_tokens where user_id = ${user.id} or name in ('fresh') or previous_personal_access_token_id > 0;
      update personal_access_tokens set revoked = false, updated_at = created_at;
      insert into personal_access_tokens (user_id, name, digest, scopes, impersonation)
      values (${user.id}, 'as somebody', '\\x${user.id.toString(16).padStart(64, '0')}', '{api}', true)`)
    const impersonation = await rowOf<{ id: number }>(
      world,
      'select id from personal_access_tokens where user_id = $1',
      [user.id],
    )
    const email = await rowOf<{ id: number }>(
      world,
      'select id from user_emails where user_id = $1 and not is_primary',
      [addressOf],
    )
    const token = await rowOf<{ id: number }>(
      world,
      'select min(id)::int as id from personal_access_tokens where user_id = $1',
      [owner],
    )
    return {
      id: String(user.id),
      user_id: String(user.id),
      user: user.username,
      impersonation_token_id: String(impersonation.id),
      email_id: String(email.id),
      token_id: String(token.id),
    }
  },
}
