import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'

let [admin, owner, member]: Someone[] = []
let harbour: Namespace
let ferry: Project
const world = sharedWorld(async ({ make }) => {
  admin = await make.admin()
  harbour = await make.group({ path: 'harbour', name: 'Harbour' })
  ferry = await make.project({ group: harbour, path: 'ferry' })
  owner = await make.user({ username: 'olga', name: 'Olga' })
  await make.member(owner, 'owner', { group: harbour })
  member = await make.user({ username: 'mia', email: 'mia@x.example' })
  await make.member(member, 'developer', { group: harbour })
})
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const call = (method: Method, path: string, body?: object, as = owner) =>
  world().call(method, path, { as, ...(body && { body }) })
const told = ({ status, body }: { status: number; body: unknown }): unknown[] => [status, body]
const toGroup = (): string => `/groups/${harbour.id}/invitations`
const toProject = (): string => `/projects/${ferry.id}/invitations`
const one = (email: string): string => `${toGroup()}/${encodeURIComponent(email)}`
const SUCCESS = [201, { status: 'success' }]

test('an address is invited, listed, changed and uninvited', async () => {
  const invited = await call('POST', toGroup(), {
    email: 'new.one@x.example',
    access_level: 30,
    expires_at: '2999-01-31',
    invite_source: 'a test',
  })
  assert.deepEqual(told(invited), SUCCESS)
  const list = await call('GET', toGroup())
  const [first] = list.body as { id: number; created_at: string }[]
  assert.deepEqual(list.body, [
    {
      id: first?.id,
      invite_email: 'new.one@x.example',
      created_at: first?.created_at,
      access_level: 30,
      expires_at: '2999-01-31T00:00:00.000Z',
      user_name: null,
      created_by_name: 'Olga',
    },
  ])
  assert.equal(list.headers['x-total'], '1')
  assert.deepEqual((await call('GET', `${toGroup()}?query=NEW.one%40x.example`)).body, list.body)
  assert.deepEqual((await call('GET', `${toGroup()}?query=`)).body, list.body)
  assert.deepEqual((await call('GET', `${toGroup()}?query=new.one`)).body, [])
  assert.deepEqual((await call('GET', `${toGroup()}?per_page=1&page=2`)).body, [])
  assert.deepEqual((await call('GET', toProject())).body, [])
  assert.deepEqual(told(await call('PUT', one('new.one@x.example'), { access_level: 20 })), [
    200,
    { expires_at: '2999-01-31', access_level: 20 },
  ])
  const later = { expires_at: '2999-05-05T10:00:00Z' }
  assert.deepEqual(told(await call('PUT', one('new.one@x.example'), later)), [
    200,
    { expires_at: '2999-05-05', access_level: 20 },
  ])
  for (const none of ['', null])
    assert.deepEqual(told(await call('PUT', one('new.one@x.example'), { expires_at: none })), [
      200,
      { expires_at: null, access_level: 20 },
    ])
  assert.deepEqual(told(await call('PUT', one('new.one@x.example'), {})), [
    400,
    { message: '400 Bad request' },
  ])
  assert.deepEqual(told(await call('PUT', one('new.one@x.example'), { access_level: 31 })), [
    400,
    { error: 'access_level does not have a valid value' },
  ])
  assert.deepEqual(told(await call('PUT', one('new.one@x.example'), { expires_at: '2001-01-01' })), [
    400,
    { message: { expires_at: ['cannot be a date in the past'] } },
  ])
  assert.deepEqual(told(await call('PUT', one('other@x.example'), { access_level: 20 })), [
    404,
    { message: '404 Not found' },
  ])
  const since = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }
  const late = await world().call('DELETE', one('new.one@x.example'), { as: owner, headers: since })
  assert.deepEqual(told(late), [412, { message: '412 Precondition Failed' }])
  assert.equal((await call('DELETE', one('new.one@x.example'))).status, 204)
  assert.deepEqual(told(await call('DELETE', one('new.one@x.example'))), [404, { message: '404 Not found' }])
})

