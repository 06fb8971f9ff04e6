import { Type as t, type Static } from 'typebox'
import { maySetTime, type Commenting } from '../../access/note_permissions.ts'
import type { Noteable } from '../../core/conversation/noteable.ts'
import { dateDeed } from '../../core/values/deed_time.ts'
import { isLonger, tooLong } from '../../core/values/lengths.ts'
import { processMentions } from '../../core/conversation/mentions.ts'
import { TooMuchSaid, deleteNote, updateNote, withRow, type NewNote } from '../../core/conversation/notes.ts'
import {
  madeConfidential,
  applyQuickActions,
  type QuickActionResult,
} from '../../core/quick_actions/apply.ts'
import { targetBranchesIn, type TargetBranches } from '../../core/merge_requests/target_branches.ts'
import type { Db } from '../../db/db.ts'
import { violates } from '../../db/errors.ts'
import type { Note as NoteRow } from '../../db/schema/conversation.ts'
import type { Has } from '../../http/gate.ts'
import { Answer } from '../../http/operation.ts'
import { badParams, refused, type Problem } from '../../http/problems.ts'
import { presentNote, type Discussion, type Note } from '../../records/conversation/note.ts'
import { readNote, readThread } from './store.ts'

// Writing notes: commands, mentions, the row.

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
const MAX_NOTE_CHARACTERS = 1_000_000

const badNote = (why: string, field = 'note'): Problem =>
  refused(`400 Bad request - Note {:${field}=>["${why}"]}`)
export const notInternal = (): Problem => badNote('can not be set for this resource', 'internal')
const blank = (): Problem => badNote("can't be blank")
const overlong = (): Problem => badNote(tooLong(MAX_NOTE_CHARACTERS))

const tooManyNotes = (): Problem =>
  refused('400 Bad request - Note {:base=>["Maximum number of comments exceeded"]}')
const orTooManyNotes = (error: unknown): never => {
  throw error instanceof TooMuchSaid ? tooManyNotes() : error
}

function checkBody(body: string): void {
  if (body.trim() === '') throw blank()
  if (isLonger(body, MAX_NOTE_CHARACTERS)) throw overlong()
}

interface NoteText {
  readonly body: string
  readonly created_at?: string
}

/** From whoever may not say when, a time is as if it were not there; before 1970 there was none, as published. */
function timeOf(ctx: Commenting, at: string | undefined): string | null {
  if (at === undefined || !maySetTime(ctx)) return null
  if (Date.parse(at) <= 0) throw badParams(['created_at is invalid'])
  return at
}

type More = Partial<Pick<NewNote, 'type' | 'position' | 'commit_id'>>
type Write = (db: Db, about: Noteable, note: NewNote) => Promise<NoteRow>
interface Done {
  readonly row: NoteRow
  readonly about: Noteable
  readonly changes: Record<string, unknown>
}

/** Inside the transaction, with what git said of the branches that the text names. */
type Writing = Has<Commenting> & { readonly branches: TargetBranches | undefined }

/** Reads git, then runs `work` in one transaction. */
async function inTransaction<Result>(
  ctx: Has<Commenting>,
  body: string,
  work: (ctx: Writing) => Promise<Result>,
): Promise<Result> {
  const branches = await targetBranchesIn(ctx, ctx.noteable, body)
  return ctx.transact(ctx, (ctx) => work({ ...ctx, branches }))
}

const failed = (why: readonly string[] = []): Problem =>
  refused(['400 Bad request - Failed to apply commands.', ...why].join(' '))

/** Obeys the commands in a text; an answer where there was nothing else. Throws the published Problem where none could be obeyed. */
async function runCommands(ctx: Writing, about: Noteable, body: string): Promise<QuickActionResult | Answer> {
  checkBody(body)
  const obeyed = await applyQuickActions(
    ctx,
    about,
    { project: ctx.home, line: ctx.line, role: ctx.reader.role },
    body,
  ).catch((error: unknown) => {
    // Another merge request of the same branches is open.
    throw violates(error, 'merge_requests_open_key') ? failed() : error
  })
  if (!obeyed.onlyCommands) return obeyed
  if (obeyed.applied === 0) throw failed(obeyed.summary)
  return new Answer(202, { commands_changes: obeyed.changes, summary: obeyed.summary })
}

/** The record as the commands left it: what one of them hid is hidden from whom the same text calls. */
const asConfidential = (about: Noteable, obeyed: QuickActionResult): Noteable =>
  madeConfidential(obeyed) ? { ...about, confidential: true } : about

/** Lets a text do what it does beside being read. */
const notifyMentions = (
  { db, actor, home }: Has<Commenting>,
  about: Noteable,
  row: NoteRow,
  before = '',
): Promise<void> =>
  processMentions(
    { db, actor, about, project: home, noteId: row.id, internal: row.internal },
    row.body,
    before,
  )

/** Obeys the commands in a text, then writes what is left of it. */
async function writeNote(ctx: Writing, said: NoteText, more: More, write: Write): Promise<Answer | Done> {
  const created_at = timeOf(ctx, said.created_at)
  await dateDeed(ctx.db, created_at ?? undefined)
  const about = await withRow(ctx.db, ctx.noteable)
  const obeyed = await runCommands(ctx, about, said.body)
  if (obeyed instanceof Answer) return obeyed
  const none = { type: null, position: null, commit_id: null }
  const note = { ...none, ...more, author_id: ctx.actor.id, body: obeyed.text, created_at }
  const row = await write(ctx.db, about, note).catch(orTooManyNotes)
  await notifyMentions(ctx, asConfidential(about, obeyed), row)
  return { row, about, changes: obeyed.changes }
}

/** Writes a note, or begins a thread: what the answer shows is what tells them apart. */
export const commentWriting = {
  note: (
    ctx: Has<Commenting>,
    said: NoteText,
    more: More,
    write: Write,
  ): Promise<Answer | Static<typeof Note>> =>
    inTransaction(ctx, said.body, async (ctx) => {
      const done = await writeNote(ctx, said, more, write)
      if (done instanceof Answer) return done
      return presentNote(await readNote(ctx.db, done.row), done.about, ctx, done.changes)
    }),
  thread: (
    ctx: Has<Commenting>,
    said: NoteText,
    more: More,
    write: Write,
  ): Promise<Answer | Static<typeof Discussion>> =>
    inTransaction(ctx, said.body, async (ctx) => {
      const done = await writeNote(ctx, said, more, write)
      if (done instanceof Answer) return done
      const { key, individual_note, notes } = await readThread(ctx.db, done.row.discussion_id)
      const shown = notes.map((row) => presentNote(row, done.about, ctx, done.changes))
      return { id: key, individual_note, notes: shown }
    }),
  refuses: [blank, overlong, failed, tooManyNotes],
}

/** Gives a note another text, and obeys the commands in that. */
export const change = (
  ctx: Has<Commenting>,
  note: NoteRow,
  body: string,
): Promise<Answer | Static<typeof Note>> =>
  inTransaction(ctx, body, async (ctx) => {
    const obeyed = await runCommands(ctx, ctx.noteable, body)
    if (obeyed instanceof Answer) {
      // A note without text is deleted, as published.
      await deleteNote(ctx.db, ctx.noteable, note)
      return obeyed
    }
    const row = await updateNote(ctx.db, ctx.noteable, note.id, obeyed.text).catch(orTooManyNotes)
    await notifyMentions(ctx, asConfidential(ctx.noteable, obeyed), row, note.body)
    return presentNote(await readNote(ctx.db, row), ctx.noteable, ctx, obeyed.changes)
  })
