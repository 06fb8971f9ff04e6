import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { refuseDuringBackup } from '../../db/backup_lock.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { enqueue, enqueueAll, type Job } from '../../jobs/job.ts'
import { recordProjects, type ProjectPlace } from './place_events.ts'
import { repositoryPath } from './projects.ts'
import { below } from '../sight/roles.ts'

// Foreign keys cascade to what belongs to the project.
const remove = statement(
  (p: Slots<{ id: number }>) => sql<ProjectPlace>`delete from projects where id = ${p.id} returning *`,
)

/** Removes the repository of a project that is no more. */
export const removeRepository: Job<{ project_id: number }> = {
  name: 'remove_repository',
  run: async ({ db, git }, { project_id }) => {
    await refuseDuringBackup(db)
    const path = repositoryPath(project_id)
    await rm(git.directory(path), { recursive: true, force: true, maxRetries: 3 })
    git.forget(path)
  },
}

/** Removes a project with all that hangs on it; its repository goes once the transaction that this is called in holds. */
export async function removeProject(db: Db, id: number, by: number | null): Promise<void> {
  await recordProjects(db, 'destroy', await db.rows(remove, { id }), by)
  await enqueue(db, removeRepository, { project_id: id }, `remove_repository ${id}`)
}

const removeBelow = statement(
  (p: Slots<{ namespace_id: number }>) => sql<ProjectPlace>`
    with homes as materialized (
      select d.id from (values (${p.namespace_id}::bigint)) n (id), ${below(sql`n.id`)} d
    ), gone as (
      delete from projects where namespace_id in (select id from homes) returning *
    )
    select * from gone order by id`,
)

/** The same for every project of a namespace and of those below it, by as many statements for one as for many. */
export async function removeProjectsBelow(db: Db, namespaceId: number, by: number | null): Promise<void> {
  const gone = await db.rows(removeBelow, { namespace_id: namespaceId })
  await recordProjects(db, 'destroy', gone, by)
  await enqueueAll(
    db,
    removeRepository,
    gone.map(({ id }) => ({ payload: { project_id: id }, key: `remove_repository ${id}` })),
  )
}
