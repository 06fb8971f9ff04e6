import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { after, before, suite, test } from 'node:test'
import { assertSound, files, openCode, post, stored, type Code } from '../support/code.ts'
import { gitText } from '../support/git_fixtures.ts'
import type { Answered } from '../support/world.ts'
import { listen, request, speak } from '../support/wire.ts'

const MB = 1024 * 1024
let code: Code
let port: number
before(async () => {
  code = await openCode()
  port = await listen(code.world.app)
})
after(() => code.world.close())

interface Parsed {
  readonly trailers: Record<string, string>
  readonly extended_trailers: Record<string, string[]>
}

const JSON_TYPE = { 'content-type': 'application/json' }
const good = {
  branch: 'main',
  commit_message: 'm',
  actions: [{ action: 'create', file_path: 'x', content: 'x' }],
}

async function refused(
  body: object | string,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const before = stored(code.directory)
  const answer = await post(code, code.maintainer, body, headers)
  assert.deepEqual([answer.status, answer.body], [status, { error: text }])
  assert.equal(stored(code.directory), before)
}
const taken = async (branch: string, body: object): Promise<Answered> => {
  const answer = await post(code, code.maintainer, { ...good, branch, start_branch: 'main', ...body })
  assert.equal(answer.status, 201, answer.text)
  return answer
}

suite('bodies that cost more than they seem to', () => {
  test('COM-16: 100,000 actions are refused before one of them is read', async () => {
    const action = '{"action":"create","file_path":"x","content":"!!!","encoding":"base64"}'
    const body = `{"branch":"main","commit_message":"m","actions":[${Array.from({ length: 100_000 }, () => action).join(',')}]}`
    await refused(body, 400, 'message body exceeds the limit: 100000 elements', JSON_TYPE)
    const actions = `[${Array.from({ length: 60_000 }, () => '{}').join(',')}]`
    await refused({ ...good, actions }, 400, 'message body exceeds the limit: 50000 members')
  })

  // The length is told before the first byte: nothing of it is waited for.
  test('COM-16: 1 GB is refused unread', async () => {
    const line = `POST /api/v4/projects/${code.project.id}/repository/commits`
    const headers = {
      ...JSON_TYPE,
      'private-token': code.maintainer.token,
      'content-length': String(1024 * MB),
    }
    const heard = await speak(port, request(line, headers, '{"branch":"main"'))
    assert.deepEqual([heard.statuses, heard.closed], [[413], true])
    assert.ok(heard.text.endsWith('{"error":"Request Entity Too Large"}'))
  })

  test('COM-16: who may not write there sends nothing large at all', async () => {
    const stranger = await code.world.make.user()
    const line = (id: number): string => `POST /api/v4/projects/${id}/repository/commits`
    const headers = { ...JSON_TYPE, 'content-length': String(200 * MB) }
    const rows: [Record<string, string>, number, string][] = [
      [{}, 401, '{"message":"401 Unauthorized"}'],
      [{ 'private-token': 'glpat-unknown' }, 401, '{"message":"401 Unauthorized"}'],
      [{ 'private-token': stranger.token }, 404, '{"message":"404 Project Not Found"}'],
    ]
    for (const [more, status, text] of rows) {
      const heard = await speak(port, request(line(code.project.id), { ...headers, ...more }, '{"branch":'))
      assert.deepEqual([heard.statuses, heard.closed], [[status], true])
      assert.ok(heard.text.endsWith(text), heard.text)
    }
  })

  // 60 MB in one file and more in others: through disk, and what was put there is gone with the answer.
  test('a large commit is taken whole, and leaves nothing beside it', async () => {
    const text = 'line of text "quoted" \\ back\n'.repeat(1_000_000)
    const binary = Buffer.alloc(20 * MB, 'añ\0').toString('base64')
    const actions = [
      { action: 'create', file_path: 'text', content: text },
      { action: 'create', file_path: 'binary', content: binary, encoding: 'base64' },
      { action: 'update', file_path: 'README', content: 'small' },
    ]
    const answer = await fetch(
      `http://127.0.0.1:${port}/api/v4/projects/${code.project.id}/repository/commits`,
      {
        method: 'POST',
        headers: { ...JSON_TYPE, 'private-token': code.maintainer.token },
        body: JSON.stringify({ ...good, branch: 'large', start_branch: 'main', actions, stats: false }),
      },
    )
    assert.equal(answer.status, 201, await answer.text())
    const now = files(code.directory, 'large')
    assert.ok(now['text'] === `100644 ${text}`)
    assert.ok(now['binary'] === `100644 ${Buffer.alloc(20 * MB, 'añ\0').toString('latin1')}`)
    assert.equal(now['README'], '100644 small')
    const left = (await readdir(code.world.config.dataDir)).filter((name) => name.startsWith('.body'))
    assert.deepEqual(left, [])
    assertSound(code.directory)
  })

  test('a large body is as strict as a small one', async () => {
    const content = 'x'.repeat(2 * MB)
    const actions = [{ action: 'create', file_path: 'b', content: `${content}!`, encoding: 'base64' }]
    await refused({ ...good, actions }, 400, 'actions[0][content] is invalid')
    await refused(
      { ...good, pad: content, actions: [{ action: 'update', file_path: 'b' }] },
      400,
      'actions[0][content] is missing',
    )
    await refused({ ...good, content, branch: '' }, 400, 'branch is empty')
    await refused(
      { ...good, commit_message: content },
      400,
      'commit_message is expected to have length less than or equal to 1048576',
    )
    await refused(
      { ...good, actions: [{ action: 'create', file_path: 'x', content: [content] }] },
      400,
      'actions[0][content] is invalid',
    )
  })
})

