import { sql } from 'kysely'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import type { Job } from '../../jobs/job.ts'

/** Commits of one deployment that are looked at for merge requests, the newest first. */
const MAX_COMMITS = 10_000

interface Deployed {
  readonly project_id: number
  readonly ref: string
  readonly sha: string
  readonly previous: string | null
}
// Review apps, whose environments have a folder in their names, ship nothing.
const deployed = statement(
  (p: Slots<{ id: number }>) => sql<Deployed>`
    select d.project_id, d.ref, d.sha,
           (select o.sha from deployments o
             where o.environment_id = d.environment_id and o.status = 'success' and o.id < d.id
             order by o.id desc limit 1) as previous
      from deployments d join environments e on e.id = d.environment_id
     where d.id = ${p.id} and d.status = 'success' and e.name not like '%/%'`,
)

const linkBranch = statement(
  (p: Slots<{ id: number }>) => sql`
    insert into deployment_merge_requests (deployment_id, merge_request_id)
    select d.id, m.id from deployments d join merge_requests m on m.project_id = d.project_id
     where d.id = ${p.id} and m.state = 'merged' and m.target_branch = d.ref and m.merged_at <= d.finished_at
    on conflict do nothing`,
)
const linkCommits = statement(
  (p: Slots<{ id: number; shas: readonly string[] }>) => sql`
    insert into deployment_merge_requests (deployment_id, merge_request_id)
    select d.id, m.id from deployments d join merge_requests m on m.project_id = d.project_id
     where d.id = ${p.id} and m.state = 'merged'
       and (m.merge_commit_sha = any(${p.shas}::text[]) or m.squash_commit_sha = any(${p.shas}::text[])
            or m.head_sha = any(${p.shas}::text[]))
    on conflict do nothing`,
)

/** Links a successful deployment with the merge requests that it is the first to ship into its environment. */
export const linkMergeRequests: Job<{ deployment_id: number }> = {
  name: 'link_deployment_merge_requests',
  run: async ({ db, git }, { deployment_id: id }) => {
    const found = await db.one(deployed, { id })
    if (found === undefined) return
    const shas = await newCommits({ git }, found)
    await link(db, id, shas)
  },
}

async function link(db: Db, id: number, shas: readonly string[] | undefined): Promise<void> {
  if (shas === undefined) await db.run(linkBranch, { id })
  else if (shas.length > 0) await db.run(linkCommits, { id, shas })
}

/** Commits that the deployment before did not have; undefined where there is none to compare with. */
async function newCommits(
  { git }: Pick<Instance, 'git'>,
  { project_id, sha, previous }: Deployed,
): Promise<readonly string[] | undefined> {
  if (previous === null) return undefined
  const repository = git.repository(repositoryPath(project_id))
  const commits = await Promise.all([repository.commit(sha), repository.commit(previous)])
  if (commits.includes(undefined)) return []
  return repository.log({ from: [sha], exclude: [previous], skip: 0, limit: MAX_COMMITS })
}
