import { Type as t, type Static } from 'typebox'
import { moment, nullable } from '../../http/params/schema.ts'

export const fields = {
  url: t.Optional(t.String({ description: 'Where more is to be seen' })),
  url_text: t.Optional(t.String({ description: 'The text of that link' })),
}

export const AlertMetricImage = t.Object({
  id: t.Integer(),
  created_at: moment(),
  filename: t.String(),
  file_path: t.String({ description: "Below the server's own address" }),
  url: nullable(t.String()),
  url_text: nullable(t.String()),
})

export interface Row {
  readonly id: number
  readonly alert_id: number
  readonly filename: string
  readonly sha256: string
  /** Bytes. */
  readonly size: number
  readonly url: string | null
  readonly url_text: string | null
  readonly created_at: Date
  readonly updated_at: Date
}
declare module '../../db/schema/tables.ts' {
  interface Database {
    alert_metric_images: Row
  }
}

export const FOLDER = '/uploads/-/system/alert_management_metric_image/file'

export const present = (row: Row): Static<typeof AlertMetricImage> => ({
  ...row,
  file_path: `${FOLDER}/${row.id}/${row.filename}`,
})
