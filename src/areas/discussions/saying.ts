import { Type as t, type Static } from 'typebox'
import { maySetTime, type Talking } from '../../access/conversation.ts'
import type { Noteable } from '../../core/conversation.ts'
import { updateNote, withRow, type NewNote } from '../../core/notes.ts'
import type { Note as NoteRow } from '../../db/schema_planning.ts'
import type { Has } from '../../http/gate.ts'
import { Answer } from '../../http/operation.ts'
import { badParams, noSuchRecord, refused } from '../../http/problems.ts'
import { presentNote, type Discussion, type Note } from '../../records/note.ts'
import { readNote, readThread } from './store.ts'

// What becomes of a text on its way into a note.

export const bodyParams = {
  body: t.String(),
  created_at: t.Optional(
    t.Unsafe<string>({ type: 'string', format: 'date-time', description: 'For administrators and owners' }),
  ),
}

/** The answer where a text held nothing but commands. */
export const CommandsOnly = t.Object({
  commands_changes: t.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
  summary: t.Array(t.String()),
})

/** The most characters of a note, as published. */
const LONGEST = 1_000_000

const badNote = (why: string): ReturnType<typeof refused> =>
  refused(`400 Bad request - Note {:note=>["${why}"]}`)
const blank = (): ReturnType<typeof refused> => badNote("can't be blank")
const tooLong = (): ReturnType<typeof refused> => badNote(`is too long (maximum is ${LONGEST} characters)`)

function checkBody(body: string): void {
  if (body.trim() === '') throw blank()
  if (body.length > LONGEST && Array.from(body).length > LONGEST) throw tooLong()
}

interface Said {
  readonly body: string
  readonly created_at?: string
}

/** From whoever may not say when, a time is as if it were not there; before 1970 there was none, as published. */
function timeOf(ctx: Talking, at: string | undefined): string | null {
  if (at === undefined || !maySetTime(ctx)) return null
  if (Date.parse(at) <= 0) throw badParams(['created_at is invalid'])
  return at
}

type More = Partial<Pick<NewNote, 'type' | 'position' | 'commit_id'>>
type Write = (about: Noteable, note: NewNote) => Promise<NoteRow>
interface Done {
  readonly row: NoteRow
  readonly about: Noteable
  readonly changes: Record<string, unknown>
}

/** Obeys the commands in a text, then writes what is left of it. */
async function say(ctx: Has<Talking>, said: Said, more: More, write: Write): Promise<Answer | Done> {
  checkBody(said.body)
  const created_at = timeOf(ctx, said.created_at)
  const about = await withRow(ctx.db, ctx.noteable)
  const none = { type: null, position: null, commit_id: null }
  const row = await write(about, { ...none, ...more, author_id: ctx.actor.id, body: said.body, created_at })
  return { row, about, changes: {} }
}

/** Writes a note, or begins a thread: what the answer shows is what tells them apart. */
export const says = {
  note: async (
    ctx: Has<Talking>,
    said: Said,
    more: More,
    write: Write,
  ): Promise<Answer | Static<typeof Note>> => {
    const done = await say(ctx, said, more, write)
    if (done instanceof Answer) return done
    return presentNote(await readNote(ctx.db, done.row), done.about, ctx, done.changes)
  },
  thread: async (
    ctx: Has<Talking>,
    said: Said,
    more: More,
    write: Write,
  ): Promise<Answer | Static<typeof Discussion>> => {
    const done = await say(ctx, said, more, write)
    if (done instanceof Answer) return done
    const { key, individual_note, notes } = await readThread(ctx.db, done.row.discussion_id)
    const shown = notes.map((row) => presentNote(row, done.about, ctx, done.changes))
    return { id: key, individual_note, notes: shown }
  },
  refuses: [blank, tooLong],
}

/** Gives a note another text. */
export async function change(
  ctx: Has<Talking>,
  note: NoteRow,
  body: string,
): Promise<Answer | Static<typeof Note>> {
  checkBody(body)
  const row = await updateNote(ctx.db, ctx.noteable, note.id, body)
  if (row === undefined) throw noSuchRecord()
  return presentNote(await readNote(ctx.db, row), ctx.noteable, ctx)
}
