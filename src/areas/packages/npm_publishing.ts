import { mayDelete } from '../../access/gates/package_gates.ts'
import type { Project } from '../../core/places/projects.ts'
import { violates } from '../../db/errors.ts'
import type { Context } from '../../http/gate.ts'
import { badParams, forbidden } from '../../http/problems.ts'
import type { Upload } from '../../http/params/upload.ts'
import { isNpmName, npmScope } from '../../packages/names.ts'
import * as npm from '../../packages/npm_store.ts'
import { addFile, checkProtection, maxFileBytes, openVersion } from '../../packages/publish.ts'
import {
  checkVersion,
  decodedBytes,
  deprecations,
  sentVersion,
  storeTarball,
  type StoredTarball,
} from './npm_body.ts'
import { NPM_WORDS, alreadyExists, notGiven, npmInvalid, npmTooLarge } from './npm_refusals.ts'
import { refuse, storageNotice } from './refusals.ts'

type Publishing = Context & { readonly project: Project; readonly params: { readonly package_name: string } }

/** The body of `npm publish` or `npm deprecate`. */
export type NpmSent =
  | ({ readonly does: 'publish'; readonly version: string; readonly tag: string } & StoredTarball)
  | { readonly does: 'deprecate'; readonly texts: ReadonlyMap<string, string> }

/** Bytes that a document may have beside its tarball. */
const MAX_DOCUMENT = 32 * 1024 * 1024

export function checkNpmName(name: string): string {
  if (!isNpmName(name)) throw badParams(['package_name should be a valid file path'])
  return name
}

export const notDeprecated = () => notGiven('package versions to deprecate')
export const badName = () =>
  npmInvalid(
    'Name is invalid, Name should be a valid NPM package name: https://github.com/npm/validate-npm-package-name#naming-rules.',
  )
export const existsElsewhere = () => npmInvalid('Package already exists')

/** As published, deprecation takes the right to delete. */
export function checkDeprecates(ctx: Publishing): boolean {
  if (ctx.header('npm-command') !== 'deprecate') return false
  if (!mayDelete(ctx, ctx.project)) throw forbidden()
  return true
}

/** Reads the document of a package: its tarball goes through the disk into the blob store. */
export async function receiveNpm(ctx: Publishing, upload: Upload): Promise<NpmSent> {
  const { db, project, actor } = ctx
  const name = checkNpmName(ctx.params.package_name)
  const isDeprecation = checkDeprecates(ctx)
  const limit = await maxFileBytes(db, project, 'npm')
  const body = {
    apart: 'data',
    limit: Math.ceil((limit * 4) / 3) + MAX_DOCUMENT,
    tooLarge: () => npmTooLarge(limit),
  }
  const document = await upload.json(body)
  if (isDeprecation) {
    const texts = deprecations(document)
    if (texts.size === 0) throw notDeprecated()
    return { does: 'deprecate', texts }
  }
  const sent = sentVersion(document, name)
  const { version, tag } = sent
  if (await npm.exists(db, { project_id: project.id, name, version })) throw alreadyExists()
  await checkProtection(db, { project, actor, type: 'npm', name }).catch(refuse(NPM_WORDS))
  if ((await decodedBytes(sent.data)) > limit) throw npmTooLarge(limit)
  if (document['name'] !== name) throw badName()
  checkVersion(sent)
  const stored = await storeTarball(ctx, name, sent, limit).catch(refuse(NPM_WORDS))
  return { does: 'publish', version, tag, ...stored }
}

/** Writes the rows of a published version; answers the id of its package, and headers that its publisher is told by. */
export async function publishNpm(
  { db, project, actor, jobId, params: { package_name: name } }: Publishing,
  { version, tag, blob, manifest, isCoherent }: NpmSent & { does: 'publish' },
): Promise<{ readonly id: number; readonly headers: Record<string, string> }> {
  const [root = ''] = project.full_path.split('/')
  const publication = {
    project,
    actor,
    jobId,
    type: 'npm',
    name,
    version,
    metadata: manifest,
    status: isCoherent ? 'default' : 'error',
    uniqueBelow: npmScope(name) === root ? (project.traversal_ids[0] ?? null) : null,
  } as const
  const { pack, added } = await openVersion(db, publication, false)
    .then(async (pack) => {
      const file = { file_name: `${name}-${version}.tgz`, blob, isUnique: true }
      return { pack, added: await addFile(db, publication, pack, file) }
    })
    .catch((error: unknown) => {
      if (violates(error, 'packages_version_key')) throw alreadyExists()
      if (violates(error, 'packages_root_key')) throw existsElsewhere()
      return refuse(NPM_WORDS)(error)
    })
  if (isCoherent) await npm.setTag(db, { project_id: project.id, name, version, tag })
  return { id: pack.id, headers: storageNotice(added) }
}
