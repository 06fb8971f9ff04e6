import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { User } from '../../db/schema/tables.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import { UserBasic, presentUser } from './user.ts'
import type { Instance } from '../../instance.ts'

const text = nullable(t.String())

/** A user as others see one. */
const publicly = {
  ...UserBasic.properties,
  created_at: moment(),
  bio: text,
  location: text,
  public_email: text,
  linkedin: text,
  twitter: text,
  discord: text,
  github: text,
  website_url: text,
  organization: text,
  job_title: text,
  pronouns: text,
  bot: t.Boolean(),
  work_information: text,
  skype: text,
  followers: t.Integer(),
  following: t.Integer(),
  is_followed: t.Boolean(),
  local_time: text,
}
/** Further fields for the user's own record. */
const privately = {
  email: t.String(),
  commit_email: t.String(),
  confirmed_at: nullable(moment()),
  last_activity_on: nullable(t.Unsafe<string>({ type: 'string', format: 'date' })),
  last_sign_in_at: nullable(moment()),
  current_sign_in_at: nullable(moment()),
  projects_limit: t.Integer(),
  can_create_group: t.Boolean(),
  can_create_project: t.Boolean(),
  two_factor_enabled: t.Boolean(),
  external: t.Boolean(),
  private_profile: t.Boolean(),
  identities: t.Array(t.Object({ provider: t.String(), extern_uid: t.String() })),
}
/** Fields for administrators. */
const secretly = {
  is_admin: t.Boolean(),
  note: text,
  namespace_id: nullable(t.Integer()),
  created_by: nullable(UserBasic),
}
export const OwnUser = t.Object({
  ...publicly,
  ...privately,
  ...t.Partial(t.Object(secretly)).properties,
})
export const FullUser = t.Object({ ...publicly, ...privately, ...secretly })
/** As much of a user as the viewer may see. */
export const SomeUser = t.Object({
  ...UserBasic.properties,
  ...t.Partial(t.Object({ ...publicly, ...privately, ...secretly })).properties,
})

/** A user's row with what hangs on it; `person` selects it. */
export type Person = User & {
  readonly namespace_id: number | null
  readonly projects_count: number
  readonly last_activity_on: string | null
  readonly created_by: Static<typeof UserBasic> | null
  readonly identities: Static<typeof OwnUser>['identities']
}

/** The columns of a Person, for the rows `users`, named `u` outside. */
export const personOf = (users: RawBuilder<unknown>): RawBuilder<Person> => sql`
  select u.*, n.id as namespace_id,
         (select count(*)::int from projects p where p.namespace_id = n.id) as projects_count,
         (select (max(t.last_used_at) at time zone 'utc')::date from personal_access_tokens t
           where t.user_id = u.id) as last_activity_on,
         (select json_build_object('id', c.id, 'username', c.username, 'name', c.name, 'state', c.state,
                                   'avatar_url', c.avatar_url) from users c where c.id = u.created_by_id) as created_by,
         (select coalesce(json_agg(json_build_object('provider', i.provider, 'extern_uid', i.extern_uid) order by i.id), '[]')
            from user_identities i where i.user_id = u.id) as identities
    from (${users}) u left join namespaces n on n.owner_id = u.id`

type Place = Pick<Instance, 'config'>

export function presentPublicly(user: User, place: Place): Omit<Static<typeof SomeUser>, 'email'> {
  const { profile } = user
  const {
    bio,
    location,
    linkedin,
    twitter,
    discord,
    github,
    website_url,
    organization,
    job_title,
    pronouns,
  } = profile
  const work = [job_title, organization].filter((part) => part !== undefined && part !== '')
  return {
    ...presentUser(user, place),
    created_at: user.created_at,
    bio: bio ?? '',
    location: location ?? null,
    public_email: user.public_email,
    linkedin: linkedin ?? '',
    twitter: twitter ?? '',
    discord: discord ?? '',
    github: github ?? '',
    website_url: website_url ?? '',
    organization: organization ?? null,
    job_title: job_title ?? '',
    pronouns: pronouns ?? null,
    bot: user.user_type === 'project_bot' || user.user_type === 'alert_bot',
    work_information: work.length === 0 ? null : work.join(' at '),
    // Clients read these of every user, and fail where they are not there; nothing here gives them another value.
    skype: '',
    followers: 0,
    following: 0,
    is_followed: false,
    local_time: null,
  }
}

export function presentPrivately(user: Person, place: Place): Static<typeof OwnUser> {
  return {
    ...(presentPublicly(user, place) as Static<typeof OwnUser>),
    email: user.email,
    commit_email: user.email,
    confirmed_at: user.confirmed_at,
    last_activity_on: user.last_activity_on,
    // Passwords open nothing here: all callers use tokens.
    last_sign_in_at: null,
    current_sign_in_at: null,
    projects_limit: user.projects_limit,
    // Outsiders make nothing of their own.
    can_create_group: user.can_create_group && !user.external,
    can_create_project: user.projects_limit > user.projects_count && !user.external,
    // There is no second factor yet.
    two_factor_enabled: false,
    external: user.external,
    private_profile: user.private_profile,
    identities: user.identities,
  }
}

export const presentFully = (user: Person, place: Place): Static<typeof FullUser> => ({
  ...presentPrivately(user, place),
  is_admin: user.admin,
  note: user.note,
  namespace_id: user.namespace_id,
  created_by: user.created_by === null ? null : presentUser(user.created_by, place),
})
