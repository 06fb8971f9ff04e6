import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineCode } from '../../core/conversation/diff_lines.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { makeIssue, makeMergeRequest, type Made } from '../../../test/support/noteables.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

// The merge request goes from `source` to `merge`: it changes line 2 of src/a.ts, adds a third line to README, and a file.

let history: SmallHistory
let author: Someone
let project: Project
let mr: Made
const world = sharedWorld(async (here) => {
  history = writeSmallHistory()
  author = await here.make.user({ name: 'Ada' })
  project = await here.make.project({ visibility: 'public', repository: history.directory })
  const diff = { base: history.sha.source, head: history.sha.merge }
  mr = await makeMergeRequest(here, project, { diff })
})
interface Note {
  readonly id: number
  readonly type: string | null
  readonly position?: Record<string, unknown>
  readonly commit_id?: string | null
  readonly suggestions?: unknown[]
}
const begin = (path: string, body: object): Promise<Answered> =>
  world().call('POST', `${path}/discussions`, { as: author, body: { body: 'look', ...body } })
const refs = (): object => ({
  base_sha: history.sha.source,
  start_sha: history.sha.source,
  head_sha: history.sha.merge,
  position_type: 'text',
})
const changed = { old_path: 'src/a.ts', new_path: 'src/a.ts' }
async function placed(path: string, body: object): Promise<Note> {
  const answer = await begin(path, body)
  assert.equal(answer.status, 201, answer.text)
  const [note] = (answer.body as { notes: Note[] }).notes
  if (note === undefined) throw new Error('a thread without notes')
  return note
}

