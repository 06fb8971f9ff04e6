import { Type as t } from 'typebox'
import { MAX_MESSAGE_BYTES } from '../../git/objects/commit.ts'
import { code, filledRepository, signedInHere } from '../../access/gates/code_gates.ts'
import { committed, pushes } from '../../access/gates/push_gates.ts'
import { commitChanges } from '../../core/pushes/commit_writing.ts'
import type { Change } from '../../git/objects/changes.ts'
import { treePath } from '../../git/names.ts'
import { fileContent } from '../../http/params/file_content.ts'
import type { LongText } from '../../http/params/long_text.ts'
import { nothing, operation } from '../../http/operation.ts'
import { badParams, refused } from '../../http/problems.ts'
import { fileText, filled, oneOf } from '../../http/params/schema.ts'
import { Written } from './entity.ts'
import { badPath } from './gates.ts'

const MB = 1024 * 1024
const first = [...code, signedInHere] as const

const personal = (description: string): ReturnType<typeof t.String> =>
  t.String({ pattern: '^[^<>\\r\\n]*$', maxLength: 1_000, description })

const around = {
  file_path: t.String({ description: 'The URL-encoded full path of the file' }),
  branch: filled(),
  commit_message: t.Unsafe<string>({ type: 'string', minLength: 1, maxBytes: MAX_MESSAGE_BYTES }),
  start_branch: t.Optional(t.String({ description: 'The branch that a new one starts from' })),
  author_email: t.Optional(personal('Default is the address of the caller')),
  author_name: t.Optional(personal('Default is the name of the caller')),
}
const content = {
  // Absent is a fault, and null an empty file.
  content: fileText(),
  encoding: oneOf(['text', 'base64'], { default: 'text' }),
  execute_filemode: t.Optional(t.Boolean()),
}
const last = {
  last_commit_id: t.Optional(
    t.String({ description: 'The last commit of the file that the caller knows of' }),
  ),
}

interface Sent {
  readonly file_path: string
  readonly branch: string
  readonly commit_message: string
  readonly start_branch?: string
  readonly author_email?: string
  readonly author_name?: string
  readonly last_commit_id?: string
}

/** The commit that a request asks for. Throws the Problem of a path that cannot be one. */
function planOf(
  sent: Sent,
  changes: (path: string) => readonly Change[],
): Parameters<typeof commitChanges>[1] {
  const path = treePath(sent.file_path)
  if (path === undefined) throw badPath()
  return {
    branch: sent.branch,
    startBranch: sent.start_branch || undefined,
    message: sent.commit_message,
    author: { name: sent.author_name ?? '', email: sent.author_email ?? '' },
    changes: changes(path),
    known: sent.last_commit_id ? [{ path, commit: sent.last_commit_id }] : [],
  }
}

async function bytesOf(sent: { content: string | LongText | null; encoding?: string }): Promise<Buffer> {
  const bytes = await fileContent(sent.content, sent.encoding)
  if (bytes === undefined) throw badParams(['content is invalid'])
  return bytes
}

export const createFile = operation({
  method: 'POST',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Create a file with a commit',
  published: true,
  takes: 300 * MB,
  moves: 'refs',
  first,
  params: t.Object({ ...around, ...content }),
  gates: [pushes, filledRepository],
  handle: async (ctx) => {
    const { params } = ctx
    const bytes = await bytesOf(params)
    const plan = planOf(params, (path) => [
      { action: 'create', path, content: bytes, executable: params.execute_filemode ?? false },
    ])
    await committed(commitChanges(ctx, plan))
    return { file_path: plan.changes[0]?.path ?? '', branch: params.branch }
  },
  returns: Written,
  refuses: [badPath, refused('A file with this name already exists')],
})

export const updateFile = operation({
  method: 'PUT',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Update a file with a commit',
  published: true,
  takes: 300 * MB,
  moves: 'refs',
  reads: { ref: 'branch' },
  first,
  params: t.Object({ ...around, ...content, ...last }),
  gates: [pushes, filledRepository],
  handle: async (ctx) => {
    const { params } = ctx
    const bytes = await bytesOf(params)
    const executable = params.execute_filemode
    const plan = planOf(params, (path) => [
      { action: 'update', path, content: bytes },
      ...(executable === undefined ? [] : [{ action: 'chmod', path, executable } as const]),
    ])
    await committed(commitChanges(ctx, plan))
    return { file_path: plan.changes[0]?.path ?? '', branch: params.branch }
  },
  returns: Written,
  refuses: [badPath, refused("A file with this name doesn't exist")],
})

export const deleteFile = operation({
  method: 'DELETE',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Delete a file with a commit',
  published: true,
  moves: 'refs',
  reads: { ref: 'branch' },
  first,
  params: t.Object({ ...around, ...last }),
  gates: [pushes, filledRepository],
  handle: async (ctx) => {
    await committed(
      commitChanges(
        ctx,
        planOf(ctx.params, (path) => [{ action: 'delete', path }]),
      ),
    )
    return null
  },
  returns: nothing,
  refuses: [badPath, refused("A file with this name doesn't exist")],
})
