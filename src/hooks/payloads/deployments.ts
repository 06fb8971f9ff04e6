import { sql } from 'kysely'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Deployment, Environment } from '../../db/schema/delivery.ts'
import { statement, type Slots } from '../../db/statement.ts'
import {
  commitPayload,
  projectPayload,
  userPayload,
  type EventRow,
  type Payload,
  type Site,
} from './common.ts'

type Row = Deployment &
  Pick<Environment, 'name' | 'tier' | 'slug'> & { readonly environment_url: string | null }
const deployment = statement(
  (p: Slots<{ id: number }>) => sql<Row>`
    select d.*, e.name, e.tier, e.slug, e.external_url as environment_url
      from deployments d join environments e on e.id = d.environment_id where d.id = ${p.id}`,
)

/** A deployment that began or ended. */
export async function deploymentHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const row = await site.db.one(deployment, { id: event.target_id ?? 0 })
  const project = await projectPayload(site, event.project_id)
  if (row === undefined || project === undefined) return undefined
  const commit = await commitPayload(site.git.repository(repositoryPath(project.id)), row.sha, project)
  const user = await userPayload(site, row.user_id)
  return {
    object_kind: 'deployment',
    status: event.action,
    status_changed_at: event.created_at,
    deployment_id: row.id,
    deployable_id: row.job_id,
    deployable_url: row.job_id === null ? null : `${project.web_url}/-/jobs/${row.job_id}`,
    environment: row.name,
    environment_tier: row.tier,
    environment_slug: row.slug,
    environment_external_url: row.environment_url,
    project,
    short_sha: row.sha.slice(0, 8),
    user,
    user_url: user === null ? null : `${site.config.url}/${user.username}`,
    commit_url: `${project.web_url}/-/commit/${row.sha}`,
    commit_title: commit?.['title'] ?? null,
  }
}

/** A milestone that was made, closed, opened again or deleted; its columns stand in the event. */
export async function milestoneHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const { milestone } = event.data as { readonly milestone: Payload }
  const project = await projectPayload(site, event.project_id)
  if (event.project_id !== null && project === undefined) return undefined
  const names = ['id', 'iid', 'title', 'description', 'state', 'created_at', 'updated_at', 'due_date']
  const kept = [...names, 'start_date', 'group_id', 'project_id']
  return {
    object_kind: 'milestone',
    event_type: 'milestone',
    ...(project !== undefined && { project }),
    object_attributes: Object.fromEntries(kept.map((name) => [name, milestone[name] ?? null])),
    action: event.action,
  }
}
