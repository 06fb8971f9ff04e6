import { Readable } from 'node:stream'
import { Download } from '../../http/answers/download.ts'
import { canonicalName } from '../../packages/names.ts'
import type { PypiFile, PypiName } from './pypi_store.ts'

const JSON_TYPE = 'application/vnd.pypi.simple.v1+json'
const ASKS_JSON = /application\/vnd\.pypi\.simple\.(?:v1|latest)\+json/

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '')

interface Shown {
  readonly accept: string | undefined
  /** Of the registry, without a slash at the end. */
  readonly address: string
}

interface Link {
  readonly href: string
  readonly text: string
  readonly attributes?: string
}
const page = (title: string, links: readonly Link[]): string => {
  const heading = `Links for ${escaped(title)}`
  const anchors = links.map(
    ({ href, text, attributes = '' }) => `<a href="${escaped(href)}"${attributes}>${escaped(text)}</a><br>`,
  )
  return `<!DOCTYPE html>\n<html>\n<head><title>${heading}</title></head>\n<body>\n<h1>${heading}</h1>\n${anchors.join('\n')}\n</body>\n</html>\n`
}

/** The form that the client asks for; pip prefers JSON. */
function send({ accept = '' }: Shown, html: () => string, json: () => object): Download {
  const [type, text] = ASKS_JSON.test(accept)
    ? [JSON_TYPE, JSON.stringify({ meta: { 'api-version': '1.0' }, ...json() })]
    : ['text/html; charset=utf-8', html()]
  return new Download({ 'content-type': type, vary: 'Origin, Accept' }, async () =>
    Readable.from([Buffer.from(text)]),
  )
}

/** All packages of a registry. */
export const presentIndex = (title: string, names: readonly PypiName[], shown: Shown): Download =>
  send(
    shown,
    () =>
      page(
        title,
        names.map(({ canonical_name, name }) => ({
          href: `${shown.address}/simple/${canonical_name}`,
          text: name,
        })),
      ),
    () => ({ projects: names.map(({ canonical_name }) => ({ name: canonical_name })) }),
  )

/** All files of a package, of which there is one at least. */
export function presentFiles(files: readonly PypiFile[], shown: Shown): Download {
  const name = files[0]?.name ?? ''
  const urlOf = ({ file_name, file_sha256 }: PypiFile): string =>
    `${shown.address}/files/${file_sha256}/${encodeURIComponent(file_name)}`
  return send(
    shown,
    () =>
      page(
        name,
        files.map((file) => ({
          href: `${urlOf(file)}#sha256=${file.file_sha256}`,
          text: file.file_name,
          attributes: ` data-requires-python="${escaped(file.requires_python)}"`,
        })),
      ),
    () => ({
      name: canonicalName('pypi', name),
      files: files.map((file) => ({
        filename: file.file_name,
        url: urlOf(file),
        hashes: { sha256: file.file_sha256 },
        ...(file.requires_python !== '' && { 'requires-python': file.requires_python }),
      })),
    }),
  )
}
