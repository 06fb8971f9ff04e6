import type { Generated } from 'kysely'
import type { Id, Json, Time, Times } from './columns.ts'

/** Profile fields of people. */
export interface Profile {
  readonly bio?: string
  readonly location?: string
  readonly linkedin?: string
  readonly twitter?: string
  readonly discord?: string
  readonly github?: string
  readonly website_url?: string
  readonly organization?: string
  readonly job_title?: string
  readonly pronouns?: string
}

/** The status of a user; `clear_at` is when it ends. */
export interface UserStatus {
  readonly emoji?: string
  readonly message?: string
  readonly availability?: 'busy' | 'not_set'
  readonly clear_at?: string
}

export interface UserTable extends Times {
  id: Id
  username: string
  name: string
  email: string
  state: Generated<'active' | 'blocked' | 'deactivated'>
  user_type: Generated<'human' | 'project_bot' | 'ghost' | 'alert_bot'>
  admin: Generated<boolean>
  external: Generated<boolean>
  avatar_url: string | null
  public_email: string | null
  private_profile: Generated<boolean>
  note: string | null
  can_create_group: Generated<boolean>
  projects_limit: Generated<number>
  confirmed_at: Time | null
  created_by_id: number | null
  profile: Json<Profile>
  status: Json<UserStatus>
}

export interface UserEmailTable {
  id: Id
  user_id: number
  email: string
  is_primary: Generated<boolean>
  confirmed_at: Time | null
  created_at: Time
}

export interface ResourceBotTable {
  user_id: number
  namespace_id: number | null
  project_id: number | null
  access_level: number
}

export interface InvitationTable extends Times {
  id: Id
  namespace_id: number | null
  project_id: number | null
  email: string
  access_level: number
  expires_at: string | null
  token_digest: Buffer
  sealed_token: Buffer
  mailed_at: Time | null
  created_by_id: number | null
}

export interface MemberPromotionTable {
  id: Id
  user_id: number
  namespace_id: number | null
  project_id: number | null
  access_level: number
  expires_at: string | null
  requested_by_id: number | null
  created_at: Time
}

export interface DeployTokenTable {
  id: Id
  project_id: number | null
  namespace_id: number | null
  name: string
  username: string
  digest: Buffer
  scopes: string[]
  expires_at: Date | null
  revoked: Generated<boolean>
  created_at: Time
}
