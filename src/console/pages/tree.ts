import { codeTable } from '../render/code.ts'
import { prose } from '../render/markdown.ts'
import { html } from '../web/html.ts'
import { get, type Bytes, type Redirect, type Route, type View } from '../web/page.ts'
import { badge, bytes, chip, empty, plural } from '../web/parts.ts'
import { inProject, of, type InProject } from '../web/places.ts'
import { folder, isBinary, pathLinks, readFile, textOf } from './folder.ts'
import { absentOr, findRef } from './refs.ts'

/** Bytes of a file that is shown on a page. */
const MAX_SHOWN_BYTES = 1024 * 1024

async function tree(ask: InProject): Promise<View> {
  const at = await findRef(ask, ask.at['rest'] ?? '')
  return {
    title: at.path || at.ref,
    main: html`<div class="head">
        <div><span class="chip mono">${at.ref}</span></div>
        ${pathLinks(ask, at)}
        <div class="right actions">
          <a
            class="button small"
            href="${of(ask.project, 'commits', at.ref, ...(at.path === '' ? [] : [at.path]))}"
            >History</a
          >
        </div>
      </div>
      <h1 class="visually-hidden">${at.path || ask.project.name}</h1>
      ${await folder(ask, at)}`,
  }
}

async function blob(ask: InProject): Promise<View | Redirect> {
  const at = await findRef(ask, ask.at['rest'] ?? '')
  const { project } = ask
  const file = await readFile(ask, at)
  const text = file.size > MAX_SHOWN_BYTES || isBinary(file) ? undefined : textOf(file)
  const isProse = /\.(md|markdown)$/i.test(at.path) && ask.query.get('plain') !== '1'
  const folderOf = at.path.includes('/') ? [at.path.slice(0, at.path.lastIndexOf('/'))] : []
  const base = of(project, 'blob', at.ref, ...folderOf)
  const shown =
    text === undefined
      ? html`<div class="body quiet">
          ${file.size > MAX_SHOWN_BYTES ? 'This file is too large to be shown here.' : 'This file is no text.'}
        </div>`
      : isProse
        ? html`<div class="body">${prose(text, { project: project.path_with_namespace, base })}</div>`
        : codeTable(text, at.path)
  return {
    title: at.path,
    wide: true,
    main: html`<div class="head"><span class="chip mono">${at.ref}</span>${pathLinks(ask, at)}</div>
      <h1 class="visually-hidden">${at.path}</h1>
      <div class="box">
        <header>
          <span class="quiet"
            >${bytes(file.size)}${text !== undefined && ` · ${plural(text.replace(/\n$/, '').split('\n').length, 'line')}`}</span
          >
          <span class="right actions"
            >${/\.(md|markdown)$/i.test(at.path) && html`<a href="${ask.pathname}${isProse ? '?plain=1' : ''}">${isProse ? 'Source' : 'Rendered'}</a>`}<a
              href="${of(project, 'commits', at.ref, at.path)}"
              >History</a
            ><a href="${of(project, 'raw', at.ref, at.path)}">Raw</a></span
          >
        </header>
        ${shown}
      </div>`,
  }
}

async function raw(ask: InProject): Promise<Bytes> {
  const at = await findRef(ask, ask.at['rest'] ?? '')
  const file = await readFile(ask, at)
  const body = Buffer.from(file.content, 'base64')
  const isText = !body.subarray(0, 8_000).includes(0)
  return { type: isText ? 'text/plain; charset=utf-8' : 'application/octet-stream', body }
}

async function home(ask: InProject): Promise<View> {
  const { call, project } = ask
  const ref = project.default_branch
  const [content, languages] = await Promise.all([
    ref === null ? undefined : folder(ask, { ref, path: '' }).catch(absentOr),
    call.one<Record<string, number>>('getProjectLanguages', { id: project.id }).catch(absentOr),
  ])
  return {
    title: project.name,
    main: html`<div class="head">
        <div>
          <h1>${project.name}</h1>
          <div class="meta">
            ${badge(project.visibility)}${project.archived === true && badge('archived')}<span
              >${plural(project.star_count, 'star')}</span
            ><span>${plural(project.forks_count, 'fork')}</span
            >${ref !== null && html`<span class="mono">${ref}</span>`}
          </div>
          ${project.description && html`<div class="lead">${prose(project.description, { project: project.path_with_namespace })}</div>`}
        </div>
      </div>
      ${project.topics.length > 0 && html`<p class="chips">${project.topics.map((topic) => html`<span class="chip">${topic}</span>`)}</p>`}
      <section>
        ${content ?? empty(ref === null ? 'The repository is empty.' : 'The code is not open to you.', project.http_url_to_repo && html`<p><code>git clone ${project.http_url_to_repo}</code></p>`)}
      </section>
      ${
        content !== undefined &&
        html`<section class="meta">
            ${Object.entries(languages ?? {})
              .slice(0, 6)
              .map(([name, share]) => chip({ name: `${name} ${share} %`, color: colourOf(name) }))}
          </section>
          ${project.http_url_to_repo && html`<p class="quiet small">Clone with <code>git clone ${project.http_url_to_repo}</code></p>`}`
      }`,
  }
}

const colourOf = (name: string): string => {
  const hue = Array.from(name).reduce((sum, sign) => (sum * 37 + (sign.codePointAt(0) ?? 0)) % 360, 11)
  return `hsl(${hue} 45% 50%)`
}

/** A page of a project whose address says nothing more: shown by `namespaces.ts` too. */
export const projectHome = inProject('code', home)

export const treeRoutes: readonly Route[] = [
  get('/*place/-/tree/*rest', inProject('code', tree)),
  get('/*place/-/blob/*rest', inProject('code', blob)),
  get('/*place/-/raw/*rest', inProject('code', raw)),
]
