/* Wrong arguments and help texts: the real program, with nothing opened. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { openPlace, type Place } from '../support/program.ts'

const words = (line: string): string[] => line.split(' ')

suite('wrong words', { concurrency: 2 }, () => {
  let place: Place
  before(async () => {
    place = await openPlace()
  })
  after(() => place.clear())

  const cases: readonly (readonly [string, string])[] = [
    ['serv', "unknown command 'serv'\n(Did you mean serve?)\nSee guildhall --help."],
    ['--loud', "unknown option '--loud'\nSee guildhall --help."],
    ['serve --port', "unknown option '--port'\nSee guildhall serve --help."],
    ['user crate', "unknown command 'crate'\n(Did you mean create?)\nSee guildhall user --help."],
    ['user create', "required option '--username <name>' not specified\nSee guildhall user create --help."],
    ['feature enable', "missing required argument 'name'\nSee guildhall feature enable --help."],
    [
      'user create --username -x --name X --email x@x.example',
      "--username can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or '.', end in '.', '.git' or '.atom'.",
    ],
    ['user create --username root --name X --email x@x.example', '--username root is a reserved name'],
    ['user create --username x --name X --email x', '--email takes a mail address, not "x"'],
    [
      'token create --user root --scopes api,all',
      'there is no scope "all"; there are api, read_api, read_user, read_repository, write_repository, sudo, admin_mode, create_runner, manage_runner, k8s_proxy, ai_features',
    ],
    [
      'token create --user root --expires-at 2030-02-30',
      '--expires-at takes a day such as 2030-01-31, not "2030-02-30"',
    ],
    ['token create --user root --expires-at 2020-01-31', '--expires-at takes a day to come, not 2020-01-31'],
    [
      'group create --path a --visibility secret',
      "option '--visibility <level>' argument 'secret' is invalid. Allowed choices are private, internal, public.\nSee guildhall group create --help.",
    ],
    ['group create --path a//b', "--path can't be blank"],
    ['project create --path gateway', '--path names a group and a project: group/project'],
    [
      'project create --path a/b --import ./nothing',
      '--import takes an http, https or git address or a path, and there is no "./nothing" here',
    ],
    ['member add --user a --role guest', 'name a --group or a --project'],
    [
      'member add --user a --role guest --group a --project b',
      "option '--group <path>' cannot be used with option '--project <path>'\nSee guildhall member add --help.",
    ],
    [
      'member add --user a --role boss --group a',
      'there is no role "boss"; there are no_access (0), minimal_access (5), guest (10), planner (15), reporter (20), developer (30), maintainer (40), owner (50)',
    ],
    [
      'feature enable warp',
      'there is no feature flag "warp"; there are admin_token_revoke, product_analytics_features, generic_alert_fingerprinting, integrated_error_tracking',
    ],
    ['setting set impersonation_enabled yes', 'impersonation_enabled takes true or false, not "yes"'],
    [
      'setting set throttle_authenticated_api_period_in_seconds 0',
      'throttle_authenticated_api_period_in_seconds takes a whole number from 1 to 999999999, not "0"',
    ],
    [
      'setting set default_group_visibility all',
      'default_group_visibility takes private, internal or public, not "all"',
    ],
  ]
  for (const [line, text] of cases)
    test(`guildhall ${line} is told what is wrong, and nothing is opened`, async () => {
      const { code, stdout, stderr } = await place.run(words(line))
      assert.deepEqual({ code, stdout, stderr }, { code: 2, stdout: '', stderr: `guildhall: ${text}\n` })
      assert.equal(existsSync(place.dataDir), false)
    })

  test('without words the program shows what there is, and counts that as wrong', async () => {
    const [bare, asked] = await Promise.all([place.run([]), place.run(['--help'])])
    assert.deepEqual([bare.code, bare.stdout], [2, ''])
    assert.deepEqual([asked.code, asked.stderr], [0, ''])
    assert.equal(bare.stderr, asked.stdout)
  })

  test('the overview names every command as it is typed, and every variable', async () => {
    const { stdout } = await place.run(['--help'])
    const commands = [...stdout.matchAll(/^ {2}([a-z-]+(?: [a-z<>-]+)*) {2,}\S/gm)].map(([, name]) => name)
    const expected = [
      'serve',
      'worker',
      'migrate',
      'demo',
      'user create',
      'token create',
      'member add',
      'invitation list',
      'promotion list',
      'promotion approve',
      'promotion deny',
      'email confirm',
      'group create',
      'project create',
      'iteration create',
      'cadence create',
      'epic create',
      'alert-integration create',
      'alert-integration rotate <id>',
      'alert list',
      'alert show <iid>',
      'alert create-incident <iid>',
      'alert-settings show',
      'alert-settings set',
      'error list',
      'error show <id>',
      'feature list',
      'feature enable <name>',
      'feature disable <name>',
      'setting list',
      'setting get <name>',
      'setting set <name> <value>',
      'freeze status',
      'vulnerability import <file>',
    ]
    assert.deepEqual(
      commands.filter((name) => expected.includes(name ?? '')),
      expected,
    )
    for (const name of ['GUILDHALL_PORT', 'GUILDHALL_DATA_DIR', 'DATABASE_URL', 'LOG_LEVEL'])
      assert.match(stdout, new RegExp(`^  ${name} +\\S`, 'm'))
  })

  test('each command has help of its own that costs nothing', async () => {
    const lines = ['serve', 'user create', 'setting set', 'project create', 'demo']
    for (const line of lines) {
      const { code, stdout, stderr } = await place.run([...words(line), '--help'])
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, new RegExp(`^Usage: guildhall ${line} `))
      assert.match(stdout, / --json +print the result as JSON\n/)
    }
    assert.equal(existsSync(place.dataDir), false)
  })

  test('the version is told', async () => {
    const { code, stdout, stderr } = await place.run(['--version'])
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '0.1.0\n', stderr: '' })
  })
})
