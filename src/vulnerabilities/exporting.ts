import { sql } from 'kysely'
import { BlobTooLarge } from '../blobs/digests.ts'
import type { Db } from '../db/db.ts'
import type { VulnerabilityExport } from '../db/schema/vulnerabilities.ts'
import { insertInto } from '../db/rows.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import { enqueue, type Job } from '../jobs/job.ts'
import { exportedRows } from './csv.ts'
import { LIFETIME, projectsOf } from './export_scope.ts'

/** Runs after which an export has failed. */
const MAX_ATTEMPTS = 3
/** Rows between two notes of how far a run has come. */
const NOTED = 20_000
/** Bytes of a file. */
const MAX_SIZE = 20 * 1024 ** 3

const insertStatement = insertInto('vulnerability_exports', ['author_id', 'project_id', 'group_id'])
const begin = statement(
  (p: Slots<{ id: number; attempts: number }>) => sql<VulnerabilityExport>`
    update vulnerability_exports
       set attempts = attempts + 1, started_at = now(), updated_at = now(),
           status = case when attempts >= ${p.attempts} then 'failed' else 'running' end,
           finished_at = case when attempts >= ${p.attempts} then now() end
     where id = ${p.id} and status in ('created', 'running') and created_at > now() - ${LIFETIME}
    returning *`,
)
const noteRows = statement(
  (p: Slots<{ id: number; row_count: number }>) => sql`
    update vulnerability_exports set row_count = ${p.row_count}, updated_at = now()
     where id = ${p.id} and status = 'running'`,
)
const finish = statement(
  (p: Slots<Finished & { id: number }>) => sql`
    update vulnerability_exports
       set status = 'finished', finished_at = now(), updated_at = now(), blob = ${p.blob}, size = ${p.size},
           row_count = ${p.row_count}, project_ids = ${p.project_ids}
     where id = ${p.id} and status = 'running' and created_at > now() - ${LIFETIME}`,
)
/** For good, or to be run again. */
const giveUp = statement(
  (p: Slots<{ id: number; attempts: number; final: boolean }>) => sql<{ status: string }>`
    update vulnerability_exports
       set status = case when ${p.final}::boolean or attempts >= ${p.attempts} then 'failed' else 'created' end,
           started_at = case when ${p.final}::boolean or attempts >= ${p.attempts} then started_at end,
           finished_at = case when ${p.final}::boolean or attempts >= ${p.attempts} then now() end, updated_at = now()
     where id = ${p.id} and status = 'running' returning status`,
)

interface Finished {
  readonly blob: string
  readonly size: number
  readonly row_count: number
  readonly project_ids: readonly number[]
}

/** The project or group of an export; without either, the projects on its author's security dashboard. */
export interface Scope {
  readonly author_id: number
  readonly project_id?: number
  readonly group_id?: number
}

/** Creates an export and asks for the job that makes its file. Call inside a transaction. */
export async function createExport(tx: Db, scope: Scope): Promise<VulnerabilityExport> {
  const { author_id, project_id = null, group_id = null } = scope
  const row = await tx.insert(insertStatement, { author_id, project_id, group_id })
  await enqueue(tx, exportVulnerabilities, { id: row.id }, `export_vulnerabilities ${row.id}`)
  return row
}

/**
 * Makes the file of an export. A process that is killed leaves the export `running`: its job is taken over and begins
 * anew. After three runs that did not end the export is `failed`.
 */
export const exportVulnerabilities: Job<{ id: number }> = {
  name: 'export_vulnerabilities',
  slow: true,
  run: async (instance, { id }) => {
    const { db } = instance
    const begun = await db.one(begin, { id, attempts: MAX_ATTEMPTS })
    if (begun?.status !== 'running') return
    try {
      await db.run(finish, { id, ...(await writeFile(instance, id)) })
    } catch (error) {
      const final = error instanceof BlobTooLarge
      const row = await db.one(giveUp, { id, attempts: MAX_ATTEMPTS, final })
      // The queue runs it again.
      if (row?.status === 'created') throw error
    }
  },
}

const NEWLINE = 0x0a
/** Lines that end in a chunk: cells hold no line breaks, so that each is a row. */
function linesIn(chunk: Buffer): number {
  let lines = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}

async function writeFile(instance: Instance, id: number): Promise<Finished> {
  const { db, blobs } = instance
  const project_ids = await projectsOf(instance, id)
  // The header is no row.
  let row_count = -1
  async function* csv(): AsyncGenerator<Buffer> {
    let noted = 0
    for await (const chunk of db.copy(exportedRows(project_ids))) {
      yield chunk
      row_count += linesIn(chunk)
      if (row_count < noted + NOTED) continue
      noted = row_count
      await db.run(noteRows, { id, row_count })
    }
  }
  const { sha256, size } = await blobs.write(csv(), { limit: MAX_SIZE })
  return { blob: sha256, size, row_count, project_ids }
}
