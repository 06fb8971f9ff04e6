import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { analyticsApiKey } from '../../access/secret_settings.ts'
import { COMMAND_LINE_SETTINGS, DEFAULT_SETTINGS } from '../../core/settings/settings.ts'
import { createApp } from '../../app.ts'
import { openInstance } from '../../open.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Someone } from '../../../test/support/makers.ts'

let admin: Someone
const world = sharedWorld(async (here) => {
  admin = await here.make.admin()
})
const put = (body: object) => world().call('PUT', '/application/settings', { as: admin, body })

test('an administrator is shown every setting but secrets and those of the command line', async () => {
  const hidden: readonly string[] = ['analytics_api_key', ...COMMAND_LINE_SETTINGS]
  const shown = Object.fromEntries(
    Object.entries(DEFAULT_SETTINGS).filter(([name]) => !hidden.includes(name)),
  )
  const answer = await world().get('/application/settings', admin)
  assert.deepEqual(answer.body, { ...shown, cube_api_base_url: '' })
})

test('a setting is in force for the next request, here and in another process', async () => {
  const log = pino({ level: 'silent' })
  const second = await openInstance(world().config, { log })
  const { app } = createApp(second, { log })
  const elsewhere = async (): Promise<unknown> => {
    const answer = await app.inject({
      url: '/api/v4/application/settings',
      headers: { 'private-token': admin.token },
    })
    return answer.json<Record<string, unknown>>()['default_projects_limit']
  }
  for (let limit = 1; limit <= 20; limit++) {
    const answer = await put({ default_projects_limit: limit })
    assert.equal(answer.status, 200, answer.text)
    assert.equal((answer.body as Record<string, unknown>)['default_projects_limit'], limit)
    assert.equal(await elsewhere(), limit)
    const here = (await world().get('/application/settings', admin)).body as Record<string, unknown>
    assert.equal(here['default_projects_limit'], limit)
  }
  await app.close()
  await second.close()
})

test('the settings that scripts set on a new instance are known and kept', async () => {
  const wanted = {
    signup_enabled: true,
    require_admin_approval_after_user_signup: false,
    send_user_confirmation_email: true,
    password_authentication_enabled_for_web: true,
    password_authentication_enabled_for_git: true,
    home_page_url: 'https://home.example',
    max_attachment_size: 10,
  }
  for (const [name, value] of Object.entries(wanted)) {
    const answer = await put({ [name]: value })
    assert.equal(answer.status, 200, answer.text)
  }
  const shown = (await world().get('/application/settings', admin)).body as Record<string, unknown>
  for (const [name, value] of Object.entries(wanted)) assert.equal(shown[name], value, name)
})

test('a secret is sealed, told to nobody and opened only where it is used', async () => {
  const answer = await put({ cube_api_key: 'tide-and-wind', cube_api_base_url: 'https://cube.example' })
  assert.equal(answer.status, 200, answer.text)
  const { analytics_api_base_url, cube_api_base_url } = answer.body as Record<string, unknown>
  assert.deepEqual(
    [analytics_api_base_url, cube_api_base_url],
    ['https://cube.example', 'https://cube.example'],
  )
  const shown = (await world().get('/application/settings', admin)).text
  for (const text of [answer.text, shown, await contents(world()), world().logs.join('')])
    assert.ok(!text.includes('tide-and-wind'))
  assert.equal(analyticsApiKey(world().opened.instance), 'tide-and-wind')
})

test('an invalid value of a setting is refused and changes nothing; unknown settings are ignored', async () => {
  const before = await contents(world())
  const refusals: [object, object][] = [
    [
      { throttle_authenticated_api_enabled: 'perhaps' },
      { error: 'throttle_authenticated_api_enabled is invalid' },
    ],
    [{ default_projects_limit: 'many' }, { error: 'default_projects_limit is invalid' }],
    [
      { default_group_visibility: 'secret' },
      { error: 'default_group_visibility does not have a valid value' },
    ],
    [
      { personal_access_token_prefix: 'p'.repeat(21), default_projects_limit: 3 },
      { message: { personal_access_token_prefix: ['is too long (maximum is 20 characters)'] } },
    ],
    [
      { analytics_api_base_url: 'javascript:alert(1)' },
      { message: { analytics_api_base_url: ['is blocked: Only allowed schemes are http, https'] } },
    ],
  ]
  for (const [body, expected] of refusals) {
    const answer = await put(body)
    assert.deepEqual([answer.status, answer.body], [400, expected])
  }
  assert.match((await put({ unheard_of: 1 })).text, /are missing, at least one parameter must be provided"/)
  assert.equal(await contents(world()), before)
  assert.equal((await put({ unheard_of: 1, can_create_group: false })).status, 200)
  const made = await world().call('POST', '/users', {
    as: admin,
    body: { email: 'n@x.example', username: 'n', name: 'N', reset_password: true },
  })
  assert.equal((made.body as { can_create_group: boolean }).can_create_group, false)
})
