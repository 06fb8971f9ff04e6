import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { Package, PackageFile } from '../db/schema/packages.ts'
import { q, statement, type Slots } from '../db/statement.ts'
import type { PackageType } from './names.ts'

/** Statuses in which files are downloaded. */
const downloadable = sql`k.status in ('default', 'hidden', 'deprecated')`

const findStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.selectFrom('packages').selectAll().where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const find = (db: Db, projectId: number, id: number): Promise<Package | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

interface FileKey {
  readonly project_id: number
  readonly package_type: PackageType
  readonly name: string
  readonly version: string | null
  readonly file_name: string
}
const newestFile = statement(
  (p: Slots<FileKey>) => sql<PackageFile>`
    select f.* from packages k join package_files f on f.package_id = k.id
     where k.project_id = ${p.project_id} and k.package_type = ${p.package_type} and k.name = ${p.name}
       and coalesce(k.version, '') = coalesce(${p.version}, '') and f.file_name = ${p.file_name} and ${downloadable}
     order by f.id desc limit 1`,
)
/** The file of that name in a version; where there are several, the newest. */
export const findFile = (db: Db, key: FileKey): Promise<PackageFile | undefined> => db.one(newestFile, key)

type FileOfName = Omit<FileKey, 'version'>
const newestOfName = statement(
  (p: Slots<FileOfName>) => sql<PackageFile>`
    select f.* from packages k join package_files f on f.package_id = k.id
     where k.project_id = ${p.project_id} and k.package_type = ${p.package_type} and k.name = ${p.name}
       and f.file_name = ${p.file_name} and ${downloadable}
     order by f.id desc limit 1`,
)
/** The file of that name in any version. */
export const findFileOfName = (db: Db, key: FileOfName): Promise<PackageFile | undefined> =>
  db.one(newestOfName, key)

const noteDownload = statement(
  (p: Slots<{ id: number }>) => sql`
    update packages set last_downloaded_at = now()
     where id = ${p.id} and (last_downloaded_at is null or last_downloaded_at < now() - interval '1 minute')`,
)
/** Notes that a file of the package was downloaded, at most once a minute. */
export const markDownloaded = (db: Db, packageId: number): Promise<number> =>
  db.run(noteDownload, { id: packageId })

const removeStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('packages').where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const remove = (db: Db, projectId: number, id: number): Promise<void> =>
  db.remove(removeStatement, { project_id: projectId, id })

const findFileStatement = statement((p: Slots<{ package_id: number; id: number }>) =>
  q.selectFrom('package_files').selectAll().where('package_id', '=', p.package_id).where('id', '=', p.id),
)
export const findFileById = (db: Db, packageId: number, id: number): Promise<PackageFile | undefined> =>
  db.one(findFileStatement, { package_id: packageId, id })

const removeFileStatement = statement((p: Slots<{ package_id: number; id: number }>) =>
  q.deleteFrom('package_files').where('package_id', '=', p.package_id).where('id', '=', p.id),
)
export const removeFile = (db: Db, packageId: number, id: number): Promise<void> =>
  db.remove(removeFileStatement, { package_id: packageId, id })
