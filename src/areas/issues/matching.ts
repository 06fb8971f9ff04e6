import { sql, type RawBuilder } from 'kysely'
import { seesIssue } from '../../core/sight/noteables.ts'
import type { RecordList } from '../../core/lists/records.ts'
import { role, seesIssuesOf } from '../../core/sight/callers.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { CONDITIONS, type ConditionName, type FilterSlots, type FilterValues } from './conditions.ts'

// Which issues a list finds, as a part of its statement.

export interface Shape {
  readonly in: 'project' | 'group' | 'everywhere'
  /** Which confidential ones: all of them, one's own, or none. */
  readonly sees: 'all' | 'own' | 'open'
  readonly everything: boolean
  readonly unarchived: boolean
  readonly conditions: readonly ConditionName[]
}

export type Values = FilterValues & {
  readonly place: number
  readonly user_id: number
  readonly open_to: readonly Visibility[]
  readonly limit: number
  readonly offset: number
}
export type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

/** Whether the viewer sees the issue `i`. */
const seesIssues = (p: P, shape: Shape, role: RawBuilder<unknown>): RawBuilder<unknown> => {
  if (shape.sees === 'all') return sql`true`
  if (shape.sees === 'open') return sql`not i.confidential`
  return seesIssue(p.viewer, role)
}

/** The issues of a list. */
export function issuesOf(p: P, shape: Shape): RecordList {
  const all = sql`${seesIssuesOf(p, shape.everything)} ${shape.unarchived ? sql`and not p.archived` : sql``}`
  return {
    kind: 'issue',
    in: shape.in,
    p,
    conditions: shape.conditions.map((name) => CONDITIONS[name](p as FilterSlots)),
    sees: (role) => seesIssues(p, shape, role),
    projects: { shown: all, role: shape.everything ? sql`0` : role },
  }
}
