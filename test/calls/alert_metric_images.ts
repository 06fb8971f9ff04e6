import { Readable } from 'node:stream'
import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

const FORM =
  '--b\r\ncontent-disposition: form-data; name="file"; filename="chart.png"\r\n\r\nbytes\r\n--b--\r\n'

/** Images that are attached to alerts. */
export const alertMetricImages: Calls = {
  inPrivate: `
                           none   0   5  10  15  20  30  40  50 adm nobody
  listAlertMetricImages     404 404 404 404 404 404 200 200 200 200 401
  createAlertMetricImage    404 404 404 403 403 403 201 201 201 201 401
  updateAlertMetricImage    403 403 403 403 403 403 200 200 200 200 401
  deleteAlertMetricImage    403 403 403 403 403 403 204 204 204 204 401
  getAlertMetricImageFile   404 404 404 404 404 404 200 200 200 200 401
`,
  inPublic: `
                           none   0   5  10  15  20  30  40  50 adm nobody
  listAlertMetricImages     404 404 404 404 404 404 200 200 200 200 401
  createAlertMetricImage    403 403 403 403 403 403 201 201 201 201 401
  updateAlertMetricImage    403 403 403 403 403 403 200 200 200 200 401
  deleteAlertMetricImage    403 403 403 403 403 403 204 204 204 204 401
  getAlertMetricImageFile   404 404 404 404 404 404 200 200 200 200 401
`,
  headers: { createAlertMetricImage: { 'content-type': 'multipart/form-data; boundary=b' } },
  bodies: { createAlertMetricImage: FORM, updateAlertMetricImage: { url_text: 'Chart' } },
  set: async (world, { project }) => {
    const { blobs } = world.opened.instance
    const { sha256, size } = await blobs.write(Readable.from([Buffer.from(`chart of ${project.id}`)]), {
      limit: 1_000,
    })
    const row = await rowOf<{ id: number; iid: number }>(
      world,
      `with alert as (
         insert into alerts (project_id, iid, title, severity, started_at, payload)
         select $1, coalesce(max(iid), 5000) + 1, 'Pictured', 'low', now(), '{}' from alerts where project_id = $1
         returning id, iid)
       insert into alert_metric_images (alert_id, filename, sha256, size)
       select id, 'chart.png', $2, $3 from alert returning id, (select iid from alert) as iid`,
      [project.id, sha256, size],
    )
    return { alert_iid: String(row.iid), metric_image_id: String(row.id), filename: 'chart.png' }
  },
}
