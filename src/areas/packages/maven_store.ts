import { sql } from 'kysely'
import { mine, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import type { PackageFile } from '../../db/schema/packages.ts'
import { statements } from '../../db/statement.ts'
import type { MavenFile } from '../../packages/maven_path.ts'
import { packagesBelow, type Reader } from './group_scope.ts'
import { reads } from './list_store.ts'

interface Shape {
  readonly of: 'group' | 'instance'
  readonly everything: boolean
}
interface Values extends Caller, MavenFile {
  readonly group_id: number | null
}

// Of several projects the last upload counts. From the instance a package is found whose name is its project's path.
const files = statements<Shape, Values, PackageFile>((p, { of, everything }) => {
  const from = {
    group: packagesBelow(sql`values (${p.group_id}::bigint)`),
    instance: sql`
      projects p join namespaces n on n.id = p.namespace_id
      join packages k on k.project_id = p.id and lower(p.full_path) = lower(${p.name})`,
  }[of]
  return sql<PackageFile>`
    with ${mine(p)}
    select f.* from ${from} join package_files f on f.package_id = k.id
     where k.package_type = 'maven' and k.canonical_name = lower(${p.name}) and k.name = ${p.name}
       and coalesce(k.version, '') = coalesce(${p.version}, '') and f.file_name = ${p.file_name}
       and k.status in ('default', 'hidden', 'deprecated') and ${reads(p, everything)}
     order by f.id desc limit 1`
})

export const findInGroup = (
  db: Db,
  group: { readonly id: number },
  { everything, ...caller }: Reader,
  file: MavenFile,
): Promise<PackageFile | undefined> =>
  db.one(files({ of: 'group', everything }), { ...caller, ...file, group_id: group.id })

export const findInInstance = (
  db: Db,
  { everything, ...caller }: Reader,
  file: MavenFile,
): Promise<PackageFile | undefined> =>
  db.one(files({ of: 'instance', everything }), { ...caller, ...file, group_id: null })
