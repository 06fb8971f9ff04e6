import { sql } from 'kysely'
import type { Db } from '../../../db/db.ts'
import type { Pipeline } from '../../../db/schema/repositories.ts'
import { statement, type Slots } from '../../../db/statement.ts'
import { authorJson, type Author } from '../../../records/people/user.ts'

interface Values {
  readonly package_id: number
  /** The id that the page begins below. */
  readonly before: number | null
  readonly limit: number
}
type PackagePipeline = Pipeline & { readonly starter: Author | null }
const ofPackage = statement(
  (p: Slots<Values>) => sql<PackagePipeline>`
    select l.*, ${authorJson(sql`l.user_id`)} as starter
      from package_pipelines k join pipelines l on l.id = k.pipeline_id
     where k.package_id = ${p.package_id} and (${p.before}::bigint is null or l.id < ${p.before})
     order by l.id desc limit ${p.limit}`,
)
/** The pipelines that published files of a package, the newest first. */
export const listPipelines = (db: Db, values: Values): Promise<PackagePipeline[]> =>
  db.rows(ofPackage, values)
