import type { Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

type ProtectionLevel = 'maintainer' | 'owner' | 'admin'

export interface PackageProtectionRuleTable extends Times {
  id: Id
  project_id: number
  package_name_pattern: string
  package_type: string
  minimum_access_level_for_push: ProtectionLevel
  minimum_access_level_for_delete: ProtectionLevel | null
}

export type PackageProtectionRule = Selectable<PackageProtectionRuleTable>
