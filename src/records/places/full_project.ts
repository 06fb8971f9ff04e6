import { Type as t, type Static } from 'typebox'
import { levelOf } from '../../core/sight/project_settings.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import type { Instance } from '../../instance.ts'
import { date, nullable, oneOf, moment } from '../../http/params/schema.ts'
import { identityFields, presentIdentity, shareFields, type ProjectInGroup } from './project.ts'
import { presentSettings, settingFields } from './project_features.ts'
import { UserBasic, presentUser, type Author } from '../people/user.ts'

// A project as its own calls show it: whole to whoever has signed in, briefly to all others.

/** To callers without a token, and wherever briefness is asked for. */
const brief = {
  ...identityFields,
  readme_url: nullable(t.String()),
  visibility: oneOf(VISIBILITIES),
}
type Brief = Static<typeof Brief>
const Brief = t.Object(brief)

const Access = t.Object({ access_level: t.Integer(), notification_level: t.Integer() })
const Statistics = t.Object({
  commit_count: t.Integer(),
  storage_size: t.Integer(),
  repository_size: t.Integer(),
  wiki_size: t.Integer(),
  lfs_objects_size: t.Integer(),
  job_artifacts_size: t.Integer(),
  pipeline_artifacts_size: t.Integer(),
  packages_size: t.Integer(),
  snippets_size: t.Integer(),
  uploads_size: t.Integer(),
  container_registry_size: t.Integer(),
})

/** All but what everybody gets is missing where the answer is brief. */
export const Project = t.Object({
  ...brief,
  ...t.Partial(
    t.Object({
      ...settingFields,
      _links: t.Object({
        self: t.String(),
        issues: t.Optional(t.String()),
        merge_requests: t.Optional(t.String()),
        repo_branches: t.String(),
        labels: t.String(),
        members: t.String(),
      }),
      empty_repo: t.Boolean(),
      archived: t.Boolean(),
      owner: UserBasic,
      creator_id: nullable(t.Integer()),
      updated_at: moment(),
      import_url: nullable(t.String()),
      import_type: nullable(t.String()),
      import_status: t.String(),
      import_error: nullable(t.String()),
      forked_from_project: t.Object(brief),
      open_issues_count: t.Integer(),
      description_html: t.String(),
      repository_object_format: t.String(),
      can_create_merge_request_in: t.Boolean(),
      mirror: t.Boolean(),
      marked_for_deletion_at: nullable(date()),
      marked_for_deletion_on: nullable(date()),
      shared_with_groups: t.Array(t.Object(shareFields)),
      license: t.Null(),
      license_url: t.Null(),
      custom_attributes: t.Array(t.Object({ key: t.String(), value: t.String() })),
      statistics: Statistics,
      permissions: t.Object({ project_access: nullable(Access), group_access: nullable(Access) }),
    }),
  ).properties,
})
type Full = Static<typeof Project>

/** A project with all that its record shows. */
export type ProjectRecord = ProjectInGroup & {
  readonly owner: Author | null
  /** Null when there is none, or the viewer cannot see it. */
  readonly forked_from: ProjectInGroup | null
  readonly import_status: string | null
  readonly import_kind: string | null
  readonly import_url: string | null
  readonly import_error: string | null
  /** The viewer's roles on the project and on its ancestors; null for none. */
  readonly project_level: number | null
  readonly group_level: number | null
  /** The combined right: a denial on either side denies. */
  readonly held: number
}

export interface RecordView {
  readonly signedIn: boolean
  readonly admin: boolean
  readonly simple?: boolean | undefined
  readonly customAttributes?: boolean | undefined
  readonly statistics?: boolean | undefined
  readonly license?: boolean | undefined
}

type Site = Pick<Instance, 'config'>

/** A project for one viewer. */
export function presentRecord(row: ProjectRecord, site: Site, view: RecordView): Full {
  const record: Full = presentBrief(row, site)
  if (view.simple || !view.signedIn) return record
  return Object.assign(record, presentSettings(row), standing(row, site), around(row, site, view))
}

function presentBrief(row: ProjectInGroup, site: Site): Brief {
  const identity = presentIdentity(row, site)
  const { default_branch: branch } = identity
  const readme = row.readme_path && branch !== null ? `/-/blob/${branch}/${row.readme_path}` : null
  return Object.assign(identity, {
    readme_url: readme && `${site.config.url}/${row.full_path}${readme}`,
    visibility: row.visibility,
  })
}

function standing(row: ProjectRecord, { config }: Site): Partial<Full> {
  const self = `${config.url}/api/v4/projects/${row.id}`
  return {
    _links: {
      self,
      issues: `${self}/issues`,
      merge_requests: `${self}/merge_requests`,
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      members: `${self}/members`,
    },
    empty_repo: row.empty_repo,
    archived: row.archived,
    creator_id: row.creator_id,
    updated_at: row.updated_at,
    description_html: escape(row.description ?? ''),
    repository_object_format: 'sha1',
    mirror: false,
    marked_for_deletion_at: null,
    marked_for_deletion_on: null,
    shared_with_groups: row.shared_with_groups,
    import_status: row.import_status ?? 'none',
    import_type: row.import_kind === 'url' ? 'git' : null,
  }
}

const level = (access: number | null): { access_level: number; notification_level: number } | null =>
  access === null ? null : { access_level: access, notification_level: 3 }

function around(row: ProjectRecord, site: Site, view: RecordView): Partial<Full> {
  const held = view.admin ? Infinity : row.held
  const issues = levelOf(row, 'issues')
  return {
    // Confidential ones are counted for those alone who see them all.
    ...((issues === 'enabled' || (issues === 'private' && held >= ROLES.guest)) && {
      open_issues_count: held >= ROLES.planner ? row.open_issues_count : row.open_public_issues_count,
    }),
    can_create_merge_request_in: held >= ROLES.developer && !row.archived,
    // Where it came from is its maintainers' business.
    import_url: held >= ROLES.maintainer ? row.import_url : null,
    import_error: held >= ROLES.maintainer ? row.import_error : null,
    permissions: { project_access: level(row.project_level), group_access: level(row.group_level) },
    ...(row.owner && { owner: presentUser(row.owner, site) }),
    ...(row.forked_from && { forked_from_project: presentBrief(row.forked_from, site) }),
    ...(view.license && { license: null, license_url: null }),
    ...(view.customAttributes && {
      custom_attributes: Object.entries(row.custom_attributes).map(([key, value]) => ({ key, value })),
    }),
    ...(view.statistics && held >= ROLES.reporter && { statistics: statisticsOf(row) }),
  }
}

/** As much as is measured; who shows it counts the commits. */
const statisticsOf = ({ repository_size }: ProjectRecord): Static<typeof Statistics> => ({
  commit_count: 0,
  storage_size: repository_size,
  repository_size,
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  pipeline_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
  uploads_size: 0,
  container_registry_size: 0,
})

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => SIGNS[sign] ?? sign)
