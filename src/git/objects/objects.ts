import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import type { ObjectAnswer, ObjectQuestion } from '../processes/cat_file.ts'
import { parseSignature, type GitDate, type Signature } from './commit.ts'
import { GitError } from '../errors.ts'
import { isRefName, isSha } from '../names.ts'
import type { Pool } from '../processes/pool.ts'

/** A commit to be written. The message is stored as it is given. */
export interface NewCommit {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/** An annotated tag to be written; `name` is that of the ref without `refs/tags/`. */
export interface NewTag {
  readonly object: string
  readonly name: string
  readonly tagger: Signature
  readonly message: string
}

/** An annotated tag as it is stored. `tagger` is missing in some very old ones; `message` is whole. */
export interface Tag {
  readonly id: string
  readonly object: string
  readonly type: ObjectType
  readonly name: string
  readonly tagger: Signature | undefined
  readonly message: string
}

/** The four kinds of objects. */
export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

/** An object that may not be stored yet. */
export interface NewObject {
  readonly id: string
  readonly type: ObjectType
  readonly body: Buffer
}

const sliceBytes = 1024 * 1024
/** Up to here compressing at once is cheaper than handing over to another thread. */
const smallBytes = 16 * 1024
const compressAside = promisify(deflate)
const compression = { level: 1 }
/** A window that holds all of it packs it as well, and takes a tenth of the memory. */
const littleBytes = 4_096
const littleCompression = { level: 1, windowBits: 12, memLevel: 4 }
const latestSeconds = 2 ** 40

/** Names `body` by its hash; large ones a slice at a time, so that nobody waits for it. */
export async function makeObject(type: ObjectType, body: Buffer): Promise<NewObject> {
  const hash = createHash('sha1').update(`${type} ${body.length}\0`)
  for (let at = 0; at < body.length; at += sliceBytes) {
    if (at > 0) await turn()
    hash.update(body.subarray(at, at + sliceBytes))
  }
  return { id: hash.digest('hex'), type, body }
}

/** Compresses bytes of an object of `type` as git stores them. */
export async function compress(bytes: Buffer, type: ObjectType): Promise<Buffer> {
  if (bytes.length > smallBytes) return compressAside(bytes, compression)
  // Trees are hashes for the most part, and become differences to each other when maintenance packs them.
  if (type === 'tree') return uncompressed(bytes)
  const little = bytes.length <= littleBytes ? littleCompression : compression
  return deflateSync(bytes, { ...little, chunkSize: bytes.length + 64 })
}

/** At most 65,535 bytes as a zlib stream that holds them as they are: one block, and their Adler-32. */
function uncompressed(bytes: Buffer): Buffer {
  const stream = Buffer.allocUnsafe(bytes.length + 11)
  stream.writeUIntBE(0x780101, 0, 3)
  stream.writeUInt16LE(bytes.length, 3)
  stream.writeUInt16LE(bytes.length ^ 0xffff, 5)
  bytes.copy(stream, 7)
  let [low, high] = [1, 0]
  for (let at = 0; at < bytes.length; at += 1) {
    low += bytes[at] ?? 0
    high += low
    if (at % 2_048 === 0) [low, high] = [low % 65_521, high % 65_521]
  }
  stream.writeUInt32BE((high % 65_521) * 65_536 + (low % 65_521), bytes.length + 7)
  return stream
}

/** The object of a commit. Throws TypeError for hashes that are none, GitError `refused` for texts it cannot hold. */
export function commitObject(commit: NewCommit): Promise<NewObject> {
  const { tree, parents, author, committer, message } = commit
  if (![tree, ...parents].every(isSha)) throw new TypeError('A commit names full hashes')
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${signatureText(author)}`,
    `committer ${signatureText(committer)}`,
    '',
    messageText(message),
  ]
  return makeObject('commit', Buffer.from(lines.join('\n')))
}

/** The object of an annotated tag of an object of `type`. Throws like commitObject, TypeError also for the name. */
export function tagObject(tag: NewTag, type: ObjectType): Promise<NewObject> {
  if (!isSha(tag.object) || !isRefName(tag.name)) throw new TypeError('A tag names a full hash and a tag')
  const lines = [
    `object ${tag.object}`,
    `type ${type}`,
    `tag ${tag.name}`,
    `tagger ${signatureText(tag.tagger)}`,
    '',
    messageText(tag.message),
  ]
  return makeObject('tag', Buffer.from(lines.join('\n')))
}

/** True for text that may stand as a name or address in a commit: no `<`, `>`, control characters, or broken Unicode. */
export function isSignatureText(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return !/[<>\u0000-\u001f\u007f]/.test(text) && text.isWellFormed()
}

/** `text` without what a name or address in a commit cannot hold, nor the marks that git drops at either end. */
export function cleanSignatureText(text: string): string {
  // eslint-disable-next-line no-control-regex
  const inner = text.toWellFormed().replaceAll(/[<>\u0000-\u001f\u007f]/g, '')
  return inner.replace(/^[\s,:;"\\']+/, '').replace(/[\s,:;"\\']+$/, '')
}

function signatureText({ name, email, date }: Signature): string {
  if (!isSignatureText(name) || !isSignatureText(email)) {
    throw new GitError('refused', 'A name or address holds what no commit can')
  }
  return `${name} <${email}> ${dateText(date)}`
}

function dateText({ seconds, offset }: GitDate): string {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds >= latestSeconds) {
    throw new GitError('refused', 'A commit is made between 1970 and the year 36812')
  }
  if (!/^[+-]\d{4}$/.test(offset)) throw new TypeError('An offset is +hhmm or -hhmm')
  return `${seconds} ${offset}`
}

function messageText(message: string): string {
  if (message.includes('\0')) throw new GitError('refused', 'A message holds no NUL')
  return message.toWellFormed()
}

/** Throws GitError `gone` unless git can have answered `type` for an object. */
export function readType(type: string): ObjectType {
  if (type === 'commit' || type === 'tree' || type === 'blob' || type === 'tag') return type
  throw new GitError('gone', 'git named a type of object that there is not')
}

/** The annotated tag with this full hash; undefined when there is none. */
export async function findTag(
  objects: Pool<ObjectQuestion, ObjectAnswer | undefined>,
  gitDirectory: string,
  id: string,
): Promise<Tag | undefined> {
  if (!isSha(id)) return undefined
  const answer = await objects.ask(gitDirectory, { command: 'contents', object: id })
  return answer?.type === 'tag' ? parseTag(id, answer.bytes) : undefined
}

function parseTag(id: string, bytes: Buffer): Tag {
  const blank = bytes.indexOf('\n\n')
  const head = bytes.toString('utf8', 0, blank === -1 ? bytes.length : blank)
  const field = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(head)?.[1] ?? ''
  const tagger = field('tagger')
  return {
    id,
    object: field('object'),
    type: readType(field('type')),
    name: field('tag'),
    tagger: tagger === '' ? undefined : parseSignature(tagger),
    message: blank === -1 ? '' : bytes.toString('utf8', blank + 2),
  }
}
