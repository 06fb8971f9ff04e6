import type { Problem } from '../../http/problems.ts'
import { html } from '../web/html.ts'
import type { Ask, View } from '../web/page.ts'

/** The text of a refusal, in the words of the interface. */
function problemText({ body }: Pick<Problem, 'body'>): string {
  const { message, error, error_description: description } = body
  const said = message ?? description ?? error ?? ''
  if (typeof said === 'string') return said
  if (typeof said !== 'object' || said === null) return ''
  return Object.entries(said)
    .map(([field, texts]) => `${field} ${[texts].flat().join(', ')}`)
    .join('; ')
}

const TEXTS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  401: ['Sign in to see this', 'It is open to people who are signed in.'],
  404: ['Page not found', 'There is nothing at this address, or you may not see it.'],
  429: ['Too many requests', 'Wait a moment, then try again.'],
  500: ['Something went wrong', 'The server could not make this page. The fault is in its log.'],
  503: ['The server is busy', 'Something that this page needs is away. Try again in a moment.'],
}

/** A refusal as a page. What a viewer may not see and what is not there look the same. */
export function refusalView(ask: Ask, problem: Problem): View {
  const hidden = problem.status === 403 && ask.viewer === null
  const status = hidden ? 404 : problem.status
  const [title, text] = TEXTS[status] ?? ['This cannot be done', problemText(problem)]
  const back = `/users/sign_in?return_to=${encodeURIComponent(ask.pathname)}`
  return {
    title,
    status,
    main: html`<div class="empty">
      <h1>${title}</h1>
      <p>${text}</p>
      ${ask.viewer === null ? html`<p><a class="button main" href="${back}">Sign in</a></p>` : html`<p><a class="button" href="/">Go to your work</a></p>`}
    </div>`,
  }
}
