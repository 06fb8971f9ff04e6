import { Type as t } from 'typebox'
import { code } from '../../access/gates/code_gates.ts'
import type { Repository } from '../../git/repository.ts'
import { Download, bytes } from '../../http/answers/download.ts'
import { loads, type Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { notFound, tooLarge, type Problem } from '../../http/problems.ts'

const blob = loads({
  param: 'sha',
  type: t.String({ description: 'The full hash of a file' }),
  as: 'blob',
  says: 'a file by its hash',
  missing: () => notFound('Blob'),
  find: ({ repository }: Has<{ repository: Repository }>, sha) => repository.blob(sha),
})

/** Base64 holds the content in memory more than once. */
const MAX_ENCODED_BYTES = 10 * 1024 * 1024
const tooLong = (): Problem => tooLarge(`The file is larger than ${MAX_ENCODED_BYTES} bytes: get it raw`)

export const getBlob = operation({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha',
  summary: 'Get a blob by its hash',
  published: true,
  first: code,
  gates: [blob],
  handle: async ({ blob }) => {
    if (blob.size > MAX_ENCODED_BYTES) throw tooLong()
    const content = (await blob.read(MAX_ENCODED_BYTES)).toString('base64')
    return { size: blob.size, encoding: 'base64', content, sha: blob.id }
  },
  returns: t.Object({ size: t.Integer(), encoding: t.String(), content: t.String(), sha: t.String() }),
  refuses: [tooLong],
})

export const getRawBlob = operation({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha/raw',
  summary: 'Get a raw blob by its hash',
  published: true,
  first: code,
  gates: [blob],
  handle: async ({ repository, blob }) =>
    new Download(
      {
        'content-type': 'application/octet-stream',
        'content-length': String(blob.size),
        'content-disposition': 'attachment',
        etag: `W/"${blob.id}"`,
      },
      () => repository.streamBlob(blob.id),
    ),
  returns: bytes(),
})
