import { Type as t, type Static } from 'typebox'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'

const ProjectOfTodo = t.Object({
  id: t.Integer(),
  name: t.String(),
  name_with_namespace: t.String(),
  path: t.String(),
  path_with_namespace: t.String(),
})
const GroupOfTodo = t.Object({
  id: t.Integer(),
  web_url: t.String(),
  name: t.String(),
  path: t.String(),
  kind: t.String(),
  full_path: t.String(),
  parent_id: nullable(t.Integer()),
  avatar_url: nullable(t.String()),
})

export const Todo = t.Object({
  id: t.Integer(),
  project: t.Optional(ProjectOfTodo),
  group: t.Optional(GroupOfTodo),
  author: nullable(UserBasic),
  action_name: t.String(),
  target_type: t.String(),
  target: t.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'The record itself' }),
  target_url: t.String(),
  body: t.String(),
  state: t.String(),
  created_at: moment(),
  updated_at: moment(),
})

export interface TodoShown {
  readonly id: number
  readonly noteable_id: number
  readonly note_id: number | null
  readonly action_name: string
  readonly state: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly kind: 'issue' | 'merge_request' | 'epic'
  readonly title: string
  readonly iid: number
  readonly note: string | null
  readonly author: Author | null
  readonly project: {
    readonly id: number
    readonly name: string
    readonly path: string
    readonly full_path: string
    readonly home: string
  } | null
  readonly group: (Static<typeof GroupOfTodo> & object) | null
}

const KINDS = {
  issue: { type: 'Issue', address: 'issues' },
  merge_request: { type: 'MergeRequest', address: 'merge_requests' },
  epic: { type: 'Epic', address: 'epics' },
} as const

/** `targets` are the records as their own calls answer them, by their ids. */
export function presentTodo(
  row: TodoShown,
  targets: ReadonlyMap<number, object>,
  site: Pick<Instance, 'config'>,
): Static<typeof Todo> {
  const { config } = site
  const { type, address } = KINDS[row.kind]
  const place = row.project?.full_path ?? `groups/${row.group?.full_path ?? ''}`
  const anchor = row.note_id === null ? '' : `#note_${row.note_id}`
  return {
    id: row.id,
    ...(row.project && {
      project: {
        id: row.project.id,
        name: row.project.name,
        name_with_namespace: `${row.project.home} / ${row.project.name}`,
        path: row.project.path,
        path_with_namespace: row.project.full_path,
      },
    }),
    ...(row.group && { group: { ...row.group, web_url: `${config.url}/groups/${row.group.full_path}` } }),
    author: row.author && presentUser(row.author, site),
    action_name: row.action_name,
    target_type: type,
    target: targets.get(row.noteable_id) ?? { id: row.noteable_id, iid: row.iid, title: row.title },
    target_url: `${config.url}/${place}/-/${address}/${row.iid}${anchor}`,
    body: row.note ?? row.title,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
