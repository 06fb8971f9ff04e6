import { sql } from 'kysely'
import type { Digests } from '../blobs/digests.ts'
import { storageMet, type StorageMet } from '../core/places/namespace_storage.ts'
import { limitOf, type Limit } from '../core/settings/plan_limits.ts'
import type { Db } from '../db/db.ts'
import type { Package, PackageFile } from '../db/schema/packages.ts'
import { statement, type Slots } from '../db/statement.ts'
import { jsonText } from './metadata_text.ts'
import { canonicalName, type PackageType } from './names.ts'
import { isProtected } from './protection.ts'

/** A version to publish: its publisher, project, type and name. */
export interface Publication {
  readonly project: { readonly id: number; readonly role: number; readonly traversal_ids: readonly number[] }
  readonly actor: { readonly id: number; readonly admin: boolean } | null
  /** The job whose token publishes. */
  readonly jobId: number | null
  readonly type: PackageType
  readonly name: string
  readonly version: string | null
  readonly status?: 'default' | 'hidden' | 'error'
  readonly metadata?: Readonly<Record<string, unknown>>
  /** The root namespace below which the version may exist once. */
  readonly uniqueBelow?: number | null
}

/** A rule keeps the actor from pushing a package of that name. */
export class PackageProtected extends Error {}
/** The root namespace is full. */
export class StorageFull extends Error {
  readonly met: StorageMet
  constructor(met: StorageMet) {
    super(`${met.limit} is ${met.mebibytes} MiB`)
    this.met = met
  }
}

/** The limit of the plan on files of each type. */
export const FILE_LIMITS = {
  generic: 'generic_packages_max_file_size',
  npm: 'npm_max_file_size',
  pypi: 'pypi_max_file_size',
  maven: 'maven_max_file_size',
} as const satisfies Partial<Record<PackageType, Limit>>
export type RegistryType = keyof typeof FILE_LIMITS

/** Bytes that a file of the type may have. As published, a file of exactly the plan's limit is too large. */
export const maxFileBytes = async (
  db: Db,
  project: { readonly traversal_ids: readonly number[] },
  type: RegistryType,
): Promise<number> => (await limitOf(db, project, FILE_LIMITS[type])) - 1

/** Throws `PackageProtected` where a rule keeps the actor from pushing. */
export async function checkProtection(
  db: Db,
  publication: Pick<Publication, 'project' | 'actor' | 'type' | 'name'>,
): Promise<void> {
  if (await isProtected(db, 'push', publication)) throw new PackageProtected()
}

interface Inserted {
  readonly project_id: number
  readonly package_type: PackageType
  readonly name: string
  readonly canonical_name: string
  readonly version: string | null
  readonly status: string
  readonly metadata: string
  readonly unique_below: number | null
  readonly creator_id: number | null
}
const columns = sql`project_id, package_type, name, canonical_name, version, status, metadata, unique_below, creator_id`
const values = (p: Slots<Inserted>) => sql`
  ${p.project_id}, ${p.package_type}, ${p.name}, ${p.canonical_name}, ${p.version}, ${p.status},
  ${p.metadata}::jsonb, ${p.unique_below}, ${p.creator_id}`
const insertNew = statement(
  (p: Slots<Inserted>) => sql<Package>`insert into packages (${columns}) values (${values(p)}) returning *`,
)
// Waits for whoever creates the same version just now: its files then join that package.
const insertOrFind = statement(
  (p: Slots<Inserted>) => sql<Package>`
    insert into packages as k (${columns}) values (${values(p)})
      on conflict (project_id, package_type, name, coalesce(version, '')) do update
        set updated_at = now(), status = excluded.status,
            metadata = case when k.metadata = '{}' then excluded.metadata else k.metadata end
    returning *`,
)

const recordPipeline = statement(
  (p: Slots<{ package_id: number; job_id: number }>) => sql`
    insert into package_pipelines (package_id, pipeline_id)
    select ${p.package_id}, pipeline_id from ci_jobs where id = ${p.job_id} on conflict do nothing`,
)

/**
 * The record of a version: a new one, or with `joins` the one that is there. Throws `PackageProtected`; without `joins`
 * violates `packages_version_key` or `packages_root_key` where the version exists.
 */
export async function openVersion(db: Db, publication: Publication, joins: boolean): Promise<Package> {
  await checkProtection(db, publication)
  const { project, actor, jobId, type, name, version, status = 'default', metadata = {} } = publication
  const pack = await db.insert(joins ? insertOrFind : insertNew, {
    project_id: project.id,
    package_type: type,
    name,
    canonical_name: canonicalName(type, name),
    version,
    status,
    metadata: jsonText(metadata),
    unique_below: publication.uniqueBelow ?? null,
    creator_id: actor?.id ?? null,
  })
  if (jobId !== null) await db.run(recordPipeline, { package_id: pack.id, job_id: jobId })
  return pack
}

const insertFile = statement(
  (
    p: Slots<{
      package_id: number
      project_id: number
      file_name: string
      size: number
      md5: string
      sha1: string
      sha256: string
      is_unique: boolean
      metadata: string
    }>,
  ) => sql<PackageFile>`
    insert into package_files
      (package_id, project_id, file_name, size, file_md5, file_sha1, file_sha256, is_unique, metadata)
    values (${p.package_id}, ${p.project_id}, ${p.file_name}, ${p.size}, ${p.md5}, ${p.sha1}, ${p.sha256},
            ${p.is_unique}, ${p.metadata}::jsonb) returning *`,
)

export interface NewFile {
  readonly file_name: string
  readonly blob: Digests
  /** Whether the package may have that file name once. */
  readonly isUnique?: boolean
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface AddedFile {
  readonly file: PackageFile
  /** Set once the root namespace holds more than the limit at which its people are told. */
  readonly met: StorageMet | undefined
}

/** Adds a file, whose bytes are in the blob store. Throws `StorageFull`; may violate `package_files_name_key`. */
export async function addFile(
  db: Db,
  { project }: Pick<Publication, 'project'>,
  { id: package_id }: Pick<Package, 'id'>,
  { file_name, blob, isUnique = false, metadata = {} }: NewFile,
): Promise<AddedFile> {
  const met = await storageMet(db, project, blob.size)
  if (met?.refuses) throw new StorageFull(met)
  const file = await db.insert(insertFile, {
    package_id,
    project_id: project.id,
    file_name,
    size: blob.size,
    md5: blob.md5,
    sha1: blob.sha1,
    sha256: blob.sha256,
    is_unique: isUnique,
    metadata: jsonText(metadata),
  })
  return { file, met }
}
