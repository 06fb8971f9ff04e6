import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { PACKAGE_ROOT } from '../package_root.ts'

const folder = new URL('src/console/assets/', PACKAGE_ROOT)
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}
const NAMES = ['console.css', 'console.js', 'code.css', 'mark.svg'] as const

/** Read once: the digest in an address changes with the file, so that browsers may keep it. */
const files = new Map(
  NAMES.map((name) => {
    const body = readFileSync(new URL(name, folder))
    const digest = createHash('sha256').update(body).digest('hex').slice(0, 12)
    return [name, { body, address: `/-/console/${digest}/${name}` }] as const
  }),
)

/** The address of a file of the console. */
export const asset = (name: (typeof NAMES)[number]): string => files.get(name)?.address ?? ''

export function mountAssets(app: FastifyInstance): void {
  for (const [name, { body, address }] of files)
    app.get(address, async (_request, reply) =>
      reply
        .headers({
          'content-type': TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
          'cache-control': 'public, max-age=31536000, immutable',
        })
        .send(body),
    )
}
