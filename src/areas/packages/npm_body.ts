import { createHash } from 'node:crypto'
import { valid } from 'semver'
import type { Digests } from '../../blobs/digests.ts'
import type { Context } from '../../http/gate.ts'
import { isTree, type Tree, type Value } from '../../http/params/forms.ts'
import { LongText } from '../../http/params/long_text.ts'
import {
  agreesWith,
  MAX_MANIFEST,
  isManifestTooLarge,
  keptManifest,
  type Dist,
  type Manifest,
} from '../../packages/npm_manifest.ts'
import { storable } from '../../packages/metadata_text.ts'
import { readPackageJson } from '../../packages/npm_tarball.ts'
import { npmInvalid, npmRefused } from './npm_refusals.ts'

const [BACKSLASH, PADDING] = [0x5c, 0x3d]
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** A version as `npm publish` sends it. */
interface Sent {
  readonly version: string
  readonly tag: string
  readonly manifest: Tree
  readonly data: string | LongText
}

const treeIn = (tree: Tree, name: string): Tree => {
  const found = tree[name]
  return isTree(found) ? found : {}
}
const isData = (value: Value | undefined): value is string | LongText =>
  (typeof value === 'string' && value !== '') || value instanceof LongText

/** The version in a document: the first of its versions and of its tags count, as published. Throws what is missing. */
export function sentVersion(document: Tree, name: string): Sent {
  const versions = treeIn(document, 'versions')
  const [version = ''] = Object.keys(versions)
  if (version === '') throw npmRefused('Version is empty.')
  const attachments = treeIn(document, '_attachments')
  const [first = ''] = Object.keys(attachments)
  const key = `${name}-${version}.tgz`
  const { data } = treeIn(attachments, key in attachments ? key : first)
  if (!isData(data)) throw npmRefused('Attachment data is empty.')
  const [tag = 'latest'] = Object.keys(treeIn(document, 'dist-tags'))
  return { version, tag, manifest: treeIn(versions, version), data }
}

const chunksOf = (data: string | LongText): AsyncIterable<Uint8Array> | Iterable<Uint8Array> =>
  data instanceof LongText ? data.chunks() : [Buffer.from(data)]

/** The bytes that base64 in JSON stands for, without decoding it: escapes and padding stand for none. */
export async function decodedBytes(data: string | LongText): Promise<number> {
  let characters = 0
  for await (const chunk of chunksOf(data))
    for (const byte of chunk) if (byte !== BACKSLASH && byte !== PADDING) characters += 1
  return Math.floor((characters * 3) / 4)
}

const manifestTooLarge = () =>
  npmInvalid('Package json structure is too large. Maximum size is 20000 characters')

/** Throws what of a version will not do, in the published order. `name` is one already. */
export function checkVersion({ version, tag, manifest }: Sent): void {
  if (valid(version) !== version) throw npmInvalid('Version should follow SemVer: https://semver.org')
  if (tag.length > 255) throw npmInvalid('Name is too long (maximum is 255 characters)')
  if (storable(tag) !== tag) throw npmInvalid('Name is invalid')
  if (isManifestTooLarge(manifest)) throw manifestTooLarge()
}

/** The texts of the versions that a document calls deprecated, by version. Throws where one is as long as no manifest. */
export function deprecations(document: Tree): ReadonlyMap<string, string> {
  const versions = Object.entries(treeIn(document, 'versions'))
  return new Map(
    versions.flatMap(([version, manifest]) => {
      const text = isTree(manifest) ? manifest['deprecated'] : undefined
      if (typeof text !== 'string') return []
      if (text.length >= MAX_MANIFEST) throw manifestTooLarge()
      return [[storable(version), storable(text)] as const]
    }),
  )
}

export interface StoredTarball {
  readonly blob: Digests
  readonly manifest: Manifest
  /** Whether manifest and tarball agree: name, version and digests. */
  readonly isCoherent: boolean
}

/** Writes the tarball of a version to the blob store, and holds its `package.json` against the manifest. */
export async function storeTarball(
  { blobs }: Pick<Context, 'blobs'>,
  name: string,
  { version, manifest, data }: Sent,
  limit: number,
): Promise<StoredTarball> {
  const sha512 = createHash('sha512')
  const blob = await blobs.write(hashed(decoded(data), sha512), { limit })
  const dist: Dist = { shasum: blob.sha1, integrity: `sha512-${sha512.digest('base64')}` }
  const packed = await readPackageJson(await blobs.read(blob.sha256))
  const isSame = packed?.['name'] === name && valid(String(packed['version'])) === version
  return { blob, manifest: keptManifest(manifest, dist), isCoherent: isSame && agreesWith(manifest, dist) }
}

async function* hashed(
  bytes: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

/** Decodes base64 as it stands in JSON, where a slash may be escaped. Throws for anything else. */
async function* decoded(data: string | LongText): AsyncGenerator<Uint8Array> {
  let rest = ''
  for await (const chunk of chunksOf(data)) {
    const text = rest + Buffer.from(chunk).toString('latin1')
    const isCut = text.endsWith('\\')
    const plain = (isCut ? text.slice(0, -1) : text).replaceAll(String.raw`\/`, '/')
    const whole = plain.length - (plain.length % 4)
    yield fromBase64(plain.slice(0, whole))
    rest = plain.slice(whole) + (isCut ? '\\' : '')
  }
  if (rest !== '') throw notBase64()
}

const notBase64 = () => npmRefused('Attachment data is not Base64.')
function fromBase64(text: string): Buffer {
  if (!BASE64.test(text)) throw notBase64()
  return Buffer.from(text, 'base64')
}
