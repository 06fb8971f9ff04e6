import { Type as t, type Static } from 'typebox'
import type { Project } from '../../db/schema/tables.ts'
import { nullable, oneOf, moment, date } from '../../http/params/schema.ts'
import { levelOf } from '../../core/sight/project_settings.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import type { Instance } from '../../instance.ts'

/** Identifying fields of a project: all there are with `simple=true`. */
export const identityFields = {
  id: t.Integer(),
  description: nullable(t.String()),
  name: t.String(),
  name_with_namespace: t.String(),
  path: t.String(),
  path_with_namespace: t.String(),
  created_at: moment(),
  default_branch: nullable(t.String()),
  tag_list: t.Array(t.String(), { deprecated: true, description: 'Deprecated: topics' }),
  topics: t.Array(t.String()),
  ssh_url_to_repo: nullable(t.String()),
  http_url_to_repo: t.String(),
  web_url: t.String(),
  avatar_url: nullable(t.String()),
  star_count: t.Integer(),
  forks_count: t.Integer(),
  last_activity_at: moment(),
  namespace: t.Object({
    id: t.Integer(),
    name: t.String(),
    path: t.String(),
    kind: oneOf(['user', 'group']),
    full_path: t.String(),
    parent_id: nullable(t.Integer()),
    avatar_url: nullable(t.String()),
    web_url: t.String(),
  }),
}

/** A group that a project is shared with. */
export const shareFields = {
  group_id: t.Integer(),
  group_name: t.String(),
  group_full_path: t.String(),
  group_access_level: t.Integer(),
  expires_at: nullable(date()),
}

/** A project as an item of a group. */
export const GroupProject = t.Object({
  ...identityFields,
  archived: t.Optional(t.Boolean()),
  visibility: t.Optional(oneOf(VISIBILITIES)),
  issues_enabled: t.Optional(t.Boolean()),
  merge_requests_enabled: t.Optional(t.Boolean()),
  wiki_enabled: t.Optional(t.Boolean()),
  jobs_enabled: t.Optional(t.Boolean()),
  snippets_enabled: t.Optional(t.Boolean()),
  container_registry_enabled: t.Optional(t.Boolean()),
  shared_runners_enabled: t.Optional(t.Boolean()),
  creator_id: t.Optional(nullable(t.Integer())),
  open_issues_count: t.Optional(t.Integer()),
  public_jobs: t.Optional(t.Boolean()),
  shared_with_groups: t.Optional(t.Array(t.Object(shareFields))),
  request_access_enabled: t.Optional(t.Boolean()),
  custom_attributes: t.Optional(t.Array(t.Object({ key: t.String(), value: t.String() }))),
})

const Identity = t.Object(identityFields)

/** Defaults of a project. */
const PROJECT_SETTINGS = {
  issues_enabled: true,
  merge_requests_enabled: true,
  jobs_enabled: true,
  snippets_enabled: true,
  shared_runners_enabled: true,
  public_jobs: true,
  request_access_enabled: true,
}

export type ProjectInGroup = Project & {
  readonly namespace: {
    readonly name: string
    readonly path: string
    readonly kind: 'user' | 'group'
    readonly full_name: string
    readonly full_path: string
    readonly parent_id: number | null
    readonly avatar_url: string | null
  }
  readonly shared_with_groups: NonNullable<Static<typeof GroupProject>['shared_with_groups']>
  /** Of the forks that the viewer sees. */
  readonly forks_count: number
  /** Whether the viewer reads its code: what branches it has is told to nobody else. */
  readonly shows_code: boolean
}

type Site = Pick<Instance, 'config'>

export interface ProjectView {
  readonly simple: boolean
  readonly customAttributes: boolean
}

export function presentProject(
  row: ProjectInGroup,
  site: Site,
  view: ProjectView,
): Static<typeof GroupProject> {
  const record: Static<typeof GroupProject> = presentIdentity(row, site)
  if (view.simple) return record
  const settings = { ...PROJECT_SETTINGS, ...row.settings }
  return Object.assign(record, {
    archived: row.archived,
    visibility: row.visibility,
    issues_enabled: settings.issues_enabled,
    merge_requests_enabled: settings.merge_requests_enabled,
    wiki_enabled: levelOf(row, 'wiki') !== 'disabled',
    jobs_enabled: settings.jobs_enabled,
    snippets_enabled: settings.snippets_enabled,
    container_registry_enabled: levelOf(row, 'container_registry') !== 'disabled',
    shared_runners_enabled: settings.shared_runners_enabled,
    creator_id: row.creator_id,
    // Counts for all viewers of the project; for readers of confidential issues no row is checked.
    ...(levelOf(row, 'issues') !== 'private' && { open_issues_count: row.open_public_issues_count }),
    public_jobs: settings.public_jobs,
    shared_with_groups: row.shared_with_groups,
    request_access_enabled: settings.request_access_enabled,
    ...(view.customAttributes && {
      custom_attributes: Object.entries(row.custom_attributes).map(([key, value]) => ({ key, value })),
    }),
  })
}

/** Fields of a project for everyone. */
export function presentIdentity(row: ProjectInGroup, { config }: Site): Static<typeof Identity> {
  const { namespace } = row
  const web = `${config.url}/${row.full_path}`
  const isGroup = namespace.kind === 'group'
  return {
    id: row.id,
    description: row.description,
    name: row.name,
    name_with_namespace: `${namespace.full_name} / ${row.name}`,
    path: row.path,
    path_with_namespace: row.full_path,
    created_at: row.created_at,
    default_branch: row.shows_code ? row.default_branch : null,
    tag_list: row.topics,
    topics: row.topics,
    // Repositories are served over HTTP alone.
    ssh_url_to_repo: null,
    http_url_to_repo: `${web}.git`,
    web_url: web,
    avatar_url: row.avatar_url,
    star_count: row.star_count,
    forks_count: row.forks_count,
    last_activity_at: row.last_activity_at,
    namespace: {
      id: row.namespace_id,
      name: namespace.name,
      path: namespace.path,
      kind: namespace.kind,
      full_path: namespace.full_path,
      parent_id: namespace.parent_id,
      avatar_url: namespace.avatar_url,
      web_url: isGroup
        ? `${config.url}/groups/${namespace.full_path}`
        : `${config.url}/${namespace.full_path}`,
    },
  }
}
