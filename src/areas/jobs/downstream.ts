import { sql } from 'kysely'
import type { Static } from 'typebox'
import { mayReadPipelines } from '../../access/gates/pipeline_gates.ts'
import { findProjectsAs } from '../../core/places/project_roles.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import type { Pipeline as PipelineRow } from '../../db/schema/repositories.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Actor } from '../../http/gate.ts'
import type { Instance } from '../../instance.ts'
import { presentPipeline, type Pipeline } from '../../records/pipelines/pipeline.ts'

const byIds = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<PipelineRow>`
    select * from pipelines where id = any(${p.ids}::bigint[])`,
)

interface Caller {
  readonly db: Db
  readonly actor: Actor | null
  readonly config: Instance['config']
}
/** Downstream pipelines by id, those left out whose project the caller may not read pipelines of. */
export async function presentDownstream(
  { db, actor, config }: Caller,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Static<typeof Pipeline>>> {
  if (ids.length === 0) return new Map()
  const rows = await db.rows(byIds, { ids })
  const projects = await findProjectsAs(
    db,
    rows.map(({ project_id }) => project_id),
    actor?.id ?? null,
  )
  const readable = new Map(
    projects
      .filter((one) => canSee(actor, one.visibility, one.role, ROLES.guest) && mayReadPipelines(actor, one))
      .map((one) => [one.id, one]),
  )
  return new Map(
    rows.flatMap((row) => {
      const project = readable.get(row.project_id)
      return project === undefined ? [] : [[row.id, presentPipeline(row, project, { config })]]
    }),
  )
}
