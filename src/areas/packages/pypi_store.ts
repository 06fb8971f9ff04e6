import { sql, type RawBuilder } from 'kysely'
import { mine, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import type { PackageFile } from '../../db/schema/packages.ts'
import { statements, type Slots } from '../../db/statement.ts'
import { packagesBelow, type Reader } from './group_scope.ts'
import { reads } from './list_store.ts'

/** The registry of a project that the caller may read, or of a group's projects that it reads. */
export type Registry = { readonly project_id: number } | ({ readonly group_id: number } & Reader)

interface Shape {
  readonly of: 'project' | 'group'
  readonly everything: boolean
}
interface Values extends Caller {
  readonly parent_id: number
}

const split = (registry: Registry): { shape: Shape; values: Values } =>
  'project_id' in registry
    ? {
        shape: { of: 'project', everything: true },
        values: { parent_id: registry.project_id, user_id: null, open_to: [] },
      }
    : {
        shape: { of: 'group', everything: registry.everything },
        values: { parent_id: registry.group_id, user_id: registry.user_id, open_to: registry.open_to },
      }

/** The packages `k` of a registry, to begin a statement with. */
const selected = (
  p: Slots<Values>,
  { of, everything }: Shape,
  columns: RawBuilder<unknown>,
  joins = sql``,
) => {
  const served = sql`k.package_type = 'pypi' and k.status in ('default', 'deprecated')`
  return of === 'project'
    ? sql`select ${columns} from packages k ${joins} where k.project_id = ${p.parent_id} and ${served}`
    : sql`
        with ${mine(p)}
        select ${columns} from ${packagesBelow(sql`values (${p.parent_id}::bigint)`)} ${joins}
         where ${reads(p, everything)} and ${served}`
}

export interface PypiName {
  readonly canonical_name: string
  readonly name: string
}
const names = statements<Shape, Values, PypiName>((p, shape) => {
  const columns = sql`distinct on (k.canonical_name) k.canonical_name, k.name`
  return sql<PypiName>`${selected(p, shape, columns)} order by k.canonical_name, k.id`
})
export const listNames = (db: Db, registry: Registry): Promise<PypiName[]> => {
  const { shape, values } = split(registry)
  return db.rows(names(shape), values)
}

export interface PypiFile {
  readonly name: string
  readonly file_name: string
  readonly file_sha256: string
  readonly requires_python: string
}
const files = statements<Shape, Values & { canonical: string }, PypiFile>((p, shape) => {
  const columns = sql`
    k.name, f.file_name, f.file_sha256, coalesce(f.metadata->>'requires_python', '') as requires_python`
  const join = sql`join package_files f on f.package_id = k.id`
  return sql<PypiFile>`
    ${selected(p, shape, columns, join)} and k.canonical_name = ${p.canonical} order by f.id`
})
/** The files of all versions of a package, in the order of their uploads. */
export const listFiles = (db: Db, registry: Registry, canonical: string): Promise<PypiFile[]> => {
  const { shape, values } = split(registry)
  return db.rows(files(shape), { ...values, canonical })
}

interface FileKey {
  readonly sha256: string
  readonly file_name: string
}
const file = statements<Shape, Values & FileKey, PackageFile>((p, shape) => {
  const join = sql`join package_files f on f.package_id = k.id`
  return sql<PackageFile>`
    ${selected(p, shape, sql`f.*`, join)} and f.file_sha256 = ${p.sha256} and f.file_name = ${p.file_name}
     order by f.id desc limit 1`
})
export const findFile = (db: Db, registry: Registry, key: FileKey): Promise<PackageFile | undefined> => {
  const { shape, values } = split(registry)
  return db.one(file(shape), { ...values, ...key })
}