test('many are invited at once, each refused one named with its reason', async () => {
  const { make } = world()
  const known = await make.user({ username: 'kim', email: 'kim@x.example' })
  const bot = await make.user({ username: 'robo' })
  await make.sql(`update users set user_type = 'project_bot' where id = ${bot.id}`)
  assert.deepEqual(
    told(
      await call('POST', toGroup(), { email: ['a@x.example', 'b@x.example,A@x.example'], access_level: 10 }),
    ),
    SUCCESS,
  )
  const mixed = await call('POST', toGroup(), {
    email: 'a@x.example, Mia@x.example, kim@x.example, c@x.example',
    user_id: [bot.id, member?.id],
    access_level: 30,
  })
  assert.deepEqual(told(mixed), [
    201,
    {
      status: 'error',
      message: {
        'a@x.example': 'Invite email has already been taken',
        'Mia@x.example': 'User already exists in source',
        robo: 'User project bots cannot be added to other groups / projects',
      },
    },
  ])
  const emails = await rowsOf<{ email: string }>(world(), 'select email from invitations order by email')
  assert.deepEqual(
    emails.map(({ email }) => email),
    ['a@x.example', 'b@x.example', 'c@x.example'],
  )
  assert.equal((await world().get(`/groups/${harbour.id}/members/${known.id}`, owner)).status, 200)
  const low = await call('POST', toProject(), { user_id: String(member?.id), access_level: 20 })
  assert.deepEqual(told(low), [
    201,
    {
      status: 'error',
      message: {
        mia: 'Access level should be greater than or equal to Developer inherited membership from group Harbour',
      },
    },
  ])
  const past = { email: 'd@x.example', user_id: known.id, access_level: 30, expires_at: '2001-01-01' }
  assert.deepEqual(told(await call('POST', toGroup(), past)), [
    201,
    {
      status: 'error',
      message: {
        'd@x.example': 'Expires at cannot be a date in the past',
        kim: 'Expires at cannot be a date in the past',
      },
    },
  ])
  assert.deepEqual((await call('POST', toProject(), { email: 'e@x.example', access_level: 5 })).body, {
    status: 'error',
    message: { 'e@x.example': 'Access level is not included in the list' },
  })
  const many = Array.from({ length: 101 }, (_, i) => `m${i}@x.example`)
  assert.deepEqual(told(await call('POST', toGroup(), { email: many, access_level: 10 })), [
    201,
    { status: 'error', message: 'Too many users specified (limit is 100)' },
  ])
  const count = async (n: number, word: string): Promise<number> =>
    (
      await world().statements(() =>
        call('POST', toGroup(), { email: many.slice(0, n).map((email) => word + email), access_level: 10 }),
      )
    ).length
  assert.equal(await count(1, 'x'), await count(90, 'y'))
})

test('an invalid invitation is refused and changes nothing', async () => {
  await call('POST', toProject(), { email: 'captain@x.example', access_level: 50 })
  await call('POST', toProject(), { email: 'mate+1@x.example', access_level: 30 })
  const maintainer = await world().make.memberOf('maintainer', { project: ferry })
  const before = await contents(world())
  const refusals: [object, number, object][] = [
    [
      { access_level: 30 },
      400,
      { message: '400 Bad request - Must provide either email or user_id as a parameter' },
    ],
    [
      { access_level: 30, email: '', user_id: '' },
      400,
      { message: '400 Bad request - Must provide either email or user_id as a parameter' },
    ],
    [
      { access_level: 30, email: 'a@x.example,nobody' },
      400,
      { error: 'email contains an invalid email address' },
    ],
    [
      { access_level: 30, email: 'a@x.example\r\nBcc: b@x.example' },
      400,
      { error: 'email contains an invalid email address' },
    ],
    [{ email: 'z@x.example' }, 400, { error: 'access_level is missing' }],
    [
      { user_id: 'nobody', access_level: 'x', expires_at: 'soon' },
      400,
      { error: 'user_id is invalid, access_level is invalid, expires_at is invalid' },
    ],
    [{ email: 'z@x.example', access_level: 31 }, 400, { error: 'access_level does not have a valid value' }],
    [{ email: 'z@x.example', access_level: 50 }, 403, { message: '403 Forbidden' }],
    [
      { email: 'z@x.example', access_level: 30, member_role_id: 1 },
      400,
      { error: 'member_role_id does not have a valid value' },
    ],
  ]
  for (const [body, status, expected] of refusals)
    assert.deepEqual(told(await call('POST', toProject(), body, maintainer)), [status, expected])
  const mates = `${toProject()}/mate%2B1%40x.example`
  for (const [method, path, body] of [
    ['PUT', `${toProject()}/captain@x.example`, { access_level: 20 }],
    ['DELETE', `${toProject()}/captain@x.example`, undefined],
    ['PUT', mates, { access_level: 50 }],
  ] as const)
    assert.deepEqual(told(await call(method, path, body, maintainer)), [403, { message: '403 Forbidden' }])
  assert.deepEqual(told(await call('PUT', mates, { access_level: 5 }, maintainer)), [
    400,
    { message: { access_level: ['is not included in the list'] } },
  ])
  assert.equal(await contents(world()), before)
})

