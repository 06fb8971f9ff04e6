import { randomBytes } from 'node:crypto'
import * as tokens from '../../src/access/tokens.ts'
import { createWithRepository } from '../../src/core/pushes/import.ts'
import * as groups from '../../src/core/places/groups.ts'
import * as members from '../../src/core/people/members.ts'
import * as projects from '../../src/core/places/projects.ts'
import { ROLES, type RoleName } from '../../src/core/sight/roles.ts'
import * as users from '../../src/core/people/users.ts'
import type { Namespace, Project, User } from '../../src/db/schema/tables.ts'
import type { Visibility } from '../../src/db/schema/columns.ts'
import type { Instance } from '../../src/instance.ts'

/** A user with a token that may do everything the user may. */
export type Someone = User & { readonly token: string }

type Place = { readonly group: { readonly id: number } } | { readonly project: { readonly id: number } }

export interface Makers {
  user(options?: Partial<users.NewUser>): Promise<Someone>
  admin(): Promise<Someone>
  token(user: { id: number }, options?: Partial<tokens.NewToken>): Promise<string>
  group(options?: {
    parent?: Namespace
    visibility?: Visibility
    path?: string
    name?: string
  }): Promise<Namespace>
  /** Without a repository, unless `repository` says 'empty' or names a source. */
  project(options?: {
    group?: Namespace
    visibility?: Visibility
    path?: string
    name?: string
    repository?: string
  }): Promise<Project>
  member(user: { id: number }, role: RoleName, place: Place, expiresAt?: string): Promise<void>
  /** A user who holds that role on the place. */
  memberOf(role: RoleName, place: Place): Promise<Someone>
  /** Runs SQL as it is, for what has no maker yet. */
  sql(text: string): Promise<void>
}

const fresh = (word: string): string => `${word}-${randomBytes(4).toString('hex')}`

/** Makes records with nothing to say but what a test cares about. */
export function createMakers(instance: Instance): Makers {
  const { db, vault } = instance
  const make: Makers = {
    user: async (options = {}) => {
      const username = options.username ?? fresh('user')
      const values = { username, name: username, email: `${username}@example.com`, admin: false, ...options }
      const user = await db.transaction((tx) => users.create(tx, values))
      return { ...user, token: await make.token(user) }
    },
    admin: () => make.user({ admin: true }),
    token: async (user, options = {}) => {
      const token = options.token ?? tokens.makeToken('glpat-')
      const scopes = ['api', 'sudo'] as const
      await tokens.create(db, { user_id: user.id, name: 'test', token, scopes, expires_at: null, ...options })
      return token
    },
    group: ({ parent, visibility = 'private', path = fresh('group'), name = path } = {}) =>
      db.transaction((tx) =>
        groups.create(tx, { parent, visibility, path, name, runners_token: vault.seal('GR1348941-runner') }),
      ),
    project: async ({
      group,
      visibility = 'private',
      path = fresh('project'),
      name = path,
      repository,
    } = {}) => {
      const namespace = group ?? (await make.group({ visibility: 'public' }))
      const values = { namespace, creator_id: null, name, path, visibility }
      if (repository === undefined) {
        const id = await projects.takeId(instance)
        return db.transaction((tx) => projects.create(tx, { ...values, id, default_branch: null }))
      }
      return createWithRepository(instance, values, repository === 'empty' ? undefined : { from: repository })
    },
    member: async (user, role, place, expires_at) => {
      const member = { user_id: user.id, access_level: ROLES[role], expires_at: expires_at ?? null }
      await ('group' in place
        ? members.setInGroup(db, { ...member, namespace_id: place.group.id })
        : members.setInProject(db, { ...member, project_id: place.project.id }))
    },
    memberOf: async (role, place) => {
      const user = await make.user()
      await make.member(user, role, place)
      return user
    },
    sql: (text) => db.script(text),
  }
  return make
}
