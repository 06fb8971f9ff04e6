import type { PackageFile } from '../../db/schema/packages.ts'
import { Download } from '../../http/answers/download.ts'
import type { Context } from '../../http/gate.ts'
import * as packages from '../../packages/store.ts'

/** The bytes of a package file, under the name that its client asked for. */
export async function serveFile(
  { db, blobs, method }: Context,
  file: PackageFile,
  headers: Readonly<Record<string, string>> = {},
): Promise<Download> {
  if (method === 'GET') await packages.markDownloaded(db, file.package_id)
  const name = file.file_name.split(/%2F|\//).at(-1) ?? ''
  return new Download(
    {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${name.replaceAll(/[^ -~]|["\\]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`,
      etag: `"${file.file_sha256}"`,
      ...headers,
    },
    (range) => blobs.read(file.file_sha256, range),
    file.size,
  )
}
