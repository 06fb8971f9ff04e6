import { Download } from '../../http/answers/download.ts'
import { codeTable } from '../render/code.ts'
import { prose } from '../render/markdown.ts'
import { html } from '../web/html.ts'
import { get, post, type Bytes, type Redirect, type Route, type View } from '../web/page.ts'
import { ago, badge, empty, pager, paging, person } from '../web/parts.ts'
import { inProject, of, type InProject } from '../web/places.ts'
import type { Discussion, User } from '../web/records.ts'
import { absentOr } from './refs.ts'
import { composer, discussion } from './threads.ts'

interface Snippet {
  readonly id: number
  readonly title: string
  readonly description: string | null
  readonly visibility: string
  readonly author: User | null
  readonly created_at: string
  readonly file_name: string
  readonly files: readonly { readonly path: string }[]
}

async function list(ask: InProject): Promise<View> {
  const found = await ask.call.list<Snippet>('listSnippets', { id: ask.project.id, ...paging(ask) })
  return {
    title: 'Snippets',
    main: html`<div class="head"><h1>Snippets</h1></div>
      ${
        found.items.length === 0
          ? empty('There are no snippets here.')
          : html`<ul class="rows">
              ${found.items.map(
                (each) =>
                  html`<li>
                    <div class="grow">
                      <a class="title" href="${of(ask.project, 'snippets', each.id)}">${each.title}</a>
                      <div class="meta">
                        ${person(each.author, 16)}<span class="mono">${each.file_name}</span
                        ><span>${ago(each.created_at, ask.now)}</span>
                      </div>
                    </div>
                    ${badge(each.visibility)}
                  </li>`,
              )}
            </ul>`
      }${pager(ask, found)}`,
  }
}

/** Bytes of one file that a page shows. */
const MAX_SHOWN_BYTES = 512 * 1024

async function fileOf({ call, project, at }: InProject, path: string): Promise<string> {
  const answer = await call.raw('getRawSnippetFile', {
    id: project.id,
    snippet_id: at['id'],
    ref: 'main',
    file_path: path,
  })
  if (!(answer instanceof Download)) return ''
  const parts: Buffer[] = []
  for await (const part of await answer.open()) parts.push(Buffer.from(part as Buffer))
  return Buffer.concat(parts).toString('utf8')
}

async function show(ask: InProject): Promise<View> {
  const { call, project, at } = ask
  const asked = { id: project.id, snippet_id: at['id'] }
  const [snippet, discussions] = await Promise.all([
    call.one<Snippet>('getSnippet', asked),
    call.list<Discussion>('listSnippetDiscussions', { ...asked, per_page: 100 }).catch(absentOr),
  ])
  const texts = await Promise.all(
    snippet.files.map(async ({ path }) => ({ path, text: await fileOf(ask, path) })),
  )
  const around = { ask, project: project.path_with_namespace }
  const here = of(project, 'snippets', snippet.id)
  return {
    title: snippet.title,
    main: html`<div class="head">
        <div>
          <h1>${snippet.title}</h1>
          <div class="meta">
            ${badge(snippet.visibility)}${person(snippet.author)}<span
              >${ago(snippet.created_at, ask.now)}</span
            >
          </div>
        </div>
      </div>
      ${snippet.description && prose(snippet.description, around)}
      ${texts.map(
        ({ path, text }) =>
          html`<div class="box file">
            <header>
              <span class="mono">${path}</span
              ><a class="right" href="${here}/raw/main/${encodeURI(path)}">Raw</a>
            </header>
            ${text.length > MAX_SHOWN_BYTES ? html`<div class="body quiet">Too large to be shown here.</div>` : codeTable(text, path)}
          </div>`,
      )}
      <section class="thread" aria-label="Discussion">
        ${discussions?.items.map((each) => discussion(each, around))}
      </section>
      ${composer(around, here)}`,
  }
}

async function raw(ask: InProject): Promise<Bytes> {
  const path =
    ask.at['path'] ??
    (await ask.call.one<Snippet>('getSnippet', { id: ask.project.id, snippet_id: ask.at['id'] })).file_name
  return { type: 'text/plain; charset=utf-8', body: await fileOf(ask, path) }
}

async function comment({ call, project, at, form: sent }: InProject): Promise<Redirect> {
  await call.one('createSnippetNote', { id: project.id, snippet_id: at['id'], body: sent.get('body') ?? '' })
  return { to: of(project, 'snippets', at['id'] ?? '') }
}

export const snippetRoutes: readonly Route[] = [
  get('/*place/-/snippets', inProject('snippets', list)),
  get('/*place/-/snippets/:id', inProject('snippets', show)),
  post('/*place/-/snippets/:id', inProject('snippets', comment)),
  get('/*place/-/snippets/:id/raw', inProject('snippets', raw)),
  get('/*place/-/snippets/:id/raw/:ref/*path', inProject('snippets', raw)),
]
