import { sql } from 'kysely'
import { statement, type Slots } from '../db/statement.ts'
import { directoryBytes } from '../git/sizes.ts'
import type { Job } from '../jobs/job.ts'
import { repositoryPath } from './projects.ts'

const setSize = statement(
  (p: Slots<{ id: number; size: number }>) =>
    sql`update projects set repository_size = ${p.size} where id = ${p.id}`,
)

/** Notes how many bytes a project's repository takes, for statistics. */
export const measureRepository: Job<{ project_id: number }> = {
  name: 'measure_repository',
  run: async ({ db, git }, { project_id }) => {
    const size = await directoryBytes(git.directory(repositoryPath(project_id))).catch(() => 0)
    await db.run(setSize, { id: project_id, size })
  },
}
