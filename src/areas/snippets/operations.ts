import { Readable } from 'node:stream'
import { Type as t } from 'typebox'
import { anyone, project, reporter, signedIn } from '../../access/gates/gates.ts'
import { snippet } from '../../access/gates/noteable_gates.ts'
import { titleFaults } from '../../core/values/titles.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import { Download, bytes } from '../../http/answers/download.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid, notFound, refused, type Problem } from '../../http/problems.ts'
import { nullable, oneOf } from '../../http/params/schema.ts'
import { Snippet, VERSION, present } from './entity.ts'
import { changesSnippet, readsSnippets } from './gates.ts'
import { FileFault, applyFiles, type FileAction } from './rules.ts'
import {
  filesOf,
  insertSnippet,
  listSnippetsOf,
  lockSnippet,
  removeSnippet,
  showSnippet,
  updateSnippetRow,
  writeFiles,
  type SnippetFile,
} from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export const listSnippets = operation({
  method: 'GET',
  path: '/projects/:id/snippets',
  summary: 'List the snippets of a project, newest first',
  published: true,
  gates: [project, readsSnippets],
  handle: async (ctx) => {
    const found = await listSnippetsOf(ctx.db, ctx.actor, ctx.project, ctx.page)
    return presentPage(found, (row) => present(row, ctx))
  },
  returns: pageOf(Snippet),
})

export const getSnippet = operation({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Get a snippet',
  published: true,
  gates: [project, anyone, snippet],
  handle: async (ctx) => present(await showSnippet(ctx.db, ctx.snippet.id), ctx),
  returns: Snippet,
})

const content = t.String({ maxLength: 1_000_000 })
const fields = {
  description: t.Optional(nullable(t.String({ maxLength: 1_000_000 }))),
  visibility: t.Optional(oneOf(VISIBILITIES)),
}

const checkTitle = (title: string | undefined): void => {
  const faults = title === undefined ? [] : titleFaults(title)
  if (faults.length > 0) throw invalid({ title: faults })
}

/** The files after these actions, or the published refusal. */
function filesAfter(before: readonly SnippetFile[], actions: readonly FileAction[]): SnippetFile[] {
  try {
    return applyFiles(before, actions)
  } catch (error) {
    throw error instanceof FileFault ? refused(error.message) : error
  }
}

export const createSnippet = operation({
  method: 'POST',
  path: '/projects/:id/snippets',
  summary: 'Create a snippet',
  published: true,
  params: t.Object(
    {
      title: t.String(),
      file_name: t.Optional(t.String()),
      content: t.Optional(t.String({ minLength: 1, maxLength: 1_000_000 })),
      files: t.Optional(t.Array(t.Object({ file_path: t.String(), content }), { minItems: 1 })),
      ...fields,
    },
    { exactlyOne: ['files', 'content'] },
  ),
  gates: [project, signedIn, readsSnippets, reporter],
  handle: async (ctx) => {
    const { db, actor, project, params } = ctx
    checkTitle(params.title)
    const given = params.files ?? [{ file_path: params.file_name, content: params.content }]
    const files = filesAfter(
      [],
      given.map((file) => ({ action: 'create' as const, ...file })),
    )
    const row = await insertSnippet(db, {
      project_id: project.id,
      author_id: actor.id,
      title: params.title,
      description: params.description ?? null,
      visibility: params.visibility ?? 'private',
    })
    await writeFiles(db, row.id, files)
    return present(await showSnippet(db, row.id), ctx)
  },
  returns: Snippet,
  refuses: [invalid({ title: ["can't be blank"] }), refused('Invalid file path')],
})

const Change = t.Object({
  action: oneOf(['create', 'update', 'delete', 'move']),
  file_path: t.Optional(t.String()),
  previous_path: t.Optional(t.String()),
  content: t.Optional(content),
})
const notAlone = (): Problem =>
  refused('To update Snippets with multiple files, you must use the `files` parameter')

export const updateSnippet = operation({
  method: 'PUT',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Change a snippet',
  published: true,
  params: t.Object(
    {
      title: t.Optional(t.String()),
      file_name: t.Optional(t.String()),
      content: t.Optional(t.String({ minLength: 1, maxLength: 1_000_000 })),
      files: t.Optional(t.Array(Change, { minItems: 1 })),
      ...fields,
    },
    { atLeastOne: ['title', 'description', 'visibility', 'file_name', 'content', 'files'] },
  ),
  gates: [project, signedIn, snippet, changesSnippet],
  handle: async (ctx) => {
    const { db, project, snippet, params } = ctx
    checkTitle(params.title)
    const now = (await lockSnippet(db, snippet.id)) ?? snippet
    const before = await filesOf(db, now.id)
    const [only] = before
    const alone = params.content !== undefined || params.file_name !== undefined
    if (alone && (only === undefined || before.length > 1)) throw notAlone()
    const actions: readonly FileAction[] = alone
      ? [
          {
            action: 'move',
            previous_path: only?.path,
            file_path: params.file_name || only?.path,
            content: params.content,
          },
        ]
      : (params.files ?? [])
    if (actions.length > 0) await writeFiles(db, now.id, filesAfter(before, actions))
    await updateSnippetRow(db, {
      project_id: project.id,
      id: now.id,
      title: params.title ?? now.title,
      description: params.description === undefined ? now.description : params.description,
      visibility: params.visibility ?? now.visibility,
    })
    return present(await showSnippet(db, now.id), ctx)
  },
  returns: Snippet,
  refuses: [invalid({ title: ["can't be blank"] }), refused('Invalid file path'), notAlone],
})

export const deleteSnippet = operation({
  method: 'DELETE',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Delete a snippet',
  published: true,
  gates: [project, signedIn, snippet, changesSnippet],
  handle: async ({ db, project, snippet }) => {
    await removeSnippet(db, project.id, snippet.id)
    return null
  },
  returns: nothing,
})

const noFile = (): Problem => notFound('File')

function raw(file: SnippetFile | undefined): Download {
  if (file === undefined) throw noFile()
  const text = Buffer.from(file.content)
  return new Download(
    {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment',
      'content-length': String(text.length),
    },
    async () => Readable.from([text]),
  )
}

export const getRawSnippet = operation({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/raw',
  summary: 'Get the raw content of the first file of a snippet',
  published: true,
  gates: [project, anyone, snippet],
  handle: async ({ db, snippet }) => raw((await filesOf(db, snippet.id))[0]),
  returns: bytes(),
  refuses: [noFile],
})

export const getRawSnippetFile = operation({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/files/:ref/:file_path/raw',
  summary: 'Get the raw content of a file of a snippet',
  published: true,
  params: t.Object({
    ref: t.String({ description: `\`${VERSION}\`: a snippet has one version` }),
    file_path: t.String(),
  }),
  gates: [project, anyone, snippet],
  handle: async ({ db, snippet, params }) => {
    const isVersion = [VERSION, 'master', 'HEAD'].includes(params.ref)
    const files = isVersion ? await filesOf(db, snippet.id) : []
    return raw(files.find(({ path }) => path === params.file_path))
  },
  returns: bytes(),
  refuses: [noFile],
})
