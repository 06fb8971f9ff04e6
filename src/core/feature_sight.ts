import { sql, type RawBuilder } from 'kysely'
import { ROLES } from './roles.ts'

// Whether a feature of the project `p` is switched on, as parts of statements; `hasFeature` is the same for one project.

type Switched = 'issues' | 'merge_requests'

const levelOf = (feature: Switched): RawBuilder<unknown> => sql`
  coalesce(p.settings->>${sql.lit(`${feature}_access_level`)},
           case when p.settings->>${sql.lit(`${feature}_enabled`)} = 'false' then 'disabled' else 'enabled' end)`

/** For anybody. */
export const isSwitchedOn = (feature: Switched): RawBuilder<boolean> =>
  sql`(${levelOf(feature)} <> 'disabled')`

/** For a caller who sees the project, holds `role` on it, and is no administrator. */
export const isOpenTo = (feature: Switched, role: RawBuilder<unknown>): RawBuilder<boolean> => sql`(
  case ${levelOf(feature)} when 'enabled' then true when 'private' then ${role} >= ${sql.lit(ROLES.guest)} else false end)`

/** Whether a caller who sees the project under that name reads its code; `mayReadCode` is the same for one project. */
export const showsCodeOf = (
  name: 'p' | 'o',
  role: RawBuilder<unknown>,
  everything: boolean,
): RawBuilder<boolean> => {
  const p = sql.raw(name)
  const reads = everything
    ? sql`true`
    : sql`(${p}.visibility <> 'private' and ${p}.repository_access_level = 'enabled'
           or coalesce(${role} >= ${sql.lit(ROLES.reporter)}, false))`
  return sql`(${p}.repository_access_level <> 'disabled' and ${reads})`
}
