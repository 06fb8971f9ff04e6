import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** A file as a tar archive holds it: a header and blocks of 512 bytes. */
function tarEntry(path: string, content: string): Buffer {
  const body = Buffer.from(content)
  const header = Buffer.alloc(512)
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`
  header.write(path, 0)
  header.write(octal(0o644, 8), 100)
  header.write(octal(body.length, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
}

/** The tarball that `npm pack` makes of a package with these files beside its manifest. */
export function npmTarball(manifest: object, files: Readonly<Record<string, string>> = {}): Buffer {
  const entries = Object.entries({ ...files, 'package.json': JSON.stringify(manifest) })
  const blocks = entries.map(([path, content]) => tarEntry(`package/${path}`, content))
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

interface NpmDocument {
  readonly [key: string]: unknown
  readonly versions: Readonly<Record<string, Record<string, unknown>>>
  readonly _attachments: Readonly<
    Record<string, { readonly content_type: string; readonly length: number; readonly data: string }>
  >
}

interface Made {
  readonly name: string
  readonly version: string
  readonly tag?: string
  /** Parts of the manifest beside name and version. */
  readonly manifest?: object
  readonly tarball?: Buffer
}

/** The document that `npm publish` sends. */
export function npmDocument({ name, version, tag = 'latest', manifest = {}, tarball }: Made): NpmDocument {
  const bytes = tarball ?? npmTarball({ name, version, ...manifest })
  const digest = (algorithm: string, form: 'hex' | 'base64'): string =>
    createHash(algorithm).update(bytes).digest(form)
  const dist = { shasum: digest('sha1', 'hex'), integrity: `sha512-${digest('sha512', 'base64')}` }
  const key = `${name}-${version}.tgz`
  return {
    _id: name,
    name,
    'dist-tags': { [tag]: version },
    versions: { [version]: { name, version, ...manifest, dist } },
    _attachments: {
      [key]: {
        content_type: 'application/octet-stream',
        length: bytes.length,
        data: bytes.toString('base64'),
      },
    },
  }
}
