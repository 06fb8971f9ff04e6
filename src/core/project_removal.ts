import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { enqueue, type Job } from '../jobs/job.ts'
import { repositoryPath } from './projects.ts'

const ids = statement(
  (p: Slots<{ namespace_id: number }>) => sql<{ id: number }>`
    select p.id from projects p join namespaces n on n.id = p.namespace_id
     where n.traversal_ids @> array[${p.namespace_id}::bigint] order by p.id`,
)
// Their counts go with those who starred; what hangs on the project goes with its row.
const remove = statement(
  (p: Slots<{ id: number }>) => sql`
    with gone as (delete from projects where id = ${p.id} returning forked_from_project_id)
    update projects set forks_count = greatest(forks_count - 1, 0)
     where id in (select forked_from_project_id from gone)`,
)

/** Removes the repository of a project that is no more. */
export const removeRepository: Job<{ project_id: number }> = {
  name: 'remove_repository',
  run: async ({ git }, { project_id }) => {
    const path = repositoryPath(project_id)
    await rm(git.directory(path), { recursive: true, force: true, maxRetries: 3 })
    git.forget(path)
  },
}

/** Removes a project with all that hangs on it; its repository goes once the transaction that this is called in holds. */
export async function removeProject(db: Db, id: number): Promise<void> {
  await db.run(remove, { id })
  await enqueue(db, removeRepository, { project_id: id }, `remove_repository ${id}`)
}

/** The same for every project of a namespace and of those below it. */
export async function removeProjectsBelow(db: Db, namespaceId: number): Promise<void> {
  for (const { id } of await db.rows(ids, { namespace_id: namespaceId })) await removeProject(db, id)
}
