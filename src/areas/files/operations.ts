import { Readable } from 'node:stream'
import { Type as t, type Static } from 'typebox'
import { code } from '../../access/gates/code_gates.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Repository } from '../../git/repository.ts'
import { Download, bytes } from '../../http/answers/download.ts'
import { Answer, operation } from '../../http/operation.ts'
import { tooLarge, type Problem } from '../../http/problems.ts'
import { filled } from '../../http/params/schema.ts'
import { File, headersOf, type FileFacts } from './entity.ts'
import { badPath, commitAtRef, file, type Opened } from './gates.ts'
import { dispositionOf, mediaTypeOf } from './rules.ts'

export { createFile, deleteFile, updateFile } from './write_operations.ts'

const MB = 1024 * 1024
/** Base64 holds the content in memory more than once; larger files are served raw. */
const MAX_ENCODED_BYTES = 10 * MB
/** Bytes held in memory once. */
const HELD = MB

const tooLong = (): Problem => tooLarge(`The file is larger than ${MAX_ENCODED_BYTES} bytes: get it raw`)

interface Place {
  readonly repository: Repository
  readonly commit: Commit
  readonly file: Opened
}

async function factsOf({ repository, commit, file }: Place, ref: string): Promise<Static<typeof FileFacts>> {
  const { entry, blob } = file
  const [last, content_sha256] = await Promise.all([
    repository.log({ from: [commit.id], path: entry.path, skip: 0, limit: 1 }),
    repository.digestBlob(blob),
  ])
  return {
    file_name: entry.name,
    file_path: entry.path,
    size: blob.size,
    encoding: 'base64',
    content_sha256,
    ref,
    blob_id: blob.id,
    commit_id: commit.id,
    last_commit_id: last[0] ?? commit.id,
    execute_filemode: entry.mode === '100755',
  }
}

export const getFile = operation({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Get a file with its content; HEAD has its metadata in headers',
  published: true,
  scopes: ['read_repository'],
  first: code,
  params: t.Object({ ref: filled() }),
  gates: [commitAtRef, file],
  handle: async (ctx) => {
    const facts = await factsOf(ctx, ctx.params.ref)
    const { blob } = ctx.file
    // Of what is too long for an answer its size is told all the same.
    if (blob.size > MAX_ENCODED_BYTES && ctx.method === 'HEAD')
      return new Answer(200, { ...facts, content: '' }, headersOf(facts))
    if (blob.size > MAX_ENCODED_BYTES) throw tooLong()
    const content = (await blob.read(MAX_ENCODED_BYTES)).toString('base64')
    return new Answer(200, { ...facts, content }, headersOf(facts))
  },
  returns: File,
  refuses: [badPath, tooLong],
})

export const getRawFile = operation({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path/raw',
  summary: 'Get a raw file',
  published: true,
  scopes: ['read_repository'],
  first: code,
  params: t.Object({ ref: t.Optional(t.String({ description: 'HEAD when absent' })) }),
  gates: [commitAtRef, file],
  handle: async (ctx) => {
    const { repository, file, params } = ctx
    const { blob, entry } = file
    const facts = await factsOf(ctx, params.ref || 'HEAD')
    const small = blob.size <= HELD ? await blob.read(HELD) : undefined
    const headers = {
      ...headersOf(facts),
      'content-type': small ? mediaTypeOf(small) : 'application/octet-stream',
      'content-length': String(blob.size),
      'content-disposition': dispositionOf(entry.name),
      etag: `W/"${blob.id}"`,
    }
    return new Download(headers, async () =>
      small ? Readable.from([small]) : repository.streamBlob(blob.id),
    )
  },
  returns: bytes(),
  refuses: [badPath],
})
