import { sql, type RawBuilder } from 'kysely'
import { statements } from '../../db/statement.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { EventRow, Site } from '../../hooks/payloads/common.ts'
import type { HookKind } from './entity.ts'
import type { Owner } from './store.ts'

// Real records for tests of webhooks, as the events that tell of them.

/** Triggers that can be tested, with the published sentence where there is no record to send. */
const NEEDS = {
  push_events: 'at least one commit',
  tag_push_events: 'at least one commit',
  issues_events: 'issues',
  confidential_issues_events: 'issues',
  note_events: 'notes',
  merge_requests_events: 'merge requests',
  job_events: 'CI jobs',
  pipeline_events: 'CI pipelines',
  emoji_events: 'notes',
  deployment_events: 'deployments',
  milestone_events: 'milestones',
} as const
export type TestTrigger = keyof typeof NEEDS
export const TEST_TRIGGERS = Object.keys(NEEDS) as TestTrigger[]

export const missing = (trigger: TestTrigger): string => `Ensure the project has ${NEEDS[trigger]}.`

const FOUND: Readonly<Record<TestTrigger, RawBuilder<unknown>>> = {
  push_events: sql`'push' as kind, 'pushed' as action, null::bigint as target_id, p.id as project_id from projects p
    where p.id in (select id from homes) and not p.empty_repo`,
  tag_push_events: sql`'tag_push' as kind, 'created' as action, null::bigint as target_id, p.id as project_id
    from projects p where p.id in (select id from homes) and not p.empty_repo`,
  issues_events: sql`'issue' as kind, 'open' as action, r.id as target_id, r.project_id from issues r
    where r.project_id in (select id from homes) and not r.confidential`,
  confidential_issues_events: sql`'issue' as kind, 'open' as action, r.id as target_id, r.project_id from issues r
    where r.project_id in (select id from homes) and r.confidential`,
  note_events: sql`'note' as kind, 'create' as action, r.id as target_id, coalesce(i.project_id, m.project_id) as project_id,
      r.noteable_id, case when i.id is not null then 'issue' else 'merge_request' end as noteable_kind
    from notes r left join issues i on i.id = r.noteable_id left join merge_requests m on m.id = r.noteable_id
    where coalesce(i.project_id, m.project_id) in (select id from homes) and r.system_action is null and not r.internal
      and not coalesce(i.confidential, false)`,
  merge_requests_events: sql`'merge_request' as kind, 'open' as action, r.id as target_id, r.project_id
    from merge_requests r where r.project_id in (select id from homes)`,
  job_events: sql`'job' as kind, r.status as action, r.id as target_id, r.project_id from ci_jobs r
    where r.project_id in (select id from homes) and r.kind = 'build'`,
  pipeline_events: sql`'pipeline' as kind, r.status as action, r.id as target_id, r.project_id from pipelines r
    where r.project_id in (select id from homes)`,
  emoji_events: sql`'emoji' as kind, 'award' as action, i.id as target_id, i.project_id, i.id as noteable_id,
      'issue' as noteable_kind, 'issue' as target_type, json_build_object('award', r.*) as data
    from award_emoji r join issues i on i.id = r.noteable_id
    where i.project_id in (select id from homes) and not i.confidential`,
  deployment_events: sql`'deployment' as kind, r.status as action, r.id as target_id, r.project_id from deployments r
    where r.project_id in (select id from homes)`,
  milestone_events: sql`'milestone' as kind, 'create' as action, r.id as target_id, r.project_id,
      json_build_object('milestone', r.*) as data
    from milestones r where r.project_id in (select id from homes)`,
}

const newest = statements<{ kind: HookKind; trigger: TestTrigger }, { of: number }, Partial<EventRow>>(
  (p, { kind, trigger }) => {
    const homes =
      kind === 'project'
        ? sql`select ${p.of}::bigint as id`
        : sql`select p.id from projects p
               where p.namespace_id in (select d.id from namespaces d where d.traversal_ids @> array[${p.of}::bigint])`
    const order = FOUND[trigger]
    return sql<Partial<EventRow>>`
      with homes as materialized (${homes})
      select found.* from (select ${order}) found order by found.target_id desc nulls last, found.project_id limit 1`
  },
)

/** The event that a test sends; undefined where there is no record of that kind. */
export async function sampleEvent(
  site: Site,
  { kind, id }: Owner,
  trigger: TestTrigger,
  userId: number,
): Promise<EventRow | undefined> {
  const found = await site.db.one(newest({ kind, trigger }), { of: id })
  if (found === undefined) return undefined
  const event: EventRow = {
    id: 0,
    created_at: new Date(),
    kind: '',
    action: '',
    author_id: userId,
    project_id: null,
    group_id: null,
    target_type: null,
    target_id: null,
    noteable_kind: null,
    noteable_id: null,
    trigger,
    data: {},
    ...found,
  }
  if (event.kind !== 'push' && event.kind !== 'tag_push') return event
  const data = await newestPush(site, event.project_id ?? 0, event.kind === 'tag_push')
  return data && { ...event, data }
}

/** The newest commit of the default branch, or the newest tag, as a push. */
async function newestPush(
  { git }: Site,
  projectId: number,
  isTag: boolean,
): Promise<EventRow['data'] | undefined> {
  const repository = git.repository(repositoryPath(projectId))
  const none = { commit_count: 0, commit_title: null, ref_count: null }
  if (isTag) {
    const tag = (await repository.refs('refs/tags/')).at(-1)
    return tag && { ...none, ref: tag.name, before: null, after: tag.id }
  }
  const branch = await repository.defaultBranch()
  const tip = branch === undefined ? undefined : await repository.ref(`refs/heads/${branch}`)
  const commit = tip === undefined ? undefined : await repository.commit(tip)
  if (commit === undefined) return undefined
  const before = commit.parents[0] ?? null
  return { ...none, ref: `refs/heads/${branch}`, before, after: commit.id, commit_count: 1 }
}