suite('texts that are more than they seem', () => {
  test('COM-15: an encoding that is none is named, and broken base64 is no half file', async () => {
    const action = { action: 'create', file_path: 'b', content: 'SGk=' }
    await refused(
      { ...good, actions: [{ ...action, encoding: 'utf-8' }] },
      400,
      'actions[0][encoding] does not have a valid value',
    )
    await refused(
      { ...good, actions: [{ ...action, encoding: 'base64', content: 'SG%=' }] },
      400,
      'actions[0][content] is invalid',
    )
    await taken('base64', { actions: [{ ...action, encoding: 'base64', content: ' SG k= ' }] })
    assert.equal(files(code.directory, 'base64')['b'], '100644 Hi')
  })

  test('COM-17: a message of up to a megabyte is taken, whatever it is made of', async () => {
    const messages = [
      `Title\n\n${'line\n'.repeat(100_000)}`,
      `Title\n\n${'Key: v\n'.repeat(50_000)}`,
      '#1 '.repeat(100_000),
    ]
    for (const [i, commit_message] of messages.entries()) await taken(`message-${i}`, { commit_message })
    await refused(
      { ...good, commit_message: 'x'.repeat(2 * MB) },
      400,
      'commit_message is expected to have length less than or equal to 1048576',
    )
    assertSound(code.directory)
  })

  test('COM-18: trailers that bear the names of special properties are plain keys', async () => {
    const parsed = async (branch: string, commit_message: string): Promise<Parsed> => {
      await taken(branch, { commit_message })
      const list = await code.world.get(
        `/projects/${code.project.id}/repository/commits?ref_name=${branch}&per_page=1&trailers=true`,
        code.maintainer,
      )
      const [commit] = list.body as Parsed[]
      assert.ok(commit, list.text)
      return commit
    }
    const named = await parsed('trailers', `T\n\nconstructor: b\n${'toString: c\n'.repeat(10_000)}`)
    assert.deepEqual(named.trailers, { constructor: 'b', toString: 'c' })
    assert.equal(named.extended_trailers['toString']?.length, 10_000)
    const plain = await parsed('no-trailers', 'T\n\n__proto__: a')
    assert.deepEqual(plain.trailers, {})
    assert.equal(({} as Record<string, unknown>)['a'], undefined)
  })

  test('COM-19: an author cannot end its own line', async () => {
    const bad = ['a <b>\ncommitter x <y> 1 +0000', 'a\nb', 'a\r', '<', '>']
    for (const text of bad)
      for (const name of ['author_name', 'author_email'])
        await refused({ ...good, [name]: text }, 400, `${name} is invalid`)
    for (const author_name of ['a\\n', '.,:;"', 'x'.repeat(1_000), '\u2028'])
      await taken(`author-${author_name.codePointAt(0)}`, { author_name })
    assertSound(code.directory)
  })

  // The caller's own name is the attack: it was chosen when nobody thought of git.
  test('COM-19: the name of a user cannot end its line either', async () => {
    const { world, project, directory } = code
    const evil = await world.make.user({ name: 'Eve <x>\ncommitter Root <root@x> 1 +0000' })
    await world.make.member(evil, 'maintainer', { project })
    const answer = await post(code, evil, { ...good, branch: 'evil', start_branch: 'main' })
    assert.equal(answer.status, 201, answer.text)
    assert.equal(
      gitText(directory, ['log', '-1', '--format=%an|%ae', 'evil']),
      `Eve xcommitter Root root@x 1 +0000|${evil.email}`,
    )
    assertSound(directory)
  })

  test('COM-28: fields whose places have holes make no list', async () => {
    for (const place of ['99999999', 'a', '1', '-1', '__proto__']) {
      const body = `branch=main&commit_message=m&actions[${place}][action]=create&actions[${place}][file_path]=x&actions[${place}][content]=`
      await refused(body, 400, 'actions is invalid', { 'content-type': 'application/x-www-form-urlencoded' })
    }
    assert.equal(({} as Record<string, unknown>)['action'], undefined)
  })
})
