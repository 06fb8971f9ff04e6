import { sql, type RawBuilder } from 'kysely'
import { namesUser } from '../../core/people/users.ts'
import type { Db } from '../../db/db.ts'
import type { User } from '../../db/schema/tables.ts'
import type { Profile } from '../../db/schema/people.ts'
import { type Listed, paged, pageStatements } from '../../db/pages.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { meaning } from '../../db/text.ts'
import { personOf, type Person } from '../../records/people/person.ts'

export const ORDERS = ['id', 'name', 'username', 'created_at', 'updated_at'] as const

/** Which users a list holds. What is true leaves others out. */
export interface Filters {
  readonly username?: string | undefined
  readonly search?: string | undefined
  readonly public_email?: string | undefined
  readonly created_after?: string | undefined
  readonly created_before?: string | undefined
  readonly active?: boolean | undefined
  readonly exclude_active?: boolean | undefined
  readonly blocked?: boolean | undefined
  readonly humans?: boolean | undefined
  readonly exclude_humans?: boolean | undefined
  readonly exclude_internal?: boolean | undefined
  readonly external?: boolean | undefined
  readonly exclude_external?: boolean | undefined
  readonly admins?: boolean | undefined
  readonly without_projects?: boolean | undefined
  readonly without_project_bots?: boolean | undefined
  /** With `provider`. */
  readonly extern_uid?: string | undefined
  readonly provider?: string | undefined
}
const FILTERS = [
  ...(['username', 'search', 'public_email', 'created_after', 'created_before', 'active'] as const),
  ...(['exclude_active', 'blocked', 'humans', 'exclude_humans', 'exclude_internal', 'external'] as const),
  ...(['exclude_external', 'admins', 'without_projects', 'without_project_bots', 'extern_uid'] as const),
] satisfies Exclude<keyof Filters, 'provider'>[]
type Filter = Exclude<keyof Filters, 'provider'>
export interface ListShape {
  readonly having: readonly Filter[]
  readonly order: (typeof ORDERS)[number]
  readonly desc: boolean
  /** Administrators find users by addresses that others do not see. */
  readonly anyEmail: boolean
  /** Whether an address is searched for, or a name: the whole or a part, as the pattern says. */
  readonly by: 'address' | 'name'
}
interface Values {
  readonly username: string
  readonly search: string
  readonly pattern: string
  readonly public_email: string
  readonly created_after: string
  readonly created_before: string
  readonly extern_uid: string
  readonly provider: string
  readonly limit: number
  readonly offset: number
}

const condition = (
  p: Slots<Values>,
  { anyEmail, by }: Pick<ListShape, 'anyEmail' | 'by'>,
): Readonly<Record<Filter, RawBuilder<unknown>>> => ({
  username: sql`lower(u.username) = lower(${p.username})`,
  search:
    by === 'address'
      ? sql`u.id = any(array(select id from users where lower(public_email) = lower(${p.search})
        ${anyEmail ? sql`union select user_id from user_emails where lower(email) = lower(${p.search})` : sql``}))`
      : namesUser(p.pattern),
  public_email: sql`lower(u.public_email) = lower(${p.public_email})`,
  created_after: sql`u.created_at > ${p.created_after}::timestamptz`,
  created_before: sql`u.created_at < ${p.created_before}::timestamptz`,
  active: sql`u.state = 'active' and u.user_type not in ('ghost', 'alert_bot')`,
  exclude_active: sql`u.state <> 'active'`,
  blocked: sql`u.state = 'blocked'`,
  humans: sql`u.user_type = 'human'`,
  exclude_humans: sql`u.user_type <> 'human'`,
  exclude_internal: sql`u.user_type not in ('ghost', 'alert_bot')`,
  external: sql`u.external`,
  exclude_external: sql`not u.external`,
  admins: sql`u.admin`,
  without_projects: sql`not exists (
    select from members m where m.user_id = u.id and m.project_id is not null)
    and not exists (select from namespaces h join projects hp on hp.namespace_id = h.id where h.owner_id = u.id)`,
  without_project_bots: sql`u.user_type <> 'project_bot'`,
  extern_uid: sql`u.id in (select i.user_id from user_identities i
    where i.provider = ${p.provider} and lower(i.extern_uid) = lower(${p.extern_uid}))`,
})

/** How many users such a filter leaves depends on its value: these lists are planned for their values each time. */
const isFiltered = ({ having }: ListShape): boolean =>
  (['search', 'created_after', 'created_before'] as const).some((name) => having.includes(name))