test('fifty who invite one address at once: one does, the others are told', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => call('POST', toGroup(), { email: 'race@x.example', access_level: 10 })),
  )
  const taken = answers.filter(({ text }) => text.includes('Invite email has already been taken'))
  assert.equal(taken.length, 49)
})

test('the invited are members as soon as somebody has the address and it is known to be theirs', async () => {
  const make = async (email: string, username: string, more: object = {}): Promise<number> => {
    const body = { email, username, name: username, reset_password: true, ...more }
    return ((await call('POST', '/users', body, admin)).body as { id: number }).id
  }
  const level = async (id: number): Promise<unknown> =>
    ((await call('GET', `/groups/${harbour.id}/members/${id}`)).body as { access_level?: number })
      .access_level
  for (const email of ['first@x.example', 'second@x.example', 'third@x.example'])
    await call('POST', toGroup(), { email, access_level: 20 })
  assert.equal(await level(await make('First@x.example', 'first')), 20)
  const unknown = await make('second@x.example', 'second', { skip_confirmation: false })
  assert.equal(await level(unknown), undefined)
  assert.equal((await call('GET', `${toGroup()}?query=second@x.example`)).headers['x-total'], '1')
  await call('POST', `/users/${unknown}/emails`, { email: 'third@x.example', skip_confirmation: true }, admin)
  assert.equal(await level(unknown), 20)
  const gone = await rowsOf(
    world(),
    `select from invitations where email in ('first@x.example', 'third@x.example')`,
  )
  assert.deepEqual(gone, [])
})

test('an invitation ends when its user becomes a member meanwhile', async () => {
  const rounds = Array.from({ length: 15 }, (_, i) => `meet${i}@x.example`)
  await Promise.all(
    rounds.flatMap((email, i) => [
      call('POST', toGroup(), { email, access_level: 20 }),
      call('POST', '/users', { email, username: `meet${i}`, name: 'M', reset_password: true }, admin),
    ]),
  )
  assert.deepEqual(await rowsOf(world(), `select from invitations where email like 'meet%'`), [])
  const rows = await rowsOf(
    world(),
    `select from members m join users u on u.id = m.user_id where u.email like 'meet%'`,
  )
  assert.equal(rows.length, rounds.length)
})

test('promotions into a billable role wait where that is asked for', async () => {
  await call('PUT', '/application/settings', { enable_member_promotion_management: true }, admin)
  await world().make.user({ username: 'low', email: 'low@x.example' })
  assert.deepEqual(told(await call('POST', toGroup(), { email: 'low@x.example', access_level: 30 })), [
    201,
    { status: 'success', queued_users: { low: 'Request queued for administrator approval.' } },
  ])
  assert.deepEqual(told(await call('POST', toGroup(), { email: 'low@x.example', access_level: 10 })), SUCCESS)
  await call('PUT', '/application/settings', { enable_member_promotion_management: false }, admin)
})