test('a thread stands on an added, a removed or an unchanged line of a merge request', async () => {
  for (const [line, old_line, new_line] of [
    [{ new_line: 2 }, null, 2],
    [{ old_line: 2 }, 2, null],
    [{ old_line: 1, new_line: 1 }, 1, 1],
    [{ old_line: 3, new_line: 3 }, 3, 3],
  ] as const) {
    const note = await placed(mr.path, { position: { ...refs(), ...changed, ...line } })
    assert.deepEqual([note.type, note.commit_id, note.suggestions], ['DiffNote', null, []])
    assert.deepEqual(note.position, { ...refs(), ...changed, old_line, new_line, line_range: null })
  }
  const whole = await placed(mr.path, { position: { ...refs(), ...changed, new_line: 2 } })
  assert.deepEqual(
    Object.keys(whole).join(' '),
    'id type body attachment author created_at updated_at system noteable_id noteable_type project_id commit_id position ' +
      'resolvable resolved resolved_by resolved_at suggestions confidential internal imported imported_from noteable_iid ' +
      'commands_changes',
  )
  const form = `body=x&${Object.entries({ ...refs(), ...changed, new_line: 2 })
    .map(([name, value]) => `position[${name}]=${encodeURIComponent(String(value))}`)
    .join('&')}`
  const answer = await world().call('POST', `${mr.path}/discussions`, {
    as: author,
    body: form,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(answer.status, 201, answer.text)
  const keyset = await world().get(`${mr.path}/discussions?pagination=keyset`, author)
  assert.deepEqual(
    [keyset.status, keyset.body],
    [405, { error: 'Keyset pagination is not yet available for this type of request' }],
  )
})

test('answers on a line are of the same kind, at the same place', async () => {
  const answer = await begin(mr.path, { position: { ...refs(), ...changed, new_line: 2 } })
  const { id, notes } = answer.body as { id: string; notes: Note[] }
  const reply = await world().call('POST', `${mr.path}/discussions/${id}/notes`, {
    as: author,
    body: { body: 'yes' },
  })
  const { type, position } = reply.body as Note
  assert.deepEqual([type, position], ['DiffNote', notes[0]?.position])
})

test('several lines are named by their codes', async () => {
  const code = (before: number, after: number): string => lineCode('src/a.ts', before, after)
  const range = {
    start: { line_code: code(1, 1), type: 'new' },
    end: { line_code: code(3, 2), type: 'new', new_line: 2 },
  }
  const at = { ...refs(), ...changed, new_line: 2 }
  const note = await placed(mr.path, { position: { ...at, line_range: range } })
  assert.deepEqual(note.position?.['line_range'], {
    start: { line_code: code(1, 1), type: 'new', old_line: 1, new_line: 1 },
    end: { line_code: code(3, 2), type: 'new', old_line: null, new_line: 2 },
  })
  const wrong = [code(9, 9), code(2, 7), lineCode('README', 1, 1), 'nonsense', '']
  for (const line_code of wrong) {
    const answer = await begin(mr.path, {
      position: { ...at, line_range: { ...range, end: { line_code, type: 'new' } } },
    })
    assert.equal(answer.status, 400, line_code)
  }
})

test('an image and a whole file have no lines', async () => {
  const image = await placed(mr.path, {
    position: { ...refs(), ...changed, position_type: 'image', width: 10, height: 20, x: 1.5, y: 3 },
  })
  assert.deepEqual(
    ['width', 'height', 'x', 'y', 'old_line'].map((name) => image.position?.[name]),
    [10, 20, 1.5, 3, undefined],
  )
  const file = await placed(mr.path, {
    position: { ...refs(), new_path: 'docs/ümläut.md', position_type: 'file' },
  })
  assert.deepEqual(file.position, {
    ...refs(),
    position_type: 'file',
    old_path: 'docs/ümläut.md',
    new_path: 'docs/ümläut.md',
  })
})

test('a thread on a commit stands on what it changes against its parent', async () => {
  const path = `/projects/${project.id}/repository/commits/${history.sha.change}`
  const of = { base_sha: history.sha.source, start_sha: history.sha.source, head_sha: history.sha.change }
  const note = await placed(path, { position: { ...refs(), ...of, ...changed, new_line: 2 } })
  assert.deepEqual([note.type, note.position?.['head_sha']], ['DiffNote', history.sha.change])
  const comments = (await world().get(`${path}/comments`, author)).body as { line: number }[]
  assert.deepEqual(
    comments.map(({ line }) => line),
    [2],
  )
  const inMr = await placed(mr.path, {
    commit_id: history.sha.change,
    position: { ...refs(), ...of, ...changed, new_line: 2 },
  })
  assert.equal(inMr.commit_id, history.sha.change)
})

test('positions outside of the diff are refused and write nothing', async () => {
  const before = await contents(world())
  const line = `400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}`
  const place = '400 Bad request - Note {:position=>["is invalid"]}'
  const at = { ...refs(), ...changed }
  const rows: [object, string][] = [
    [{ position: at }, line],
    [{ position: { ...at, new_line: 99 } }, line],
    [{ position: { ...at, new_line: 1 } }, line],
    [{ position: { ...at, old_line: 1, new_line: 2 } }, line],
    [{ position: { ...at, old_line: 4, new_line: 4 } }, line],
    [{ position: { ...at, new_line: -1 } }, line],
    [{ position: { ...at, old_path: 'nowhere', new_path: 'nowhere', new_line: 1 } }, line],
    [{ position: { ...refs(), new_line: 1 } }, place],
    [{ position: { ...at, head_sha: history.sha.empty, new_line: 2 } }, place],
    [{ position: { ...at, head_sha: '0'.repeat(40), new_line: 2 } }, place],
    [{ commit_id: history.sha.root }, place],
    [{ commit_id: '0'.repeat(40) }, place],
  ]
  for (const [body, message] of rows) {
    const answer = await begin(mr.path, body)
    assert.deepEqual([answer.status, answer.body], [400, { message }], JSON.stringify(body))
  }
  const missing = await begin(mr.path, { position: { base_sha: history.sha.source } })
  assert.deepEqual(missing.body, {
    error:
      'position[start_sha] is missing, position[head_sha] is missing, position[position_type] is missing',
  })
  const strange = await begin(mr.path, { position: { ...at, position_type: 'sound' } })
  assert.deepEqual(strange.body, { error: 'position[position_type] does not have a valid value' })
  assert.equal(await contents(world()), before)
})

test('where there is no difference a position is not heard', async () => {
  const issue = await makeIssue(world(), project)
  const note = await placed(issue.path, { position: { ...refs(), ...changed, new_line: 2 } })
  assert.deepEqual([note.type, 'position' in note], ['DiscussionNote', false])
})

test('a commit that is not there is named in the refusal', async () => {
  for (const rev of ['nope', '0'.repeat(40)]) {
    const answer = await world().get(`/projects/${project.id}/repository/commits/${rev}/discussions`, author)
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Commit Not Found' }])
  }
})
