import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import { showDuration } from '../../core/values/durations.ts'
import { renderLine, textColor } from '../../core/planning/label_rules.ts'
import { nullable } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import type { Author } from '../people/user.ts'

// Fields that issues, merge requests and epics share.

/** The viewer and place that an issue or a merge request is presented for. */
export interface Around extends Pick<Instance, 'config'> {
  /** Asked for by `with_labels_details`. */
  readonly details?: boolean
  /** The full path of the group whose list it stands in; null in a list across all projects. */
  readonly group?: string | null
}

/** A label as what it is on shows it. */
export const LabelDetails = t.Object({
  id: t.Integer(),
  name: t.String(),
  color: t.String(),
  description: nullable(t.String()),
  description_html: nullable(t.String()),
  text_color: t.String(),
})

/** Titles, or all about each label where `with_labels_details` asks for it. */
export const Labels = t.Array(
  t.Unsafe<string | Static<typeof LabelDetails>>({ anyOf: [{ type: 'string' }, LabelDetails] }),
)

export interface LabelShown {
  readonly id: number
  readonly title: string
  readonly color: string
  readonly description: string | null
}

/** The labels on a noteable as one JSON list, by title. */
export const labelsJson = (noteableId: RawBuilder<unknown>): RawBuilder<LabelShown[]> => sql`(
  select coalesce(json_agg(json_build_object(
           'id', l.id, 'title', l.title, 'color', l.color, 'description', l.description) order by l.title, l.id), '[]')
    from label_links k join labels l on l.id = k.label_id where k.noteable_id = ${noteableId})`

export const presentDetails = (label: LabelShown): Static<typeof LabelDetails> => ({
  id: label.id,
  name: label.title,
  color: label.color,
  description: label.description,
  description_html: label.description === null ? null : renderLine(label.description),
  text_color: textColor(label.color),
})

export const presentLabels = (labels: readonly LabelShown[], details: boolean): Static<typeof Labels> =>
  labels.map((label) => (details ? presentDetails(label) : label.title))

/** The users that `links`, a query of one column `user_id`, names, as one JSON list, by id. */
export const usersJson = (links: RawBuilder<unknown>): RawBuilder<Author[]> => sql`(
  select coalesce(json_agg(json_build_object(
           'id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'avatar_url', u.avatar_url)
           order by u.id), '[]')
    from users u where u.id in (${links}))`

export const TimeStats = t.Object({
  time_estimate: t.Integer(),
  total_time_spent: t.Integer(),
  human_time_estimate: nullable(t.String()),
  human_total_time_spent: nullable(t.String()),
})

export const presentTime = (row: {
  readonly time_estimate: number
  readonly total_time_spent: number
}): Static<typeof TimeStats> => ({
  time_estimate: row.time_estimate,
  total_time_spent: row.total_time_spent,
  human_time_estimate: showDuration(row.time_estimate),
  human_total_time_spent: showDuration(row.total_time_spent),
})

export const TaskCompletion = t.Object({ count: t.Integer(), completed_count: t.Integer() })

/** Counts the boxes to tick in a description: `- [ ] to do`, `1. [x] done`. */
export function countTasks(description: string | null): Static<typeof TaskCompletion> {
  const counts = { count: 0, completed_count: 0 }
  if (description === null || !description.includes('[')) return counts
  for (const [, mark] of description.matchAll(/^[ \t>]*(?:[-*+]|\d{1,9}[.)]) {1,4}\[([ xX])\][ \t]/gm)) {
    counts.count += 1
    if (mark !== ' ') counts.completed_count += 1
  }
  return counts
}
