import type { Generated, Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

export interface CiVariableTable extends Times {
  id: Id
  project_id: number | null
  group_id: number | null
  key: string
  sealed_value: Buffer
  variable_type: Generated<'env_var' | 'file'>
  protected: Generated<boolean>
  masked: Generated<boolean>
  hidden: Generated<boolean>
  raw: Generated<boolean>
  environment_scope: Generated<string>
  description: string | null
}

export type CiVariable = Selectable<CiVariableTable>
