import { sql, type RawBuilder } from 'kysely'
import { mine, seesProject, role, type Caller, type CallerSlots } from '../../core/sight/callers.ts'
import { ROLES, below } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import type { PackageFile } from '../../db/schema/packages.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { ListedPackage, VersionRow } from './entity.ts'

export const ORDERS = ['created_at', 'name', 'version', 'type'] as const
const COLUMNS = {
  created_at: sql`k.created_at`,
  name: sql`k.name`,
  version: sql`k.version`,
  type: sql`k.package_type`,
  project_path: sql`p.full_path`,
} as const

export interface ListShape {
  readonly order_by: keyof typeof COLUMNS
  readonly sort: 'asc' | 'desc'
  readonly include_versionless: boolean
}
export interface ListValues {
  readonly package_type: string | null
  readonly package_name: string | null
  readonly package_version: string | null
  readonly status: string | null
  readonly limit: number
  readonly offset: number
}

const tags = sql`
  coalesce((select json_agg(json_build_object('name', t.name, 'package_id', t.package_id,
                     'created_at', t.created_at, 'updated_at', t.updated_at) order by t.name)
              from package_tags t where t.package_id = k.id), '[]') as tags`

const matching = (p: Slots<ListValues>, shape: ListShape): RawBuilder<unknown> => sql`
      coalesce(k.package_type = ${p.package_type}, k.package_type <> 'terraform_module')
  and (${p.package_name}::text is null or position(lower(${p.package_name}) in lower(k.name)) > 0)
  and (${p.package_version}::text is null or k.version = ${p.package_version})
  and ${shape.include_versionless ? sql`(k.version is not null or ${p.package_version}::text is null)` : sql`k.version is not null`}
  and coalesce(k.status = ${p.status}, k.status in ('default', 'error', 'deprecated'))`

const ordered = ({ order_by, sort }: ListShape): RawBuilder<unknown> =>
  sort === 'desc' ? sql`${COLUMNS[order_by]} desc, k.id desc` : sql`${COLUMNS[order_by]}, k.id`

const ofProject = pageStatements<ListShape, ListValues & { project_id: number }, ListedPackage>(
  (p, shape) => {
    const from = sql`from packages k join projects p on p.id = k.project_id
                   where k.project_id = ${p.project_id} and ${matching(p, shape)}`
    return paged(
      sql`select k.*, p.full_path as project_path, ${tags} ${from}
         order by ${ordered(shape)} limit ${p.limit} offset ${p.offset}`,
      sql`select ${from}`,
    )
  },
)

interface GroupShape extends ListShape {
  readonly exclude_subgroups: boolean
  readonly everything: boolean
}
/** Whether the caller reads the packages of the project `p`. */
export const reads = (p: CallerSlots, everything: boolean): RawBuilder<unknown> => sql`
  ${seesProject(p, everything)} and coalesce((p.settings->>'packages_enabled')::boolean, true)
  and ${everything ? sql`true` : sql`(p.visibility <> 'private' or ${role} >= ${sql.lit(ROLES.reporter)})`}`

const ofGroup = pageStatements<GroupShape, ListValues & Caller & { group_id: number }, ListedPackage>(
  (p, shape) => {
    const homes = shape.exclude_subgroups
      ? sql`(select ${p.group_id}::bigint as id) d`
      : sql`(values (${p.group_id}::bigint)) g (id), ${below(sql`g.id`)} d`
    const from = sql`
      from ${homes} join namespaces n on n.id = d.id join projects p on p.namespace_id = n.id
      join packages k on k.project_id = p.id
     where ${reads(p, shape.everything)} and ${matching(p, shape)}`
    return paged(
      sql`select k.*, p.full_path as project_path, ${tags} ${from}
           order by ${ordered(shape)} limit ${p.limit} offset ${p.offset}`,
      sql`select ${from}`,
      mine(p),
    )
  },
)

export const listOfProject = (
  db: Db,
  shape: ListShape,
  values: ListValues & { project_id: number },
): Promise<Listed<ListedPackage>> => db.page(ofProject(shape), values)

export const listOfGroup = (
  db: Db,
  shape: GroupShape,
  values: ListValues & Caller & { group_id: number },
): Promise<Listed<ListedPackage>> => db.page(ofGroup(shape), values)

const single = statement(
  (p: Slots<{ project_id: number; id: number }>) => sql<ListedPackage>`
    select k.*, p.full_path as project_path, ${tags} from packages k join projects p on p.id = k.project_id
     where k.project_id = ${p.project_id} and k.id = ${p.id}`,
)
export const findListed = (db: Db, projectId: number, id: number): Promise<ListedPackage | undefined> =>
  db.one(single, { project_id: projectId, id })

const others = statement(
  (p: Slots<{ project_id: number; package_type: string; name: string; id: number }>) => sql<VersionRow>`
    select k.id, k.version, k.created_at, ${tags} from packages k
     where k.project_id = ${p.project_id} and k.package_type = ${p.package_type} and k.name = ${p.name}
       and k.id <> ${p.id} and k.version is not null and k.status in ('default', 'error', 'deprecated')
     order by k.id desc limit 1000`,
)
/** The other versions of a package, newest first. */
export const listVersions = (
  db: Db,
  { project_id, package_type, name, id }: Pick<ListedPackage, 'project_id' | 'package_type' | 'name' | 'id'>,
): Promise<VersionRow[]> => db.rows(others, { project_id, package_type, name, id })

export const FILE_ORDERS = ['id', 'created_at', 'file_name'] as const
interface FileShape {
  readonly order_by: (typeof FILE_ORDERS)[number]
  readonly sort: 'asc' | 'desc'
}
const files = pageStatements<FileShape, { package_id: number; limit: number; offset: number }, PackageFile>(
  (p, { order_by, sort }) => {
    const direction = sort === 'desc' ? sql`desc` : sql`asc`
    return paged(
      sql`select * from package_files where package_id = ${p.package_id}
           order by ${sql.ref(order_by)} ${direction}, id ${direction} limit ${p.limit} offset ${p.offset}`,
      sql`select from package_files where package_id = ${p.package_id}`,
    )
  },
)
export const listFiles = (
  db: Db,
  shape: FileShape,
  values: { package_id: number; limit: number; offset: number },
): Promise<Listed<PackageFile>> => db.page(files(shape), values)
