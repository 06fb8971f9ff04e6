import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import { textColor } from '../../core/planning/label_rules.ts'
import type { Epic as EpicRow } from '../../db/schema/planning.ts'
import { date, nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { Labels, labelsJson, presentLabels, type LabelShown } from '../../records/conversation/noteable.ts'
import { References } from '../../records/conversation/references.ts'
import { UserBasic, authorJson, presentUser, type Author } from '../../records/people/user.ts'

const day = nullable(date())

export const Epic = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  group_id: t.Integer(),
  parent_id: nullable(t.Integer()),
  parent_iid: nullable(t.Integer()),
  title: t.String(),
  description: nullable(t.String()),
  confidential: t.Boolean(),
  author: nullable(UserBasic),
  start_date: day,
  start_date_is_fixed: t.Boolean(),
  start_date_fixed: day,
  start_date_from_inherited_source: day,
  end_date: day,
  due_date: day,
  due_date_is_fixed: t.Boolean(),
  due_date_fixed: day,
  due_date_from_inherited_source: day,
  state: t.String(),
  web_edit_url: t.String(),
  web_url: t.String(),
  references: References,
  created_at: moment(),
  updated_at: moment(),
  closed_at: nullable(moment()),
  labels: Labels,
  upvotes: t.Integer(),
  downvotes: t.Integer(),
  color: t.String(),
  text_color: t.String(),
  _links: t.Object({
    self: t.String(),
    epic_issues: t.String(),
    group: t.String(),
    parent: nullable(t.String()),
  }),
})

export type EpicShown = EpicRow & {
  readonly group_path: string
  readonly author: Author | null
  readonly labels: LabelShown[]
  /** Where it lies, for those who may see it; hidden ones are told to nobody. */
  readonly parent: { readonly id: number; readonly iid: number; readonly group_id: number } | null
  readonly upvotes: number
  readonly downvotes: number
}

const votes = (name: string): RawBuilder<number> => sql`(
  select count(*)::int from award_emoji a where a.noteable_id = e.id and a.name = ${sql.lit(name)})`

/** The epics that `chosen` selects, in no order, with all that is shown of them: one part of a statement. */
export const shownEpics = (chosen: RawBuilder<unknown>): RawBuilder<EpicShown> => sql`
  select e.*, (select g.full_path from namespaces g where g.id = e.group_id) as group_path,
         ${authorJson(sql`e.author_id`)} as author, ${labelsJson(sql`e.id`)} as labels,
         (select json_build_object('id', o.id, 'iid', o.iid, 'group_id', o.group_id)
            from epics o where o.id = e.parent_id and (not o.confidential or e.confidential)) as parent,
         ${votes('thumbsup')} as upvotes, ${votes('thumbsdown')} as downvotes
    from (${chosen}) e`

export function presentEpic(
  row: EpicShown,
  { config, details = false }: Pick<Instance, 'config'> & { readonly details?: boolean },
): Static<typeof Epic> {
  const web_url = `${config.url}/groups/${row.group_path}/-/epics/${row.iid}`
  const api = (group: number, iid: number): string => `${config.url}/api/v4/groups/${group}/epics/${iid}`
  const self = api(row.group_id, row.iid)
  return {
    id: row.id,
    iid: row.iid,
    group_id: row.group_id,
    parent_id: row.parent?.id ?? null,
    parent_iid: row.parent?.iid ?? null,
    title: row.title,
    description: row.description,
    confidential: row.confidential,
    author: row.author && presentUser(row.author, { config }),
    start_date: row.start_date,
    start_date_is_fixed: row.start_date !== null,
    start_date_fixed: row.start_date,
    start_date_from_inherited_source: null,
    end_date: row.due_date,
    due_date: row.due_date,
    due_date_is_fixed: row.due_date !== null,
    due_date_fixed: row.due_date,
    due_date_from_inherited_source: null,
    state: row.state,
    web_edit_url: `${web_url}/edit`,
    web_url,
    references: { short: `&${row.iid}`, relative: `&${row.iid}`, full: `${row.group_path}&${row.iid}` },
    created_at: row.created_at,
    updated_at: row.updated_at,
    closed_at: row.closed_at,
    labels: presentLabels(row.labels, details),
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    color: row.color,
    text_color: textColor(row.color),
    _links: {
      self,
      epic_issues: `${self}/issues`,
      group: `${config.url}/api/v4/groups/${row.group_id}`,
      parent: row.parent && api(row.parent.group_id, row.parent.iid),
    },
  }
}
