import { Type as t } from 'typebox'
import { BlobTooLarge, type Digests } from '../../blobs/digests.ts'
import { developer, project, projectOrForbidden, signedIn } from '../../access/gates/gates.ts'
import { bytes, Download } from '../../http/answers/download.ts'
import type { Context } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { badParams, noSuchRecord, refused, unprocessable, type Problem } from '../../http/problems.ts'
import type { Upload } from '../../http/params/upload.ts'
import { AlertMetricImage, FOLDER, fields, present } from './entity.ts'
import { alert, metricImage, readsImages, seenImage } from './gates.ts'
import { MAX_BYTES, imageType, linkFault, storedName, type Link } from './rules.ts'
import * as images from './store.ts'

const path = '/projects/:id/alert_management_alerts/:alert_iid/metric_images'

export const listAlertMetricImages = operation({
  method: 'GET',
  path,
  summary: 'List the metric images of an alert',
  published: true,
  first: [signedIn],
  gates: [project, readsImages, alert],
  handle: async ({ db, alert, page }) => presentPage(await images.list(db, alert.id, page), present),
  returns: pageOf(AlertMetricImage),
})

const tooLarge = (): Problem => refused('400 Bad request - File is too large')
const EXTENSIONS = 'png, jpg, jpeg, gif, bmp, tiff, ico, and webp'
const noImage = (): Problem =>
  refused(`File does not have a supported extension. Only ${EXTENSIONS} are supported`)

/** An empty text takes away what stands there. */
const linkOf = ({ url, url_text }: Link): Link => ({
  ...(url !== undefined && { url: url === '' ? null : url }),
  ...(url_text !== undefined && { url_text: url_text === '' ? null : url_text }),
})

interface Received extends Link {
  readonly filename: string
  readonly blob: Digests
}

/** Writes the image of a form to the blob store, unless its name is that of no image. */
async function receive({ blobs }: Pick<Context, 'blobs'>, upload: Upload): Promise<Received> {
  if (upload.type !== 'multipart/form-data') {
    // Refuses encodings, as a form does.
    upload.bytes()
    throw badParams(['file is missing'])
  }
  // The other parts of the form are short: a body that cannot fit is refused unread.
  if ((upload.declared ?? 0) > 2 * MAX_BYTES) throw tooLarge()
  const found: Omit<Received, 'url'>[] = []
  const sent = await upload.form(async ({ name, file_name, bytes }) => {
    if (name !== 'file' || found.length > 0) return
    const filename = storedName(file_name)
    if (imageType(filename) === undefined) throw noImage()
    found.push({ filename, blob: await blobs.write(bytes, { limit: MAX_BYTES }) })
  })
  const [file] = found
  if (file === undefined) throw badParams(['file is missing'])
  const texts = (['url', 'url_text'] as const).flatMap((name) => {
    const value = sent[name]
    if (value === undefined) return []
    if (typeof value !== 'string') throw badParams([`${name} is invalid`])
    return [[name, value]]
  })
  return { ...file, ...(Object.fromEntries(texts) as Link) }
}

export const createAlertMetricImage = operation({
  method: 'POST',
  path,
  summary: 'Attach an image to an alert, as the part `file` of a form',
  published: true,
  first: [signedIn],
  params: t.Object(fields),
  gates: [project, developer, alert],
  receives: (ctx, upload) =>
    receive(ctx, upload).catch((error: unknown) => {
      throw error instanceof BlobTooLarge ? tooLarge() : error
    }),
  handle: async ({ db, alert, params, received }) => {
    const { url = null, url_text = null } = linkOf({ ...params, ...received })
    const fault = linkFault({ url, url_text })
    if (fault !== undefined) throw refused(fault)
    const { filename, blob } = received
    const { sha256, size } = blob
    return present(await images.insert(db, { alert_id: alert.id, filename, sha256, size, url, url_text }))
  },
  returns: AlertMetricImage,
  refuses: [tooLarge, noImage],
})

const notUpdated = (): Problem => unprocessable('Metric image could not be updated')

export const updateAlertMetricImage = operation({
  method: 'PUT',
  path: `${path}/:metric_image_id`,
  summary: 'Change the link of a metric image',
  published: true,
  first: [signedIn],
  params: t.Object(fields),
  gates: [projectOrForbidden, developer, alert, metricImage],
  handle: async ({ db, image, params }) => {
    const link = linkOf(params)
    if (linkFault(link) !== undefined) throw notUpdated()
    return present(await images.update(db, image, link))
  },
  returns: AlertMetricImage,
  refuses: [notUpdated],
})

export const deleteAlertMetricImage = operation({
  method: 'DELETE',
  path: `${path}/:metric_image_id`,
  summary: 'Delete a metric image',
  published: true,
  first: [signedIn],
  gates: [projectOrForbidden, developer, alert, metricImage],
  handle: async ({ db, image }) => images.remove(db, image),
  returns: nothing,
})

export const getAlertMetricImageFile = operation({
  method: 'GET',
  path: `{base_url}${FOLDER}/:metric_image_id/:filename`,
  summary: 'Download a metric image',
  published: true,
  first: [signedIn],
  params: t.Object({ filename: t.String() }),
  gates: [seenImage],
  handle: async ({ blobs, image, params }) => {
    const type = imageType(image.filename)
    if (type === undefined || image.filename !== params.filename) throw noSuchRecord()
    const headers = {
      'content-type': type,
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-cache',
      etag: `"${image.sha256}"`,
    }
    return new Download(headers, (range) => blobs.read(image.sha256, range), image.size)
  },
  returns: bytes(),
})
