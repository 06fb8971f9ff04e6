import { sql, type RawBuilder } from 'kysely'
import { REPOSITORY_FEATURES } from './project_settings.ts'
import { ROLES } from './roles.ts'

// Whether a feature of the project `p` is switched on, as parts of statements; `hasFeature` is the same for one project.

type Switched = 'issues' | 'merge_requests'

const levelOf = (feature: Switched): RawBuilder<unknown> => sql`
  coalesce(p.settings->>${sql.lit(`${feature}_access_level`)},
           case when p.settings->>${sql.lit(`${feature}_enabled`)} = 'false' then 'disabled' else 'enabled' end)`

/** The levels that all must let a caller in: merge requests are never more open than the repository. */
const levelsOf = (feature: Switched): RawBuilder<unknown>[] => [
  levelOf(feature),
  ...(REPOSITORY_FEATURES.includes(feature) ? [sql`p.repository_access_level`] : []),
]
const all = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<boolean> =>
  sql`(${sql.join(conditions, sql` and `)})`

/** For anybody. */
export const isSwitchedOn = (feature: Switched): RawBuilder<boolean> =>
  all(levelsOf(feature).map((level) => sql`${level} <> 'disabled'`))

/** For a caller who sees the project, holds `role` on it, and is no administrator. */
export const isOpenTo = (feature: Switched, role: RawBuilder<unknown>): RawBuilder<boolean> =>
  all(
    levelsOf(feature).map(
      (level) => sql`
  case ${level} when 'enabled' then true when 'private' then ${role} >= ${sql.lit(ROLES.guest)} else false end`,
    ),
  )

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
