import type { Project } from '../../core/places/projects.ts'
import { violates } from '../../db/errors.ts'
import type { Context } from '../../http/gate.ts'
import type { Tree } from '../../http/params/forms.ts'
import { badParams, type Problem } from '../../http/problems.ts'
import type { Upload } from '../../http/params/upload.ts'
import {
  addFile,
  type AddedFile,
  checkProtection,
  maxFileBytes,
  openVersion,
} from '../../packages/publish.ts'
import { isPypiFileName, isPypiName, isPypiVersion, knownSpelling } from '../../packages/pypi.ts'
import { receiveForm, type ReceivedForm } from './receiving.ts'
import { badRequest, refuse, wordsOf } from './refusals.ts'

const WORDS = wordsOf('pypi')
type Publishing = Context & { readonly project: Project }

/** Characters that are kept of each field; a longer one is cut, as published. */
const MAX_CHARACTERS = {
  requires_python: 255,
  keywords: 1024,
  metadata_version: 16,
  author_email: 2048,
  summary: 255,
  description: 4000,
  description_content_type: 128,
} as const

const textIn = (fields: Tree, name: string): string => {
  const value = [fields[name]].flat().at(-1)
  return typeof value === 'string' ? value : ''
}

export const badPypi = (fault: string): Problem => badRequest(`Validation failed: ${fault}`)
export const fileTaken = (): Problem => badPypi('File name has already been taken')

export interface PypiUpload extends ReceivedForm {
  readonly name: string
  readonly version: string
}

/** Reads the form that `twine upload` sends. */
export async function receivePypi(ctx: Publishing, upload: Upload): Promise<PypiUpload> {
  const { db, project, actor } = ctx
  const limit = await maxFileBytes(db, project, 'pypi')
  const form = await receiveForm(ctx, upload, { field: 'content', limit }).catch(refuse(WORDS))
  const { fields, file, file_name } = form
  const [name, version] = [textIn(fields, 'name'), textIn(fields, 'version')]
  const missing = Object.entries({ name, version }).filter(([, value]) => value === '')
  if (missing.length > 0) throw badParams(missing.map(([field]) => `${field} is missing`))
  const sha256 = textIn(fields, 'sha256_digest').toLowerCase()
  if (sha256 !== '' && !/^[0-9a-f]{64}$/.test(sha256)) throw badParams(['sha256_digest is invalid'])
  await checkProtection(db, { project, actor, type: 'pypi', name }).catch(refuse(WORDS))
  if (!isPypiName(name)) throw badPypi('Name is invalid')
  if (!isPypiVersion(version)) throw badPypi('Version is invalid')
  if (!isPypiFileName(file_name)) throw badPypi('File name is invalid')
  if (sha256 !== '' && sha256 !== file.sha256) throw badPypi('Sha256 digest is not that of the file')
  return { ...form, name, version }
}

/** Writes the rows of an uploaded file. */
export async function publishPypi(
  { db, project, actor, jobId }: Publishing,
  sent: PypiUpload,
): Promise<AddedFile> {
  const { version, file: blob, file_name, fields } = sent
  const metadata = Object.fromEntries(
    Object.entries(MAX_CHARACTERS).map(([field, most]) => [field, textIn(fields, field).slice(0, most)]),
  )
  const name = await knownSpelling(db, project, sent.name)
  const publication = { project, actor, jobId, type: 'pypi', name, version, metadata } as const
  const { requires_python = '' } = metadata
  return openVersion(db, publication, true)
    .then((pack) =>
      addFile(db, publication, pack, { file_name, blob, isUnique: true, metadata: { requires_python } }),
    )
    .catch((error: unknown) => {
      throw violates(error, 'package_files_name_key') ? fileTaken() : error
    })
    .catch(refuse(WORDS))
}
