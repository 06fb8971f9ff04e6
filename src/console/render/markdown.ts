import MarkdownIt from 'markdown-it'
import { Html, escaped, html } from '../web/html.ts'
import { highlighted, unmasked } from './code.ts'

/** Characters above which text is shown as it was written. */
const MAX_RENDERED = 100_000
/** Marks of one paragraph above which it is: brackets in brackets take the square of their number. */
const MAX_MARKS = 1_500

const markdown = new MarkdownIt({
  html: false,
  linkify: true,
  breaks: true,
  highlight: (text, language) => highlighted(text, language === '' ? undefined : language),
})
// A picture of another server would tell it who reads: it is shown as a link.
markdown.renderer.rules.image = (tokens, i) => {
  const token = tokens[i]
  const source = token?.attrGet('src') ?? ''
  return `<a href="${escaped(source)}" rel="nofollow noreferrer">${escaped(token?.content || 'image')}</a>`
}
markdown.renderer.rules['link_open'] = (tokens, i, options) => {
  tokens[i]?.attrSet('rel', 'nofollow noreferrer')
  return markdown.renderer.renderToken(tokens, i, options)
}
// The page has a heading of its own; those of a text stand below it.
for (const rule of ['heading_open', 'heading_close'] as const)
  markdown.renderer.rules[rule] = (tokens, i, options) => {
    const token = tokens[i]
    if (token) token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + 1)}`
    return markdown.renderer.renderToken(tokens, i, options)
  }

interface Place {
  /** The path of a project: `#1` and `!1` are its issues and merge requests. */
  readonly project?: string | undefined
  /** The address at which relative links begin: the folder of a file. */
  readonly base?: string | undefined
}

const REFERENCE = /(?<![\w&/#!@.-])([#!])(\d{1,9})\b|(?<![\w/@.-])@([\w][\w.-]{0,254})/g

/** Links references in the texts of rendered HTML, outside of links and code. */
function withReferences(text: string, project: string | undefined): string {
  let skipped = 0
  return text
    .split(/(<[^>]*>)/)
    .map((part) => {
      if (part.startsWith('<')) {
        if (/^<(a|code|pre)[\s>]/.test(part)) skipped += 1
        if (/^<\/(a|code|pre)>/.test(part)) skipped -= 1
        return part
      }
      if (skipped > 0) return part
      return part.replaceAll(REFERENCE, (all, kind: string | undefined, iid: string, user: string) => {
        if (kind === undefined)
          return `<a href="/${encodeURIComponent(user.replace(/[.-]+$/, ''))}">${all}</a>`
        if (project === undefined) return all
        const noun = kind === '#' ? 'issues' : 'merge_requests'
        return `<a href="/${encodeURI(project)}/-/${noun}/${iid}">${all}</a>`
      })
    })
    .join('')
}

const isLong = (text: string): boolean =>
  text.length > MAX_RENDERED ||
  text
    .split(/\n\s*\n/)
    .some((paragraph) => paragraph.length - paragraph.replaceAll(/[[\](!*_~`<]/g, '').length > MAX_MARKS)

/** Text of people as HTML; raw HTML in it is shown as text. */
export function prose(text: string | null | undefined, { project, base }: Place = {}): Html {
  if (!text) return html``
  const shown = unmasked(text)
  if (isLong(shown)) return html`<div class="prose"><pre>${shown}</pre></div>`
  const rendered = withReferences(markdown.render(shown), project)
  const checked = rendered.replaceAll(
    /<li>(<p>)?\[([ xX])\] /g,
    (_, open: string | undefined, mark: string) =>
      `<li class="task">${open ?? ''}${mark === ' ' ? '☐' : '☑'} `,
  )
  const placed =
    base === undefined
      ? checked
      : checked.replaceAll(
          /href="(?![a-z][a-z0-9+.-]*:|[/#])([^"]*)"/gi,
          (_, path: string) => `href="${escaped(base)}/${path}"`,
        )
  return new Html(`<div class="prose">${placed}</div>`)
}
