import { Type as t, type Static } from 'typebox'
import type { Label } from '../../db/schema/tables.ts'
import { nullable } from '../../http/params/schema.ts'
import { cleanTitle, hexColor, renderLine, textColor, titleFaults } from '../../core/planning/label_rules.ts'
import { conflict, invalid, notFound, refused, type Problem } from '../../http/problems.ts'

const fields = {
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
}
export const GroupLabel = t.Object(fields)

/** A label that a project has: its own, or one of the groups above. */
export const ProjectLabel = t.Object({
  ...fields,
  priority: nullable(t.Integer()),
  is_project_label: t.Boolean(),
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

/** A label in one project, as one caller sees it. */
export type LabelInProject = LabelForCaller & { readonly priority: number | null }

export const presentInProject = (row: LabelInProject): Static<typeof ProjectLabel> => ({
  ...present(row),
  priority: row.priority,
  is_project_label: row.project_id !== null,
})

export const noLabel = (): Problem => notFound('Label')
export const labelExists = (): Problem => conflict('Label already exists')
export const labelLocked = (): Problem => refused('Label is locked and was not removed')
export const titleTaken = (): Problem => invalid({ title: ['has already been taken'] })
export const BAD_COLOR = 'must be a valid color code'

/** Title and colour as they are kept. Throws the published refusal for what no label can have. */
export function checkLabel(given: { title: string; color: string }): { title: string; color: string } {
  const title = cleanTitle(given.title)
  const color = hexColor(given.color)
  const faults = titleFaults(title)
  if (faults.length > 0 || color === undefined)
    throw invalid({
      ...(faults.length > 0 && { title: faults }),
      ...(color === undefined && { color: [BAD_COLOR] }),
    })
  return { title, color }
}
