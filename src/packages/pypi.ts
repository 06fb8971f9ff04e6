import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import { canonicalName } from './names.ts'

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/
// The pattern of PEP 440, appendix B.
const VERSION =
  /^v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i
const FILE_NAME = /^[\w.+!-]+$/
const MAX = 255

export const isPypiName = (name: string): boolean => name.length <= MAX && NAME.test(name)
export const isPypiVersion = (version: string): boolean => version.length <= MAX && VERSION.test(version)
export const isPypiFileName = (name: string): boolean => name.length <= MAX && FILE_NAME.test(name)

const spelling = statement(
  (p: Slots<{ project_id: number; canonical: string }>) => sql<{ name: string }>`
    select name from packages
     where project_id = ${p.project_id} and package_type = 'pypi' and canonical_name = ${p.canonical}
     order by id limit 1`,
)
/** The spelling of a name that its first upload chose: all versions of a package have it. */
export async function knownSpelling(db: Db, project: { readonly id: number }, name: string): Promise<string> {
  const row = await db.one(spelling, { project_id: project.id, canonical: canonicalName('pypi', name) })
  return row?.name ?? name
}
