import { unmasked } from '../render/code.ts'
import { prose } from '../render/markdown.ts'
import { html, none, type Html } from '../web/html.ts'
import { ago } from '../web/parts.ts'
import { of, type InProject } from '../web/places.ts'
import type { Commit } from '../web/records.ts'
import { absentOr, type Placed } from './refs.ts'

interface Entry {
  readonly id: string
  readonly name: string
  readonly type: 'tree' | 'blob' | 'commit'
  readonly path: string
}
export interface File {
  readonly content: string
  readonly size: number
  readonly encoding: string
}

const ICONS = {
  tree: html`<svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" fill="currentColor">
    <path
      d="M1.500 3A1.500 1.500 0 0 1 3 1.500h3.200l1.700 1.800H13A1.500 1.500 0 0 1 14.500 4.800v7.700A1.500 1.500 0 0 1 13 14H3a1.500 1.500 0 0 1-1.500-1.500z"
      opacity=".75"
    />
  </svg>`,
  blob: html`<svg
    width="16"
    height="16"
    viewBox="0 0 16 16"
    aria-hidden="true"
    fill="none"
    stroke="currentColor"
    stroke-width="1.200"
  >
    <path d="M3.500 1.600h5.700l3.300 3.300v9.500h-9z M9 1.800v3.400h3.300" />
  </svg>`,
  commit: html`<svg
    width="16"
    height="16"
    viewBox="0 0 16 16"
    aria-hidden="true"
    fill="none"
    stroke="currentColor"
    stroke-width="1.300"
  >
    <circle cx="8" cy="8" r="3.500" />
    <path d="M1 8h3.500m7 0H15" />
  </svg>`,
}

/** Entries of a folder that one page shows. */
const MAX_ENTRIES = 1_000

async function entriesOf({ call, project }: InProject, { ref, path }: Placed): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let page = 1; entries.length < MAX_ENTRIES; page++) {
    const list = await call.list<Entry>('listTree', {
      id: project.id,
      ref,
      path,
      per_page: 100,
      page: String(page),
    })
    entries.push(...list.items)
    if (!list.hasNext || list.items.length === 0) break
  }
  return entries
}

const isReadme = ({ name, type }: Entry): boolean =>
  type === 'blob' && /^readme(\.(md|markdown|txt|rst))?$/i.test(name)

export const textOf = ({ content, encoding }: File): string =>
  Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8').toString('utf8')
export const isBinary = ({ content }: File): boolean =>
  Buffer.from(content, 'base64').subarray(0, 8_000).includes(0)

export const readFile = ({ call, project }: InProject, { ref, path }: Placed): Promise<File> =>
  call.one<File>('getFile', { id: project.id, file_path: path, ref })

/** The folders above a path, as links. */
export function pathLinks({ project }: InProject, { ref, path }: Placed): Html {
  const parts = path === '' ? [] : path.split('/')
  const last = parts.pop()
  return html`<nav class="path" aria-label="Path">
    <a href="${of(project, 'tree', ref)}">${project.name}</a
    >${parts.map((part, i) => html`<a href="${of(project, 'tree', ref, ...parts.slice(0, i + 1))}">${unmasked(part)}</a>`)}${last !== undefined && html`<span class="last"><strong>${unmasked(last)}</strong></span>`}
  </nav>`
}

const lastCommit = (ask: InProject, commit: Commit | undefined): Html =>
  commit === undefined
    ? none
    : html`<header>
        <strong>${commit.author_name}</strong
        ><a class="quiet" href="${of(ask.project, 'commit', commit.id)}">${commit.title}</a
        ><span class="right quiet nowrap"
          ><a class="sha" href="${of(ask.project, 'commit', commit.id)}">${commit.short_id}</a> ·
          ${ago(commit.committed_date, ask.now)}</span
        >
      </header>`

const rowOf = ({ project }: InProject, { ref }: Placed, { name, type, path }: Entry): Html =>
  html`<tr>
    <td class="icon">${ICONS[type]}</td>
    <td>
      ${type === 'commit' ? unmasked(name) : html`<a href="${of(project, type, ref, path)}">${unmasked(name)}</a>`}
    </td>
  </tr>`

/** A folder with the text that introduces it. */
export async function folder(ask: InProject, at: Placed): Promise<Html> {
  const { call, project } = ask
  const [entries, commits] = await Promise.all([
    entriesOf(ask, at),
    call.list<Commit>('listCommits', {
      id: project.id,
      ref_name: at.ref,
      path: at.path || undefined,
      per_page: 1,
    }),
  ])
  const found = entries.find(isReadme)
  const readme = found && (await readFile(ask, { ...at, path: found.path }).catch(absentOr))
  const above = at.path.includes('/') ? at.path.slice(0, at.path.lastIndexOf('/')) : ''
  const base = of(project, 'blob', at.ref, ...(at.path === '' ? [] : [at.path]))
  return html`<div class="box">
      ${lastCommit(ask, commits.items[0])}
      <table class="files">
        <tbody>
          ${
            at.path !== '' &&
            html`<tr>
              <td class="icon">${ICONS.tree}</td>
              <td>
                <a
                  href="${of(project, 'tree', at.ref, ...(above === '' ? [] : [above]))}"
                  aria-label="The folder above"
                  >..</a
                >
              </td>
            </tr>`
          }
          ${entries.map((entry) => rowOf(ask, at, entry))}
        </tbody>
      </table>
    </div>
    ${entries.length >= MAX_ENTRIES && html`<p class="quiet">Only the first ${MAX_ENTRIES} entries are shown.</p>`}
    ${
      readme &&
      !isBinary(readme) &&
      html`<section class="box">
        <header><strong>${found.name}</strong></header>
        <div class="body">
          ${/\.(md|markdown)$|^readme$/i.test(found.name) ? prose(textOf(readme), { project: project.path_with_namespace, base }) : html`<pre>${textOf(readme)}</pre>`}
        </div>
      </section>`
    }`
}
