import { Readable } from 'node:stream'
import { Type as t } from 'typebox'
import { anyone, developer, insideGroup } from '../../access/gates/gates.ts'
import {
  CHALLENGE,
  readsPackages,
  registryGroup,
  registryProject,
  withToken,
} from '../../access/gates/package_gates.ts'
import type { Project } from '../../core/places/projects.ts'
import type { PackageFile } from '../../db/schema/packages.ts'
import { Download, bytes } from '../../http/answers/download.ts'
import type { Context } from '../../http/gate.ts'
import { Answer, nothing, operation } from '../../http/operation.ts'
import { badParams, conflict, forbidden, notFound, unauthorized, type Problem } from '../../http/problems.ts'
import type { Upload } from '../../http/params/upload.ts'
import { checksumOf, readMavenPath, type MavenFile } from '../../packages/maven_path.ts'
import { addFile, openVersion } from '../../packages/publish.ts'
import * as packages from '../../packages/store.ts'
import { readerOf } from './group_scope.ts'
import * as maven from './maven_store.ts'
import { badRequest, fileTooLarge, packageProtected, refuse, storageNotice, wordsOf } from './refusals.ts'
import { receiveFile } from './receiving.ts'
import { serveFile } from './serving.ts'

const WORDS = wordsOf('maven')
const common = { published: true, challenge: CHALLENGE } as const
const path = t.String({ description: 'The path of the file in the repository, as Maven makes it' })
const noFile = (): Problem => notFound('Package')
const badPart = (part: string): Problem => badRequest(`Validation failed: ${part} is invalid`)

/** The file that a path names. Throws 400 for what can be none. */
function checkPath(path: string): MavenFile {
  const read = readMavenPath(path)
  if (read === 'path') throw badParams(['path should be a valid file path'])
  if (read === 'file_name') throw badParams(['file_name is invalid'])
  if (typeof read === 'string') throw badPart(read)
  return read
}

type InProject = Context & { readonly project: Project; readonly params: { readonly path: string } }
const findFile = ({ db, project }: InProject, file: MavenFile): Promise<PackageFile | undefined> =>
  packages.findFile(db, { project_id: project.id, package_type: 'maven', ...file })

const MAX_CHECKSUM = 1024

async function receiveMaven(ctx: InProject, upload: Upload) {
  const file = checkPath(ctx.params.path)
  if (checksumOf(file.file_name) === undefined)
    return receiveFile(ctx, upload, { type: 'maven', name: file.name, field: 'file' }).catch(refuse(WORDS))
  let text = ''
  for await (const chunk of upload.bytes())
    if (text.length < MAX_CHECKSUM) text += Buffer.from(chunk).toString('latin1')
  return text.trim().toLowerCase()
}

export const updateMavenPackageFile = operation({
  method: 'PUT',
  path: '/projects/:id/packages/maven/:path',
  summary: 'Publish a file of a Maven package, or compare its checksum',
  ...common,
  jobTokens: true,
  deployTokens: true,
  params: t.Object({ path }),
  gates: [withToken, registryProject, developer],
  receives: receiveMaven,
  handle: async (ctx) => {
    const { db, project, actor, jobId, params, received } = ctx
    const file = checkPath(params.path)
    if (typeof received === 'string') return compareChecksum(ctx, file, received)
    const { name, version, file_name } = file
    const publication = { project, actor, jobId, type: 'maven', name, version } as const
    const added = await openVersion(db, publication, true)
      .then((pack) => addFile(db, publication, pack, { file_name, blob: received }))
      .catch(refuse(WORDS))
    return new Answer(200, null, storageNotice(added))
  },
  returns: nothing,
  also: { 200: null },
  refuses: [fileTooLarge, packageProtected, badPart('Version'), noFile, conflict],
})

/** As published, an MD5 digest is taken unread, and a SHA-1 digest must be that of the stored file. */
async function compareChecksum(ctx: InProject, file: MavenFile, sent: string): Promise<Answer> {
  const { kind = 'md5', of = '' } = checksumOf(file.file_name) ?? {}
  if (kind === 'md5') return new Answer(200)
  const stored = await findFile(ctx, { ...file, file_name: of })
  if (stored === undefined) throw noFile()
  // Some clients write the name of the file behind the digest.
  if (stored.file_sha1 !== sent.split(/\s/, 1)[0]) throw conflict()
  return new Answer(204)
}

/** Sends the file that a path names, or a digest of it. */
async function send(
  ctx: Context & { readonly params: { readonly path: string } },
  find: (file: MavenFile) => Promise<PackageFile | undefined>,
  missing: () => Problem = noFile,
): Promise<Download> {
  const file = checkPath(ctx.params.path)
  const checksum = checksumOf(file.file_name)
  const found = await find({ ...file, file_name: checksum?.of ?? file.file_name })
  const digests = found && { md5: found.file_md5, sha1: found.file_sha1 }
  if (found === undefined || digests === undefined) throw missing()
  if (checksum === undefined)
    return serveFile(ctx, found, {
      'x-checksum-sha1': digests.sha1 ?? '',
      'x-checksum-md5': digests.md5 ?? '',
    })
  const text = Buffer.from(digests[checksum.kind] ?? '')
  return new Download({ 'content-type': 'text/plain' }, async () => Readable.from([text]), text.length)
}

export const getMavenPackageFile = operation({
  method: 'GET',
  path: '/projects/:id/packages/maven/:path',
  summary: 'Download a file of a Maven package, or its checksum',
  ...common,
  jobTokens: true,
  deployTokens: true,
  params: t.Object({ path }),
  gates: [registryProject, readsPackages],
  handle: (ctx) => send(ctx, (file) => findFile(ctx, file)),
  returns: bytes(),
  refuses: [noFile, badPart('Version')],
})

export const getGroupMavenPackageFile = operation({
  method: 'GET',
  path: '/groups/:id/-/packages/maven/:path',
  summary: 'Download a file of a Maven package of the projects of a group',
  ...common,
  deployTokens: true,
  params: t.Object({ path }),
  gates: [registryGroup, insideGroup],
  handle: (ctx) => send(ctx, (file) => maven.findInGroup(ctx.db, ctx.group, readerOf(ctx), file)),
  returns: bytes(),
  refuses: [noFile, badPart('Version')],
})

export const getInstanceMavenPackageFile = operation({
  method: 'GET',
  path: '/packages/maven/:path',
  summary: 'Download a file of a Maven package whose name is the path of its project',
  ...common,
  params: t.Object({ path }),
  gates: [anyone],
  handle: (ctx) =>
    send(
      ctx,
      (file) => maven.findInInstance(ctx.db, readerOf(ctx), file),
      // As published, what is not there is forbidden here; a caller without a token is asked for one.
      () => (ctx.actor === null ? unauthorized() : forbidden()),
    ),
  returns: bytes(),
  refuses: [forbidden, unauthorized, badPart('Version')],
})
