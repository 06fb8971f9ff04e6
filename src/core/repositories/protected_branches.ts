import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { ROLES } from '../sight/roles.ts'
import type { Settings } from '../settings/settings.ts'

/** Rights to change a protected branch. A level of 0 admits only the users it names, 60 only administrators. */
export interface PushRule {
  readonly push: number
  readonly merge: number
  /** Users who may, whatever their level: Developers at least. */
  readonly pushers: readonly number[]
  readonly mergers: readonly number[]
  readonly allowForcePush: boolean
}

interface Protection {
  readonly name: string
  readonly allow_force_push: boolean
  readonly push: number[]
  readonly merge: number[]
  readonly pushers: number[]
  readonly mergers: number[]
}

const protections = statement(
  (p: Slots<{ project_id: number }>) => sql<{ found: Protection[] }>`
    select coalesce(json_agg(json_build_object('name', b.name, 'allow_force_push', b.allow_force_push,
             'push', l.push, 'merge', l.merge, 'pushers', l.pushers, 'mergers', l.mergers)), '[]') as found
      from protected_branches b,
           lateral (select coalesce(json_agg(access_level) filter (where action = 'push' and user_id is null), '[]') as push,
                           coalesce(json_agg(access_level) filter (where action = 'merge' and user_id is null), '[]') as merge,
                           coalesce(json_agg(user_id) filter (where action = 'push' and user_id is not null), '[]') as pushers,
                           coalesce(json_agg(user_id) filter (where action = 'merge' and user_id is not null), '[]') as mergers
                      from protected_branch_levels where protected_branch_id = b.id) l
     where b.project_id = ${p.project_id}`,
)

/**
 * The rules of a project's branches as they stand now: the function tells what holds for one branch, undefined for a
 * branch that nothing protects. Where several names match, each right is that of the most permissive, as published.
 */
export async function pushRules(
  db: Db,
  project: { readonly id: number },
): Promise<(branch: string) => PushRule | undefined> {
  const { found = [] } = (await db.one(protections, { project_id: project.id })) ?? {}
  return (branch) => {
    const holding = found.filter(({ name }) => matches(name, branch))
    if (holding.length === 0) return undefined
    return {
      push: lowest(holding.flatMap(({ push }) => push)),
      merge: lowest(holding.flatMap(({ merge }) => merge)),
      pushers: holding.flatMap(({ pushers }) => pushers),
      mergers: holding.flatMap(({ mergers }) => mergers),
      allowForcePush: holding.some(({ allow_force_push }) => allow_force_push),
    }
  }
}

/** The least level that is let in; 0 when none is. */
const lowest = (levels: readonly number[]): number => {
  const open = levels.filter((level) => level > 0)
  return open.length === 0 ? 0 : Math.min(...open)
}

/** Whether `name`, in which `*` stands for any text, means `branch`. Takes time in proportion to both. */
export function matches(name: string, branch: string): boolean {
  const [first = '', ...rest] = name.split('*')
  const last = rest.pop()
  if (last === undefined) return name === branch
  if (!branch.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = branch.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return branch.length - last.length >= at && branch.endsWith(last)
}

export interface Holder {
  readonly id: number
  readonly role: number
  readonly admin: boolean
}

function mayBy(
  level: number | undefined,
  users: readonly number[] | undefined,
  { id, role, admin }: Holder,
): boolean {
  const writes = admin || role >= ROLES.developer
  if (level === undefined || (writes && users?.includes(id) === true)) return writes
  return level !== 0 && (admin || role >= level)
}

/** Whether who holds `role` may push into a branch under `rule`; without a rule every Developer may. */
export const mayPush = (rule: PushRule | undefined, holder: Holder): boolean =>
  mayBy(rule?.push, rule?.pushers, holder)

/** The same for merging. */
export const mayMerge = (rule: PushRule | undefined, holder: Holder): boolean =>
  mayBy(rule?.merge, rule?.mergers, holder)

/** The published kinds of protection that a default branch gets by itself. */
const DEFAULTS: Readonly<Record<number, { readonly push: number; readonly merge: number }>> = {
  1: { push: ROLES.developer, merge: ROLES.maintainer },
  2: { push: ROLES.maintainer, merge: ROLES.maintainer },
  3: { push: ROLES.maintainer, merge: ROLES.developer },
  4: { push: ROLES.maintainer, merge: ROLES.maintainer },
}
/** Lets Developers make the first commit, after which it protects like 2. */
const AFTER_FIRST_PUSH = 4

/** The rule of every branch in a repository without commits: the first one becomes the default branch. */
export function ruleWhileEmpty(settings: Settings): PushRule | undefined {
  const kind = settings.get('default_branch_protection')
  const levels = kind === AFTER_FIRST_PUSH ? undefined : DEFAULTS[kind]
  return levels && { ...levels, pushers: [], mergers: [], allowForcePush: false }
}

const protect = statement(
  (p: Slots<{ project_id: number; name: string; push: number; merge: number }>) => sql`
    with made as (
      insert into protected_branches (project_id, name) values (${p.project_id}, ${p.name})
      on conflict on constraint protected_branches_name_key do nothing
      returning id)
    insert into protected_branch_levels (protected_branch_id, action, access_level)
    select id, action, level from made, (values ('push', ${p.push}::smallint), ('merge', ${p.merge}::smallint)) l (action, level)`,
)

/** Protects the default branch as the instance's setting says, unless it is protected already. Call when its first commit is there. */
export async function protectDefaultBranch(
  db: Db,
  settings: Settings,
  project: { readonly id: number; readonly default_branch: string },
): Promise<void> {
  const levels = DEFAULTS[settings.get('default_branch_protection')]
  if (levels) await db.run(protect, { project_id: project.id, name: project.default_branch, ...levels })
}
