/* The unmodified client @gitbeaker/rest brings people in and sends them away, with only the administrator's token. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

type Row = Record<string, unknown> & { readonly id: number }
const row = (given: unknown): Row => given as Row

test('it makes a user with a token, and finds, changes, blocks and deletes the user', async () => {
  const { Users, PersonalAccessTokens, UserEmails, UserImpersonationTokens } = harbour.as('root')
  const made = row(
    await Users.create({
      email: 'mira@x.example',
      username: 'mira',
      name: 'Mira',
      forceRandomPassword: true,
      skipConfirmation: true,
    }),
  )
  assert.deepEqual([made['username'], made['is_admin'], made['note']], ['mira', false, null])
  assert.deepEqual(
    (await Users.all({ search: 'mira' })).map(({ username }) => username),
    ['mira'],
  )
  const token = row(await PersonalAccessTokens.create(made.id, 'laptop', ['api', 'read_user']))
  const mira = harbour.clientFor(String(token['token']))
  assert.equal((await mira.Users.showCurrentUser()).id, made.id)
  await mira.Users.editStatus({ message: 'sailing' })
  const turned = row(await mira.PersonalAccessTokens.rotate('self', { expiresAt: '2999-01-01' }))
  assert.equal((await errorOf(mira.Users.showCurrentUser())).status, 401)
  const again = harbour.clientFor(String(turned['token']))
  assert.equal(row(await Users.edit(made.id, { name: 'Mira Okafor', note: 'sails' }))['note'], 'sails')
  const email = row(await UserEmails.create('mira@home.example', { userId: made.id, skipConfirmation: true }))
  assert.equal((await again.UserEmails.all()).length, 1)
  await UserEmails.remove(email.id, { userId: made.id })
  const acting = row(await UserImpersonationTokens.create(made.id, 'help', ['api']))
  assert.equal((await UserImpersonationTokens.all(made.id)).length, 1)
  await UserImpersonationTokens.revoke(made.id, acting.id)
  assert.equal(await Users.block(made.id), true)
  assert.equal((await errorOf(again.Users.showCurrentUser())).status, 403)
  assert.equal(await Users.unblock(made.id), true)
  await PersonalAccessTokens.remove({ tokenId: turned.id })
  await Users.remove(made.id)
  assert.equal((await errorOf(Users.show(made.id))).message, '404 User Not Found')
})

test('it adds, shows, changes and removes members of groups and projects', async () => {
  const { Users, GroupMembers, ProjectMembers } = harbour.as('root')
  const user = row(
    await Users.create({ email: 'p@x.example', username: 'pia', name: 'Pia', resetPassword: true }),
  )
  for (const [members, place] of [
    [GroupMembers, harbour.groupId],
    [ProjectMembers, harbour.projectId],
  ] as const) {
    const added = await members.add(place, 30, { userId: user.id, expiresAt: '2999-01-31' })
    assert.deepEqual([added.access_level, added.expires_at], [30, '2999-01-31'])
    assert.equal(
      (await errorOf(members.add(place, 30, { userId: user.id }))).message,
      'Member already exists',
    )
    assert.equal((await members.edit(place, user.id, 40)).access_level, 40)
    assert.equal((await members.show(place, user.id, { includeInherited: true })).access_level, 40)
    assert.ok((await members.all(place, { includeInherited: true })).length > 1)
    assert.deepEqual(
      (await members.all(place, { query: 'pia' })).map(({ username }) => username),
      ['pia'],
    )
    await members.remove(place, user.id, { unassignIssuables: true })
    assert.equal((await errorOf(members.show(place, user.id))).status, 404)
  }
})

test('it invites, changes and uninvites', async () => {
  const { GroupInvitations, ProjectInvitations } = harbour.as('owner')
  for (const [invitations, place] of [
    [GroupInvitations, harbour.groupId],
    [ProjectInvitations, harbour.projectId],
  ] as const) {
    const email = 'a.b+c@x.example'
    assert.deepEqual(await invitations.add(place, 30, { email }), { status: 'success' })
    assert.deepEqual(
      (await invitations.all(place)).map((one) => [row(one)['invite_email'], row(one)['access_level']]),
      [[email, 30]],
    )
    assert.equal(row(await invitations.edit(place, email, { accessLevel: 20 }))['access_level'], 20)
    await invitations.remove(place, email)
    assert.equal((await errorOf(invitations.remove(place, email))).status, 404)
    assert.equal(
      (await errorOf(invitations.add(place, 30, { email: 'nobody' }))).message,
      'email contains an invalid email address',
    )
  }
})

test('it makes, turns and revokes tokens of groups and projects', async () => {
  const { GroupAccessTokens, ProjectAccessTokens } = harbour.as('owner')
  for (const [tokens, place] of [
    [GroupAccessTokens, harbour.groupId],
    [ProjectAccessTokens, harbour.projectId],
  ] as const) {
    const made = await tokens.create(place, 'robot', ['api'], '2999-01-31', { accessLevel: 20 })
    assert.equal((await harbour.clientFor(made.token).Users.showCurrentUser())['bot'], true)
    assert.equal((await tokens.show(place, made.id)).name, 'robot')
    const turned = await tokens.rotate(place, made.id)
    assert.deepEqual(
      (await tokens.all(place)).map(({ revoked }) => revoked),
      [true, false],
    )
    await tokens.revoke(place, turned.id)
    assert.equal((await errorOf(harbour.clientFor(turned.token).Users.showCurrentUser())).status, 401)
  }
})

test('it reads and changes the settings of the instance', async () => {
  const { ApplicationSettings } = harbour.as('root')
  const changed = await ApplicationSettings.edit({ defaultProjectsLimit: 9 })
  assert.equal(row(changed)['default_projects_limit'], 9)
  assert.equal(row(await ApplicationSettings.show())['default_projects_limit'], 9)
  assert.equal((await errorOf(harbour.as('owner').ApplicationSettings.show())).message, '403 Forbidden')
})
