import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let shop: Workshop
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
})

interface Note {
  readonly id: number
  readonly type: string
  readonly body: string
  readonly system: boolean
  readonly resolvable: boolean
  readonly resolved?: boolean
  readonly position: Record<string, unknown> | undefined
}
interface Refs {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
}
const refsOf = async (iid: number): Promise<Refs> =>
  ((await shop.ask('GET', `/${iid}`)).body as { diff_refs: Refs }).diff_refs
const begin = async (iid: number, position: object): Promise<string> => {
  const answer = await shop.ask('POST', `/${iid}/discussions`, {
    body: { body: 'look', position: { ...(await refsOf(iid)), position_type: 'text', ...position } },
  })
  assert.equal(answer.status, 201, answer.text)
  return (answer.body as { id: string }).id
}
const notesOf = async (iid: number, thread: string): Promise<Note[]> =>
  ((await shop.ask('GET', `/${iid}/discussions/${thread}`)).body as { notes: Note[] }).notes
const linesOf = async (iid: number, thread: string): Promise<unknown[]> =>
  (await notesOf(iid, thread)).map(({ position }) => [position?.['old_line'], position?.['new_line']])
const settings = async (body: object): Promise<void> => {
  const answer = await world().call('PUT', `/projects/${shop.project.id}`, { as: shop.owner, body })
  assert.equal(answer.status, 200, answer.text)
}
const readme = { old_path: 'README', new_path: 'README' }

test('a thread follows its line when a push moves it, and its answers with it', async () => {
  await shop.commit('moved', { README: 'one\nTWO\nthree\n', new: 'a\nb\n' })
  const iid = await shop.open('moved')
  const added = await begin(iid, { ...readme, new_line: 2 })
  const removed = await begin(iid, { ...readme, old_line: 2 })
  const same = await begin(iid, { ...readme, old_line: 3, new_line: 3 })
  await shop.ask('POST', `/${iid}/discussions/${added}/notes`, { body: { body: 'yes' } })
  await shop.commit('moved', { README: 'zero\none\nTWO\nthree\n' })
  const refs = await refsOf(iid)
  assert.deepEqual(await linesOf(iid, added), [
    [null, 3],
    [null, 3],
  ])
  assert.deepEqual(await linesOf(iid, removed), [[2, null]])
  assert.deepEqual(await linesOf(iid, same), [[3, 4]])
  for (const thread of [added, removed, same])
    for (const { position } of await notesOf(iid, thread))
      assert.deepEqual(
        { ...position, old_line: 0, new_line: 0 },
        { ...refs, ...readme, position_type: 'text', old_line: 0, new_line: 0, line_range: null },
      )
  const reply = await shop.ask('POST', `/${iid}/discussions/${added}/notes`, { body: { body: 'still' } })
  assert.equal((reply.body as Note).position?.['new_line'], 3)
})

test('a thread whose line a push changes stays at the old version, once told so', async () => {
  await shop.commit('changed', { README: 'one\nTWO\nthree\n' })
  const iid = await shop.open('changed')
  const before = await refsOf(iid)
  const thread = await begin(iid, { ...readme, new_line: 2 })
  await shop.commit('changed', { README: 'one\n2\nthree\n' })
  await shop.commit('changed', { README: 'one\n2.\nthree\n' })
  const notes = await notesOf(iid, thread)
  assert.deepEqual(
    notes.map(({ type, body, system, resolvable }) => [type, body, system, resolvable]),
    [
      ['DiffNote', 'look', false, true],
      ['DiffNote', 'changed this line in version 2 of the diff', true, false],
    ],
  )
  for (const { position } of notes)
    assert.deepEqual(position, {
      ...before,
      ...readme,
      position_type: 'text',
      old_line: null,
      new_line: 2,
      line_range: null,
    })
  await shop.ask('PUT', `/${iid}/discussions/${thread}`, { body: { resolved: true } })
  const shown = (await shop.ask('GET', `/${iid}`)).body as { blocking_discussions_resolved: boolean }
  assert.equal(shown.blocking_discussions_resolved, true)
})

test('an outdated thread is resolved where the project says so', async () => {
  await settings({ resolve_outdated_diff_discussions: true })
  await shop.commit('settled', { README: 'one\nTWO\nthree\n' })
  const iid = await shop.open('settled')
  const [changed, kept] = [
    await begin(iid, { ...readme, new_line: 2 }),
    await begin(iid, { ...readme, old_line: 1, new_line: 1 }),
  ]
  await shop.commit('settled', { README: 'one\n2\nthree\n' })
  assert.equal((await notesOf(iid, changed))[0]?.resolved, true)
  assert.equal((await notesOf(iid, kept))[0]?.resolved, false)
})

test('a thread follows a line range, and a thread on a file stays until the file changes', async () => {
  await shop.commit('ranged', { README: 'one\nTWO\nTHREE\n', other: 'x\n' })
  const iid = await shop.open('ranged')
  const end = (new_line: number): object => ({ type: 'new', new_line })
  const ranged = await begin(iid, {
    ...readme,
    new_line: 3,
    line_range: { start: end(2), end: end(3) },
  })
  const file = await begin(iid, { old_path: 'other', new_path: 'other', position_type: 'file' })
  await shop.commit('ranged', { README: 'zero\none\nTWO\nTHREE\n' })
  const range = (await notesOf(iid, ranged))[0]?.position?.['line_range'] as Record<
    string,
    { new_line: number }
  >
  assert.deepEqual([range['start']?.new_line, range['end']?.new_line], [3, 4])
  assert.equal((await notesOf(iid, file)).length, 1)
  await shop.commit('ranged', { other: 'y\n' })
  assert.equal((await notesOf(iid, file))[1]?.body, 'changed this file in version 3 of the diff')
})
