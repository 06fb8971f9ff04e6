import { prose } from '../render/markdown.ts'
import { html, type Html, type Part } from '../web/html.ts'
import type { Ask } from '../web/page.ts'
import { ago, badge, form, person } from '../web/parts.ts'
import type { Discussion, Note } from '../web/records.ts'

interface Around {
  readonly ask: Pick<Ask, 'now' | 'csrf' | 'viewer' | 'pathname'>
  /** The path of the project, for references. */
  readonly project?: string | undefined
}

const remarkHead = ({ author, created_at, internal, id }: Note, { ask }: Around): Html =>
  html`${person(author)}<a class="quiet" href="#note_${id}">${ago(created_at, ask.now)}</a
    >${internal === true && badge('draft', 'internal')}`

const systemNote = (note: Note, { ask, project }: Around): Html =>
  html`<div class="system" id="note_${note.id}">
    <span aria-hidden="true">·</span>
    <div>${person(note.author, 16)} ${prose(note.body, { project })} ${ago(note.created_at, ask.now)}</div>
  </div>`

/** A discussion: its first note and the answers to it. */
export function discussion({ notes, id }: Discussion, around: Around, reply?: Part): Html {
  const [first, ...others] = notes
  if (first === undefined) return html``
  if (first.system) return systemNote(first, around)
  const { project } = around
  return html`<article class="box remark" id="note_${first.id}">
    <header>
      ${remarkHead(first, around)}${first.resolvable === true && html`<span class="right">${first.resolved === true ? badge('success', 'resolved') : badge('manual', 'open thread')}</span>`}
    </header>
    <div class="body">${prose(first.body, { project })}</div>
    ${others.map(
      (note) =>
        html`<div class="reply" id="note_${note.id}">
          <div class="meta">${remarkHead(note, around)}</div>
          ${prose(note.body, { project })}
        </div>`,
    )}
    ${reply && html`<div class="reply" id="reply_${id}">${reply}</div>`}
  </article>`
}

/** The form that adds a comment; what else may be pressed stands beside its button. */
export const composer = ({ ask }: Around, action: string, more: Part = ''): Html =>
  ask.viewer === null
    ? html`<p class="empty">
        <a href="/users/sign_in?return_to=${encodeURIComponent(ask.pathname)}">Sign in</a> to take part.
      </p>`
    : form(
        ask,
        action,
        html`<label class="field"
            ><span class="visually-hidden">Comment</span
            ><textarea
              name="body"
              placeholder="Write a comment. Quick actions such as /label or /close stand on lines of their own."
              rows="5"
            ></textarea>
          </label>
          <div class="actions"><button class="main" name="act" value="comment">Comment</button>${more}</div>`,
      )

/** A short form for an answer in a thread. */
export const replyForm = ({ ask }: Around, action: string): Html | undefined =>
  ask.viewer === null
    ? undefined
    : form(
        ask,
        action,
        html`<div class="actions">
          <input type="text" name="body" aria-label="Reply" placeholder="Reply" required /><button
            class="small"
          >
            Reply
          </button>
        </div>`,
        'inline',
      )
