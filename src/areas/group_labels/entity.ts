import { Type as t, type Static } from 'typebox'
import type { Label } from '../../db/schema.ts'
import { nullable } from '../../http/schema.ts'
import { renderLine, textColor } from '../../core/label_rules.ts'

export const GroupLabel = t.Object({
  id: t.Integer(),
  name: t.String(),
  color: t.String({ description: '`#` and six hex digits' }),
  text_color: t.String(),
  description: nullable(t.String()),
  description_html: nullable(t.String()),
  open_issues_count: t.Integer(),
  closed_issues_count: t.Integer(),
  open_merge_requests_count: t.Integer(),
  subscribed: t.Boolean(),
})

/** A label as one caller sees it: the counts are of what that caller may see. */
export type LabelForCaller = Label & {
  readonly open_issues_count: number
  readonly closed_issues_count: number
  readonly open_merge_requests_count: number
  readonly subscribed: boolean
}

export const present = (row: LabelForCaller): Static<typeof GroupLabel> => ({
  id: row.id,
  name: row.title,
  color: row.color,
  text_color: textColor(row.color),
  description: row.description,
  description_html: row.description === null ? null : renderLine(row.description),
  open_issues_count: row.open_issues_count,
  closed_issues_count: row.closed_issues_count,
  open_merge_requests_count: row.open_merge_requests_count,
  subscribed: row.subscribed,
})
