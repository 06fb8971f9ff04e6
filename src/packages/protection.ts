import { sql } from 'kysely'
import { ROLES } from '../core/sight/roles.ts'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import { canonicalName, type PackageType } from './names.ts'

/** The levels that a rule can ask for, and the access level that each takes; `admin` is an administrator of the instance. */
export const PROTECTION_LEVELS = { maintainer: ROLES.maintainer, owner: ROLES.owner, admin: 60 } as const
type ProtectionLevel = keyof typeof PROTECTION_LEVELS

const patterns = (column: 'minimum_access_level_for_push' | 'minimum_access_level_for_delete') =>
  statement(
    (p: Slots<{ project_id: number; package_type: string; levels: readonly ProtectionLevel[] }>) => sql<{
      package_name_pattern: string
    }>`
      select package_name_pattern from package_protection_rules
       where project_id = ${p.project_id} and package_type = ${p.package_type}
         and ${sql.ref(column)} = any(${p.levels}::text[])`,
  )
const STATEMENTS = {
  push: patterns('minimum_access_level_for_push'),
  delete: patterns('minimum_access_level_for_delete'),
}

export interface ProtectionQuestion {
  readonly project: { readonly id: number; readonly role: number }
  readonly actor: { readonly admin: boolean } | null
  readonly type: PackageType
  readonly name: string
}

/** Whether a rule keeps the actor from pushing or deleting the package: one that matches its name and asks for more than the actor has. */
export async function isProtected(
  db: Db,
  action: 'push' | 'delete',
  { project, actor, type, name }: ProtectionQuestion,
): Promise<boolean> {
  const level = actor?.admin === true ? PROTECTION_LEVELS.admin : project.role
  const levels = (Object.keys(PROTECTION_LEVELS) as ProtectionLevel[]).filter(
    (each) => PROTECTION_LEVELS[each] > level,
  )
  if (levels.length === 0) return false
  const rules = await db.rows(STATEMENTS[action], { project_id: project.id, package_type: type, levels })
  const canonical = canonicalName(type, name)
  return rules.some(({ package_name_pattern }) =>
    matchesPattern(canonicalName(type, package_name_pattern), canonical),
  )
}

/** Whether a pattern, in which `*` stands for any characters, is the whole name. Each part is searched for once, so no pattern is slow. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (parts.length === 1) return pattern === name
  if (name.length < first.length + last.length) return false
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  const middle = name.slice(first.length, name.length - last.length)
  let at = 0
  return parts.slice(1, -1).every((part) => {
    const found = middle.indexOf(part, at)
    at = found + part.length
    return found !== -1
  })
}
