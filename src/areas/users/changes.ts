import { Type as t } from 'typebox'
import { noAvatar } from '../../http/params/schema.ts'
import type { Changes } from './store.ts'

const line = t.Optional(t.String({ maxLength: 500 }))
const PROFILE = [
  ...(['bio', 'location', 'linkedin', 'twitter', 'discord', 'github'] as const),
  ...(['website_url', 'organization', 'job_title', 'pronouns'] as const),
]

/** Fields of a user that administrators set, beside name and address. */
export const userParams = {
  password: t.Optional(t.String({ description: 'Opens the console; a new one ends the sessions there' })),
  bio: t.Optional(t.String()),
  location: line,
  linkedin: line,
  twitter: line,
  discord: line,
  github: line,
  website_url: line,
  organization: line,
  job_title: line,
  pronouns: line,
  projects_limit: t.Optional(t.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  admin: t.Optional(t.Boolean()),
  can_create_group: t.Optional(t.Boolean()),
  external: t.Optional(t.Boolean()),
  private_profile: t.Optional(t.Boolean()),
  note: t.Optional(t.String({ maxLength: 100_000 })),
  public_email: t.Optional(t.String()),
  avatar: noAvatar,
  extern_uid: t.Optional(t.String({ maxLength: 255, description: 'What `provider` calls the user' })),
  provider: t.Optional(t.String({ maxLength: 255 })),
}

type Given = Readonly<
  Partial<Record<(typeof PROFILE)[number] | 'note' | 'public_email', string | undefined>>
> & {
  readonly username?: string | undefined
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly skip_reconfirmation?: boolean | undefined
  readonly admin?: boolean | undefined
  readonly external?: boolean | undefined
  readonly private_profile?: boolean | undefined
  readonly can_create_group?: boolean | undefined
  readonly projects_limit?: number | undefined
  readonly avatar?: string | null | undefined
}

/** New values of a user. */
export const changesFrom = (given: Given): Changes => ({
  username: given.username ?? null,
  name: given.name ?? null,
  email: given.email ?? null,
  confirmed: given.skip_reconfirmation ?? true,
  admin: given.admin ?? null,
  external: given.external ?? null,
  private_profile: given.private_profile ?? null,
  can_create_group: given.can_create_group ?? null,
  projects_limit: given.projects_limit ?? null,
  note: given.note ?? null,
  public_email: given.public_email ?? null,
  clears_avatar: given.avatar !== undefined,
  profile: Object.fromEntries(
    PROFILE.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  ),
})
