import { Type as t } from 'typebox'
import { developer } from '../../access/gates/gates.ts'
import { CHALLENGE, readsPackages, registryProject, withToken } from '../../access/gates/package_gates.ts'
import { bytes, type Download } from '../../http/answers/download.ts'
import { Answer, operation } from '../../http/operation.ts'
import { badParams, notFound, type Problem } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { addFile, openVersion } from '../../packages/publish.ts'
import * as packages from '../../packages/store.ts'
import { PackageFile, presentFile } from './entity.ts'
import { fileTooLarge, packageProtected, refuse, storageNotice, wordsOf } from './refusals.ts'
import { receiveFile } from './receiving.ts'
import { genericFileName, isGenericName, isGenericVersion } from './rules.ts'
import { serveFile } from './serving.ts'

const WORDS = wordsOf('generic')
const path = '/projects/:id/packages/generic/:package_name/:package_version/:file_name'
const address = {
  package_name: t.String(),
  package_version: t.String(),
  file_name: t.String({ description: 'The name of the file, or its path below folders' }),
}

interface Address {
  readonly package_name: string
  readonly package_version: string
  readonly file_name: string
}
/** The names as they are kept. Throws 400 for what can be none. */
function checkAddress({ package_name, package_version, file_name }: Address): Address {
  if (!isGenericName(package_name)) throw badParams(['package_name is invalid'])
  if (!isGenericVersion(package_version)) throw badParams(['package_version is invalid'])
  const name = genericFileName(file_name)
  if (name === 'traversal') throw badParams(['file_name should be a valid file path'])
  if (name === 'invalid') throw badParams(['file_name is invalid'])
  return { package_name, package_version, file_name: name.stored }
}

const Message = t.Object({ message: t.String() })

export const updateGenericPackageFile = operation({
  method: 'PUT',
  path,
  summary: 'Publish a file of a generic package',
  published: true,
  challenge: CHALLENGE,
  jobTokens: true,
  deployTokens: true,
  params: t.Object({
    ...address,
    status: t.Optional(oneOf(['default', 'hidden'])),
    select: t.Optional(oneOf(['package_file'])),
  }),
  gates: [withToken, registryProject, developer],
  receives: async (ctx, upload) => {
    const { package_name } = checkAddress(ctx.params)
    return receiveFile(ctx, upload, { type: 'generic', name: package_name, field: 'file' }).catch(
      refuse(WORDS),
    )
  },
  handle: async ({ db, project, actor, jobId, params, received }) => {
    const { package_name: name, package_version: version, file_name } = checkAddress(params)
    const { status = 'default' } = params
    const publication = { project, actor, jobId, type: 'generic', name, version, status } as const
    const added = await openVersion(db, publication, true)
      .then((pack) => addFile(db, publication, pack, { file_name, blob: received }))
      .catch(refuse(WORDS))
    return params.select === undefined
      ? new Answer(201, { message: '201 Created' }, storageNotice(added))
      : new Answer(200, presentFile(added.file), storageNotice(added))
  },
  returns: Message,
  status: 201,
  also: { 200: PackageFile },
  refuses: [fileTooLarge, packageProtected],
})

const noFile = (): Problem => notFound('Package')

export const getGenericPackageFile = operation({
  method: 'GET',
  path,
  summary: 'Download a file of a generic package',
  published: true,
  challenge: CHALLENGE,
  jobTokens: true,
  deployTokens: true,
  params: t.Object(address),
  gates: [registryProject, readsPackages],
  handle: async (ctx): Promise<Download> => {
    const { package_name: name, package_version: version, file_name } = checkAddress(ctx.params)
    const key = { project_id: ctx.project.id, package_type: 'generic', name, version, file_name } as const
    const file = await packages.findFile(ctx.db, key)
    if (file === undefined) throw noFile()
    return serveFile(ctx, file, { 'x-checksum-sha256': file.file_sha256 })
  },
  returns: bytes(),
  refuses: [noFile],
})
