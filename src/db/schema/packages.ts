import type { Generated, Selectable } from 'kysely'
import type { Id, Json, Time, Times } from './columns.ts'

/** The tables of package registries. */
export interface PackageTables {
  packages: PackageTable
  package_files: PackageFileTable
  package_tags: PackageTagTable
  package_pipelines: { package_id: number; pipeline_id: number }
  project_storage: ProjectStorageTable
  package_protection_rules: PackageProtectionRuleTable
}

/** The package types that the interface knows. */
export type PackageType =
  | 'maven'
  | 'npm'
  | 'conan'
  | 'nuget'
  | 'pypi'
  | 'composer'
  | 'generic'
  | 'golang'
  | 'debian'
  | 'rubygems'
  | 'helm'
  | 'terraform_module'
  | 'rpm'
  | 'ml_model'

type ProtectionLevel = 'maintainer' | 'owner' | 'admin'

interface PackageProtectionRuleTable extends Times {
  id: Id
  project_id: number
  package_name_pattern: string
  package_type: string
  minimum_access_level_for_push: ProtectionLevel
  minimum_access_level_for_delete: ProtectionLevel | null
}

export type PackageProtectionRule = Selectable<PackageProtectionRuleTable>

interface PackageTable extends Times {
  id: Id
  project_id: number
  package_type: PackageType
  name: string
  canonical_name: string
  version: string | null
  status: Generated<'default' | 'hidden' | 'processing' | 'error' | 'pending_destruction' | 'deprecated'>
  metadata: Json<Record<string, unknown>>
  unique_below: number | null
  creator_id: number | null
  last_downloaded_at: Date | null
}

interface PackageFileTable {
  id: Id
  package_id: number
  project_id: number
  file_name: string
  size: number
  file_md5: string | null
  file_sha1: string | null
  file_sha256: string
  is_unique: Generated<boolean>
  metadata: Json<Record<string, unknown>>
  created_at: Time
}

interface PackageTagTable extends Times {
  project_id: number
  package_name: string
  name: string
  package_id: number
}

interface ProjectStorageTable {
  project_id: number
  packages_size: Generated<number>
  artifacts_size: Generated<number>
}

export type Package = Selectable<PackageTable>
export type PackageFile = Selectable<PackageFileTable>
