import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { openapi } from '../http/documents/openapi.ts'
import type { NamedOperation } from '../http/operation.ts'
import { PACKAGE_ROOT } from '../package_root.ts'

const assets = new URL('src/console/assets/', PACKAGE_ROOT)
const SCRIPTS = ['docs.js', 'filter.js', 'guide.js', 'operation.js', 'parts.js', 'schema.js', 'try.js']
const FILES: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/-/docs', 'docs.html', 'text/html; charset=utf-8'],
  ['/-/docs/docs.css', 'docs.css', 'text/css; charset=utf-8'],
  ['/-/docs/examples.json', 'examples.json', 'application/json; charset=utf-8'],
  ...SCRIPTS.map((file) => [`/-/docs/${file}`, file, 'text/javascript; charset=utf-8'] as const),
]
/** The page reads this server and nothing else, whatever its address says. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

/** The interface as a document and as a page to browse it. */
export function mountDocs(
  app: FastifyInstance,
  operations: readonly NamedOperation[],
  { config, about }: { readonly config: Config; readonly about: Readonly<Record<string, string>> },
): void {
  let document: Buffer | undefined
  app.get('/-/openapi.json', async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(openapi(operations, config.url, about)))
    return reply.type('application/json').send(document)
  })
  for (const [path, file, type] of FILES)
    app.get(path, async (_request, reply) =>
      reply
        .headers({ 'content-type': type, 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
        .send(await readFile(new URL(file, assets), 'utf8')),
    )
  app.get('/', async (_request, reply) => reply.redirect('/-/docs'))
}
