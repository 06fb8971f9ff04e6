import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

const fresh = { name: 'fresh', scopes: ['api'], access_level: 20 }

/** Tokens of groups and projects. */
export const accessTokens: Calls = {
  inPrivate: `
                             none   0   5  10  15  20  30  40  50 adm nobody
  listGroupAccessTokens      404 404 401 401 401 401 401 401 200 200 401
  getGroupAccessToken        404 404 401 401 401 401 401 401 200 200 401
  createGroupAccessToken     404 404 400 400 400 400 400 400 201 201 401
  rotateGroupAccessToken     404 404 401 401 401 401 401 401 200 200 401
  revokeGroupAccessToken     404 404 401 401 401 401 401 401 204 204 401
  listProjectAccessTokens    404 404 404 401 401 401 401 200 200 200 401
  getProjectAccessToken      404 404 404 401 401 401 401 200 200 200 401
  createProjectAccessToken   404 404 404 400 400 400 400 201 201 201 401
  rotateProjectAccessToken   404 404 404 401 401 401 401 200 200 200 401
  revokeProjectAccessToken   404 404 404 401 401 401 401 204 204 204 401
  getPresentedGroupToken     404 404 405 405 405 405 405 405 405 405 401
  rotatePresentedGroupToken  404 404 405 405 405 405 405 405 405 405 401
  getPresentedProjectToken   404 404 404 405 405 405 405 405 405 405 401
  rotatePresentedProjectToken 404 404 404 405 405 405 405 405 405 405 401
`,
  inPublic: `
                             none   0   5  10  15  20  30  40  50 adm nobody
  listGroupAccessTokens      401 401 401 401 401 401 401 401 200 200 401
  getGroupAccessToken        401 401 401 401 401 401 401 401 200 200 401
  createGroupAccessToken     400 400 400 400 400 400 400 400 201 201 401
  rotateGroupAccessToken     401 401 401 401 401 401 401 401 200 200 401
  revokeGroupAccessToken     401 401 401 401 401 401 401 401 204 204 401
  listProjectAccessTokens    401 401 401 401 401 401 401 200 200 200 401
  getProjectAccessToken      401 401 401 401 401 401 401 200 200 200 401
  createProjectAccessToken   400 400 400 400 400 400 400 201 201 201 401
  rotateProjectAccessToken   401 401 401 401 401 401 401 200 200 200 401
  revokeProjectAccessToken   401 401 401 401 401 401 401 204 204 204 401
  getPresentedGroupToken     405 405 405 405 405 405 405 405 405 405 401
  rotatePresentedGroupToken  405 405 405 405 405 405 405 405 405 405 401
  getPresentedProjectToken   405 405 405 405 405 405 405 405 405 405 401
  rotatePresentedProjectToken 405 405 405 405 405 405 405 405 405 405 401
`,
  bodies: { createGroupAccessToken: fresh, createProjectAccessToken: fresh },
  set: async (world, { group, project }, operation) => {
    const inGroup = operation.includes('Group')
    const name = `bot-${inGroup ? 'g' : 'p'}-${group.id}`
    const place = inGroup ? `${group.id}, null` : `null, ${project.id}`
    await world.make.sql(`
      delete from users where id in (select user_id from resource_bots
        where namespace_id = ${group.id} or project_id = ${project.id});
      insert into users (username, name, email, user_type) values ('${name}', 'bot', '${name}@x.example', 'project_bot');
      insert into resource_bots (user_id, namespace_id, project_id, access_level)
      select id, ${place}, 20 from users where username = '${name}';
      insert into personal_access_tokens (user_id, name, digest, scopes)
      select id, 'known', '\\x${Buffer.from(name).toString('hex')}', '{api}' from users where username = '${name}'`)
    const token = await rowOf<{ id: number }>(
      world,
      'select t.id from personal_access_tokens t join users u on u.id = t.user_id where u.username = $1',
      [name],
    )
    return { token_id: String(token.id), id: String(inGroup ? group.id : project.id) }
  },
}
