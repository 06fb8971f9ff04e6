import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { files, openCode, stored, tip, type Code } from '../support/code.ts'
import type { Answered } from '../support/world.ts'

let code: Code
let path: string
before(async () => {
  code = await openCode()
  path = `/projects/${code.project.id}/repository/files/README`
})
after(() => code.world.close())

const read = async (): Promise<string> => {
  const answer = await code.world.get(`${path}?ref=main`, code.maintainer)
  assert.equal(answer.status, 200, answer.text)
  return String(answer.headers.etag)
}
const write = (content: string, match: string): Promise<Answered> =>
  code.world.call('PUT', path, {
    as: code.maintainer,
    body: { branch: 'main', commit_message: content, content },
    headers: { 'if-match': match },
  })

// Several editors hold one version of a file, and all save at once. Git knows no transaction that could end the others.
test('GEN-37: of many who write a file on the same condition one succeeds, and nothing of the others is committed', async () => {
  for (let round = 0; round < 5; round += 1) {
    const tag = await read()
    const parent = tip(code.directory, 'main')
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => write(`round ${round} of ${i}`, tag)),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    assert.deepEqual(statuses, [200, 412, 412, 412, 412, 412])
    for (const { status, body } of answers)
      if (status === 412) assert.deepEqual(body, { message: '412 Precondition Failed' })
    const winner = answers.findIndex(({ status }) => status === 200)
    assert.equal(files(code.directory, 'main')['README'], `100644 round ${round} of ${winner}`)
    assert.notEqual(tip(code.directory, 'main'), parent)
  }
})

// A concurrent commit without any condition.
test('GEN-37: a condition fails where a commit without one came before', async () => {
  const tag = await read()
  const actions = [{ action: 'update', file_path: 'README', content: 'overtaken' }]
  const body = { branch: 'main', commit_message: 'm', actions }
  const other = code.world.call('POST', `/projects/${code.project.id}/repository/commits`, {
    as: code.maintainer,
    body,
  })
  assert.equal((await other).status, 201)
  const before = stored(code.directory)
  assert.equal((await write('late', tag)).status, 412)
  assert.equal(stored(code.directory), before)
  assert.equal((await write('in time', await read())).status, 200)
})
