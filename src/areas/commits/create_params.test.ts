import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { files, openCode, post, stored, type Code } from '../../../test/support/code.ts'

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const good = {
  branch: 'main',
  commit_message: 'm',
  actions: [{ action: 'create', file_path: 'x', content: 'x' }],
}

/** Refused with these faults, and nothing written. */
async function refuses(
  body: object | string,
  error: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const before = stored(code.directory)
  const answer = await post(code, code.maintainer, body, headers)
  assert.deepEqual([answer.status, answer.body], [400, { error }], JSON.stringify(body).slice(0, 300))
  assert.equal(stored(code.directory), before)
}

test('each parameter that is missing, empty or wrong is named', async () => {
  const { branch: _b, ...noBranch } = good
  const { commit_message: _m, ...noMessage } = good
  const { actions: _a, ...noActions } = good
  await refuses({}, 'branch is missing, commit_message is missing, actions is missing')
  await refuses(noBranch, 'branch is missing')
  await refuses({ ...good, branch: null }, 'branch is missing')
  for (const branch of ['', ' ', '\t\n']) await refuses({ ...good, branch }, 'branch is empty')
  for (const branch of [{}, ['main'], { a: 1 }]) await refuses({ ...good, branch }, 'branch is invalid')
  await refuses(noMessage, 'commit_message is missing')
  await refuses({ ...good, commit_message: 'a\0b' }, 'commit_message is invalid')
  await refuses({ ...good, commit_message: '\ud800' }, 'commit_message is invalid')
  const long = 'commit_message is expected to have length less than or equal to 1048576'
  await refuses({ ...good, commit_message: 'x'.repeat(1024 * 1024 + 1) }, long)
  await refuses(noActions, 'actions is missing')
  for (const actions of [[], '[]', null]) await refuses({ ...good, actions }, 'actions is missing')
  for (const actions of ['', 'x', '[', '{}', 5, true, {}, { 1: {} }])
    await refuses({ ...good, actions }, 'actions is invalid')
  for (const one of ['x', 5, null, []]) await refuses({ ...good, actions: [one] }, 'actions[0] is invalid')
  await refuses({ ...good, stats: 'maybe' }, 'stats is invalid')
  await refuses({ ...good, force: 'maybe' }, 'force is invalid')
  await refuses(
    { ...good, start_branch: 'a', start_sha: 'b' },
    'start_branch, start_sha are mutually exclusive',
  )
  for (const name of ['start_branch', 'start_sha', 'start_project'])
    await refuses({ ...good, [name]: {} }, `${name} is invalid`)
})

test('each fault of an action is named with its place', async () => {
  const rows: [object, string][] = [
    [{}, 'actions[0][action] is missing, actions[0][file_path] is missing'],
    [{ file_path: 'x' }, 'actions[0][action] is missing'],
    [{ action: 'rename', file_path: 'x' }, 'actions[0][action] does not have a valid value'],
    [{ action: '', file_path: 'x' }, 'actions[0][action] does not have a valid value'],
    [{ action: 'delete' }, 'actions[0][file_path] is missing'],
    [{ action: 'delete', file_path: null }, 'actions[0][file_path] is missing'],
    [{ action: 'delete', file_path: ['x'] }, 'actions[0][file_path] is invalid'],
    [{ action: 'delete', file_path: 'a\0b' }, 'actions[0][file_path] is invalid'],
    [{ action: 'create', file_path: 'x' }, 'actions[0][content] is missing'],
    [{ action: 'update', file_path: 'x' }, 'actions[0][content] is missing'],
    [{ action: 'create', file_path: 'x', content: ['x'] }, 'actions[0][content] is invalid'],
    [{ action: 'create', file_path: 'x', content: '\udc00' }, 'actions[0][content] is invalid'],
    [{ action: 'move', file_path: 'x' }, 'actions[0][previous_path] is missing'],
    [{ action: 'chmod', file_path: 'x' }, 'actions[0][execute_filemode] is missing'],
    [{ action: 'chmod', file_path: 'x', execute_filemode: null }, 'actions[0][execute_filemode] is missing'],
    [
      { action: 'chmod', file_path: 'x', execute_filemode: 'perhaps' },
      'actions[0][execute_filemode] is invalid',
    ],
    [
      { action: 'create', file_path: 'x', content: '', encoding: 'utf-8' },
      'actions[0][encoding] does not have a valid value',
    ],
    [{ action: 'create' }, 'actions[0][file_path] is missing, actions[0][content] is missing'],
    [{ action: 'delete', file_path: 'x', last_commit_id: {} }, 'actions[0][last_commit_id] is invalid'],
  ]
  for (const [action, error] of rows) await refuses({ ...good, actions: [action] }, error)
  const [ok] = good.actions
  await refuses(
    { ...good, actions: [ok, { action: 'move', file_path: 'y' }, { action: 'what', file_path: 'z' }] },
    'actions[1][previous_path] is missing, actions[2][action] does not have a valid value',
  )
  await refuses(
    { branch: ' ', actions: [{ file_path: 'x' }] },
    'branch is empty, commit_message is missing, actions[0][action] is missing',
  )
})

