import { BlobTooLarge, type Digests } from '../../blobs/digests.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Context } from '../../http/gate.ts'
import { badParams } from '../../http/problems.ts'
import type { Tree } from '../../http/params/forms.ts'
import type { Upload } from '../../http/params/upload.ts'
import { checkProtection, maxFileBytes, type RegistryType } from '../../packages/publish.ts'

type Publishing = Context & { readonly project: Project }

interface Expected {
  readonly type: RegistryType
  readonly name: string
  /** The field that a form has the file in. */
  readonly field: string
}

/**
 * Writes the file of a request to the blob store: its body, or the field of its form. What can be refused without the
 * bytes is refused before they are read. Throws `PackageProtected` and `BlobTooLarge`.
 */
export async function receiveFile(
  ctx: Publishing,
  upload: Upload,
  { type, name, field }: Expected,
): Promise<Digests> {
  const { db, project, actor, blobs } = ctx
  const limit = await maxFileBytes(db, project, type)
  if (upload.type !== 'multipart/form-data') {
    if ((upload.declared ?? 0) > limit) throw new BlobTooLarge(limit)
    await checkProtection(db, { project, actor, type, name })
    return blobs.write(upload.bytes(), { limit })
  }
  await checkProtection(db, { project, actor, type, name })
  return (await receiveForm(ctx, upload, { field, limit })).file
}

export interface ReceivedForm {
  readonly file: Digests
  readonly file_name: string
  readonly fields: Tree
}

/** Writes the file of a form, and answers the other fields with it. */
export async function receiveForm(
  { blobs }: Pick<Context, 'blobs'>,
  upload: Upload,
  { field, limit }: { readonly field: string; readonly limit: number },
): Promise<ReceivedForm> {
  const found: { readonly file: Digests; readonly file_name: string }[] = []
  const fields = await upload.form(async ({ name, file_name, bytes }) => {
    if (name === field && found.length === 0)
      found.push({ file: await blobs.write(bytes, { limit }), file_name })
  })
  const [one] = found
  if (one === undefined) throw badParams([`${field} is missing`])
  return { ...one, fields }
}
