/* Comments, threads and reactions by the unmodified client @gitbeaker/rest, against the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
let issue: number
let mergeRequest: number
let snippet: number
let epic: number
let commit: string
before(async () => {
  harbour = await openHarbour()
  const { projectId: id, place, as } = harbour
  const { Commits, Issues, MergeRequests, ProjectSnippets } = as('owner')
  const file = [{ action: 'create' as const, filePath: 'talk.md', content: 'one\ntwo\n' }]
  commit = (await Commits.create(id, 'topic', 'Something to talk of', file, { startBranch: 'main' })).id
  issue = (await Issues.create(id, 'An issue')).iid
  mergeRequest = (await MergeRequests.create(id, 'topic', 'main', 'A change')).iid
  snippet = (
    await ProjectSnippets.create(id, 'A snippet', {
      visibility: 'public',
      files: [{ filePath: 'a', content: 'a' }],
    } as never)
  ).id
  const made = await place.json(['epic', 'create', '--group', 'harbour', '--title', 'An epic'])
  epic = Number(made['id'])
})
after(() => harbour.place.clear())

/** A note, reduced. */
const essence = (note: unknown): unknown[] => {
  const { type, body, noteable_type, resolvable } = note as Record<string, unknown>
  return [noteable_type, type, body, resolvable]
}

test('it comments, edits, lists and deletes', async () => {
  const { IssueNotes, MergeRequestNotes } = harbour.as('owner')
  for (const [notes, iid, type] of [
    [IssueNotes, issue, 'Issue'],
    [MergeRequestNotes, mergeRequest, 'MergeRequest'],
  ] as const) {
    const id = harbour.projectId
    const made = await notes.create(id, iid, 'Hello')
    assert.deepEqual(essence(made), [type, null, 'Hello', false])
    assert.equal((await notes.edit(id, iid, made.id, { body: 'Hello again' })).body, 'Hello again')
    assert.equal((await notes.show(id, iid, made.id)).body, 'Hello again')
    const listed = await notes.all(id, iid, { sort: 'asc', orderBy: 'updated_at' })
    assert.deepEqual(
      listed.map(({ body }) => body),
      ['Hello again'],
    )
    await notes.remove(id, iid, made.id)
    const gone = await errorOf(notes.show(id, iid, made.id))
    assert.deepEqual(gone, { status: 404, message: '404 Not found' })
  }
  const refused = await errorOf(IssueNotes.create(harbour.projectId, issue, ' '))
  assert.equal(refused.message, `400 Bad request - Note {:note=>["can't be blank"]}`)
})

test('it holds threads on issues, merge requests, snippets, commits and epics', async () => {
  const { projectId, groupId, as } = harbour
  const owner = as('owner')
  const rows = [
    [owner.IssueDiscussions, projectId, issue, 'Issue'],
    [owner.MergeRequestDiscussions, projectId, mergeRequest, 'MergeRequest'],
    [owner.ProjectSnippetDiscussions, projectId, snippet, 'Snippet'],
    [owner.CommitDiscussions, projectId, commit, 'Commit'],
    [owner.EpicDiscussions, groupId, epic, 'Epic'],
  ] as const
  interface Talks {
    create(place: number, about: unknown, body: string): Promise<{ id: string }>
    all(place: number, about: unknown): Promise<{ id: string }[]>
    show(place: number, about: unknown, id: string): Promise<{ notes?: unknown[] }>
    addNote(place: number, about: unknown, id: string, ...more: unknown[]): Promise<{ id: number }>
    editNote(place: number, about: unknown, id: string, note: number, options: object): Promise<unknown>
    removeNote(place: number, about: unknown, id: string, note: number): Promise<unknown>
  }
  for (const [discussions, place, about, type] of rows) {
    const talks = discussions as unknown as Talks
    const thread = await talks.create(place, about, 'first')
    assert.deepEqual(
      (await talks.all(place, about)).map(({ id }) => id),
      [thread.id],
    )
    const note = await talks.addNote(place, about, thread.id, 'second')
    await talks.editNote(place, about, thread.id, note.id, { body: 'changed' })
    const resolvable = type === 'MergeRequest'
    assert.deepEqual((await talks.show(place, about, thread.id)).notes?.map(essence), [
      [type, 'DiscussionNote', 'first', resolvable],
      [type, 'DiscussionNote', 'changed', resolvable],
    ])
    await talks.removeNote(place, about, thread.id, note.id)
    assert.equal((await talks.show(place, about, thread.id)).notes?.length, 1)
  }
})