const listStatement = pageStatements<ListShape, Values, Person>((p, shape) => {
  const all = condition(p, shape)
  const where = sql.join([sql`true`, ...shape.having.map((name) => all[name])], sql` and `)
  const way = shape.desc ? sql`desc` : sql`asc`
  const order = shape.order === 'id' ? sql`u.id ${way}` : sql`u.${sql.ref(shape.order)} ${way}, u.id ${way}`
  const page = sql`select u.* from users u where ${where} order by ${order} limit ${p.limit} offset ${p.offset}`
  return paged(sql<Person>`${personOf(page)} order by ${order}`, sql`select from users u where ${where}`)
}, isFiltered)

export async function list(
  db: Db,
  filters: Filters,
  shape: Pick<ListShape, 'order' | 'desc' | 'anyEmail'>,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<Person>> {
  const having = FILTERS.filter(
    (name) => filters[name] !== undefined && filters[name] !== false && filters[name] !== '',
  )
  const { username = '', search = '', public_email = '' } = filters
  const { created_after = '', created_before = '', extern_uid = '', provider = '' } = filters
  const texts = { username, search, pattern: meaning(search), public_email }
  const by = search.includes('@') ? 'address' : 'name'
  const values = { ...texts, created_after, created_before, extern_uid, provider, ...page }
  return db.page(listStatement({ ...shape, having, by }), values)
}

const byId = statement((p: Slots<{ id: number }>) => personOf(sql`select * from users where id = ${p.id}`))
export const find = (db: Db, id: number): Promise<Person | undefined> => db.one(byId, { id })

/** Null keeps a column; so do absent fields of the profile. */
export interface Changes {
  readonly username: string | null
  readonly name: string | null
  readonly email: string | null
  readonly confirmed: boolean
  readonly admin: boolean | null
  readonly external: boolean | null
  readonly private_profile: boolean | null
  readonly clears_avatar: boolean
  readonly can_create_group: boolean | null
  readonly projects_limit: number | null
  /** '' takes it away. */
  readonly note: string | null
  readonly public_email: string | null
  readonly profile: Profile
}
const updateStatement = statement(
  (p: Slots<Omit<Changes, 'profile'> & { id: number; profile: string }>) => sql<User>`
    update users set
      username = coalesce(${p.username}, username), name = coalesce(${p.name}, name),
      email = coalesce(${p.email}, email),
      confirmed_at = case when ${p.email}::text is null or lower(${p.email}::text) = lower(email) then confirmed_at
                          when ${p.confirmed}::boolean then now() end,
      admin = coalesce(${p.admin}, admin), external = coalesce(${p.external}, external),
      private_profile = coalesce(${p.private_profile}, private_profile),
      can_create_group = coalesce(${p.can_create_group}, can_create_group),
      projects_limit = coalesce(${p.projects_limit}, projects_limit),
      note = nullif(coalesce(${p.note}, note), ''),
      public_email = nullif(coalesce(${p.public_email}, public_email), ''),
      avatar_url = case when ${p.clears_avatar} then null else avatar_url end,
      profile = profile || ${p.profile}::jsonb, updated_at = now()
     where id = ${p.id}
    returning *`,
)
const renameNamespace = statement(
  (p: Slots<{ id: number }>) => sql`
    update namespaces n
       set name = u.name, full_name = u.name, path = u.username, full_path = u.username, updated_at = now()
      from users u
     where u.id = ${p.id} and n.owner_id = u.id and (n.path, n.name) is distinct from (u.username, u.name)`,
)
const renameProjects = statement(
  (p: Slots<{ id: number }>) => sql`
    update projects p set full_path = n.full_path || '/' || p.path
      from namespaces n
     where n.owner_id = ${p.id} and p.namespace_id = n.id and p.full_path <> n.full_path || '/' || p.path`,
)

/** Changes a user; namespace and projects follow the name. Call inside a transaction. */
export async function update(db: Db, id: number, changes: Changes): Promise<void> {
  const { profile, clears_avatar, confirmed: _confirmed, ...values } = changes
  const isEmpty = Object.values(values).every((value) => value === null)
  if (isEmpty && !clears_avatar && Object.keys(profile).length === 0) return
  await db.run(updateStatement, { ...changes, id, profile: JSON.stringify(changes.profile) })
  if (changes.username === null && changes.name === null) return
  await db.run(renameNamespace, { id })
  await db.run(renameProjects, { id })
}

const setStateStatement = statement(
  (p: Slots<{ id: number; state: User['state'] }>) => sql`
    update users set state = ${p.state}, updated_at = now() where id = ${p.id}`,
)
export const setState = (db: Db, id: number, state: User['state']): Promise<number> =>
  db.run(setStateStatement, { id, state })

const ownsEmail = statement(
  (p: Slots<{ user_id: number; email: string }>) => sql<{ id: number }>`
    select id from user_emails
     where user_id = ${p.user_id} and lower(email) = lower(${p.email}) and confirmed_at is not null`,
)
export const hasEmail = async (db: Db, userId: number, email: string): Promise<boolean> =>
  (await db.one(ownsEmail, { user_id: userId, email })) !== undefined