test('broken base64 is refused, and white space in it is not', async () => {
  const action = { action: 'create', file_path: 'b', encoding: 'base64' }
  for (const content of ['SGk!', 'S', 'SGk==', 'SGVsbG8_'])
    await refuses(
      { ...good, actions: [good.actions[0], { ...action, content }] },
      'actions[1][content] is invalid',
    )
  const body = {
    ...good,
    branch: 'spaced',
    start_branch: 'main',
    actions: [{ ...action, content: 'SG\r\nk =\n' }],
  }
  assert.equal((await post(code, code.maintainer, body)).status, 201)
  assert.equal(files(code.directory, 'spaced')['b'], '100644 Hi')
})

test('a message may be blank, an author may not break out of its line', async () => {
  const body = { ...good, branch: 'blank', start_branch: 'main', commit_message: '' }
  const answer = await post(code, code.maintainer, body)
  assert.deepEqual([answer.status, (answer.body as { message: string }).message], [201, ''])
  for (const value of ['a <b>', 'a\nb', 'a\rcommitter x', '>'])
    for (const name of ['author_name', 'author_email'])
      await refuses({ ...good, [name]: value }, `${name} is invalid`)
})

test('a body that is no JSON, and a type that is not taken, are refused', async () => {
  const json = { 'content-type': 'application/json' }
  for (const body of ['{', '[]', '"x"', '{"branch":}'])
    await refuses(body, 'message body does not match declared format', json)
  const answer = await post(code, code.maintainer, 'branch=main', { 'content-type': 'text/plain' })
  assert.deepEqual(
    [answer.status, answer.body],
    [415, { error: "The provided content-type 'text/plain' is not supported." }],
  )
})

const field = (name: string, value: string): string =>
  `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
const urlencoded = (fields: readonly (readonly [string, string])[]): string =>
  fields.map(([name, value]) => field(name, value)).join('&')
const multipart = (fields: readonly (readonly [string, string])[], file = ''): string =>
  fields
    .map(([name, value]) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('') +
  file +
  '--B--\r\n'
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=B' }

const repeated = [
  ['actions[][action]', 'create'],
  ['actions[][file_path]', 'one'],
  ['actions[][content]', 'a&b=c+d%é\n'],
  ['actions[][action]', 'chmod'],
  ['actions[][file_path]', 'README'],
  ['actions[][execute_filemode]', 'true'],
  ['actions[][action]', 'move'],
  ['actions[][file_path]', 'moved'],
  ['actions[][previous_path]', 'src/a.ts'],
] as const

test('a form says the same, in either notation, urlencoded and in parts', async () => {
  const numbers = [0, 0, 0, 1, 1, 1, 2, 2, 2]
  const numbered = repeated.map(([name, value], i) => [name.replace('[]', `[${numbers[i]}]`), value] as const)
  let i = 0
  for (const actions of [repeated, numbered])
    for (const [write, headers] of [
      [urlencoded, FORM],
      [multipart, MULTIPART],
    ] as const) {
      const branch = `form-${(i += 1)}`
      const fields = [
        ['branch', branch],
        ['commit_message', 'By form'],
        ['start_branch', 'main'],
        ['author_name', 'Ada'],
        ...actions,
      ] as const
      const answer = await post(code, code.maintainer, write(fields), headers)
      assert.equal(answer.status, 201, answer.text)
      const { author_name, message } = answer.body as { author_name: string; message: string }
      assert.deepEqual([author_name, message], ['Ada', 'By form'])
      const now = files(code.directory, branch)
      assert.equal(now['one'], `100644 ${Buffer.from('a&b=c+d%é\n').toString('latin1')}`)
      assert.deepEqual(
        [now['README'], now['moved'], now['src/a.ts']],
        ['100755 one\ntwo\nthree\n', '100644 1\ntwo\n3\n', undefined],
      )
    }
})

test('the actions may come as JSON text, as the command line sends them', async () => {
  const actions = JSON.stringify([{ action: 'create', file_path: 'cli', content: 'x' }])
  const body = { ...good, branch: 'cli', start_branch: 'main', actions }
  assert.equal((await post(code, code.maintainer, body)).status, 201)
  const fields = [
    ['branch', 'cli'],
    ['commit_message', 'm'],
    ['actions', actions.replace('cli', 'cli2')],
  ] as const
  assert.equal((await post(code, code.maintainer, urlencoded(fields), FORM)).status, 201)
  assert.deepEqual(
    [files(code.directory, 'cli')['cli'], files(code.directory, 'cli')['cli2']],
    ['100644 x', '100644 x'],
  )
  const deep = '['.repeat(33) + ']'.repeat(33)
  await refuses({ ...good, actions: deep }, 'message body exceeds the limit: 32 levels')
})

test('a file in a form is refused', async () => {
  const file = '--B\r\nContent-Disposition: form-data; name="actions[][content]"; filename="x"\r\n\r\nx\r\n'
  const fields = [
    ['branch', 'main'],
    ['commit_message', 'm'],
    ['actions[][action]', 'create'],
    ['actions[][file_path]', 'x'],
  ] as const
  await refuses(
    multipart(fields, file),
    'This endpoint does not support form encoded file uploads',
    MULTIPART,
  )
})

test('places that leave holes, or are no places, are refused', async () => {
  const others = [
    ['branch', 'main'],
    ['commit_message', 'm'],
  ] as const
  for (const place of ['1', '99999999', 'a', '-1', '00', '__proto__'])
    await refuses(
      urlencoded([...others, [`actions[${place}][action]`, 'create']]),
      'actions is invalid',
      FORM,
    )
  await refuses(urlencoded([...others, ['actions[0][0][action]', 'create']]), 'actions[0] is invalid', FORM)
})
