import { Type as t } from 'typebox'
import { code } from '../../access/gates/code_gates.ts'
import type { Project } from '../../db/schema/tables.ts'
import { isGitError } from '../../git/errors.ts'
import type { Repository } from '../../git/repository.ts'
import { Download, bytes } from '../../http/answers/download.ts'
import { operation } from '../../http/operation.ts'
import { notFound, type Problem } from '../../http/problems.ts'
import { keysOf, oneOf } from '../../http/params/schema.ts'

/** Archive formats of git by their published names. */
const FORMATS = {
  'tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  tar: 'tar',
  zip: 'zip',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
} as const
const NAMES = keysOf(FORMATS)

const noFile = (): Problem => notFound('File')

const wanted = {
  sha: t.Optional(t.String({ description: 'A branch, a tag or a hash; the default branch when absent' })),
  path: t.Optional(t.String({ description: 'Only what is below this directory' })),
}

interface Wanted {
  readonly format: (typeof NAMES)[number]
  readonly sha?: string
  readonly path?: string
}

async function archiveOf(
  { repository, project }: { readonly repository: Repository; readonly project: Project },
  { format, sha: given, path = '' }: Wanted,
): Promise<Download> {
  const rev = given || project.default_branch || 'HEAD'
  const sha = await repository.resolve(rev === project.default_branch ? `refs/heads/${rev}` : rev)
  const commit = sha === undefined ? undefined : await repository.commit(sha)
  const entry = path === '' ? undefined : commit && (await repository.entry(commit.tree, path))
  if (commit === undefined || (path !== '' && entry === undefined)) throw noFile()
  const parts = [project.path, rev, commit.id, ...(entry ? [entry.path] : [])]
  const name = parts.map((part) => part.replaceAll(/[^\w.-]+/g, '-')).join('-')
  const archive = { commit: commit.id, path: entry?.path, prefix: `${name}/`, format: FORMATS[format] }
  return new Download(
    {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${name}.${format}"`,
    },
    () =>
      repository.streamArchive(archive).catch((error: unknown) => {
        throw isGitError(error, 'refused') ? noFile() : error
      }),
  )
}

export const getArchive = operation({
  method: 'GET',
  path: '/projects/:id/repository/archive.:format',
  summary: 'Get an archive of the repository or of one directory',
  published: true,
  first: code,
  params: t.Object({ format: oneOf(NAMES), ...wanted }),
  gates: [],
  handle: async (ctx) => archiveOf(ctx, ctx.params),
  returns: bytes(),
  refuses: [noFile],
})

export const getUnnamedArchive = operation({
  method: 'GET',
  path: '/projects/:id/repository/archive',
  summary: 'Get a `tar.gz` archive of the repository or of one directory',
  published: true,
  first: code,
  params: t.Object(wanted),
  gates: [],
  handle: async (ctx) => archiveOf(ctx, { ...ctx.params, format: 'tar.gz' }),
  returns: bytes(),
  refuses: [noFile],
})