test('it speaks of a line, and settles what it said', async () => {
  const { projectId: id, as } = harbour
  const { MergeRequests, MergeRequestDiscussions } = as('owner')
  const { diff_refs } = await MergeRequests.show(id, mergeRequest)
  const refs = diff_refs as Readonly<Record<`${'base' | 'start' | 'head'}_sha`, string>>
  const position = {
    baseSha: refs.base_sha,
    startSha: refs.start_sha,
    headSha: refs.head_sha,
    positionType: 'text',
    oldPath: 'talk.md',
    newPath: 'talk.md',
    newLine: '2',
  }
  const thread = await MergeRequestDiscussions.create(id, mergeRequest, 'Here', { position } as never)
  assert.deepEqual(essence(thread.notes?.[0]), ['MergeRequest', 'DiffNote', 'Here', true])
  const settled = await MergeRequestDiscussions.resolve(id, mergeRequest, thread.id, true)
  assert.equal((settled.notes as { resolved: boolean }[] | undefined)?.[0]?.resolved, true)
  const off = { position: { ...position, newLine: '99' } }
  const refused = await errorOf(MergeRequestDiscussions.create(id, mergeRequest, 'There', off as never))
  assert.equal(refused.status, 400)
})

test('it reacts, and sees who else has', async () => {
  const { projectId: id, as, clientFor } = harbour
  const owner = as('owner')
  const nobody = clientFor()
  const note = await owner.IssueNotes.create(id, issue, 'React to this')
  for (const [awards, about] of [
    [owner.IssueAwardEmojis, issue],
    [owner.MergeRequestAwardEmojis, mergeRequest],
    [owner.ProjectSnippetAwardEmojis, snippet],
  ] as const) {
    const made = await awards.award(id, about, '+1')
    assert.equal(made.name, 'thumbsup')
    const twice = await errorOf(awards.award(id, about, 'thumbsup'))
    assert.deepEqual(twice, {
      status: 404,
      message: '404 Award Emoji Name has already been taken Not Found',
    })
    assert.deepEqual(
      (await awards.all(id, about)).map((one) => one.id),
      [made.id],
    )
    assert.equal((await awards.show(id, about, made.id)).name, 'thumbsup')
  }
  assert.equal((await nobody.IssueAwardEmojis.all(id, issue)).length, 1)
  const [mine] = await owner.IssueAwardEmojis.all(id, issue)
  const theirs = await errorOf(as('stranger').IssueAwardEmojis.remove(id, issue, mine?.id ?? 0))
  assert.deepEqual(theirs, { status: 401, message: '401 Unauthorized' })
  await owner.IssueAwardEmojis.remove(id, issue, mine?.id ?? 0)
  assert.deepEqual(await nobody.IssueAwardEmojis.all(id, issue), [])
  const onNote = await owner.IssueNoteAwardEmojis.award(id, issue, note.id, 'rocket')
  assert.deepEqual(
    (await nobody.IssueNoteAwardEmojis.all(id, issue, note.id)).map((one) => one.id),
    [onNote.id],
  )
  await owner.IssueNoteAwardEmojis.remove(id, issue, note.id, onNote.id)
})

test('it gives commands', async () => {
  const { projectId: id, as } = harbour
  const { IssueNotes, Issues } = as('owner')
  const told = await IssueNotes.create(id, issue, '/title Another title\n/close')
  assert.deepEqual((told as unknown as { summary: string[] }).summary, [
    'Changed the title to "Another title".',
    'Closed this issue.',
  ])
  const { title, state } = await Issues.show(issue, { projectId: id })
  assert.deepEqual([title, state], ['Another title', 'closed'])
})
