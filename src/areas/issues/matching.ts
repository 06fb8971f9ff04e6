import { sql, type RawBuilder } from 'kysely'
import { anyReactionOf, reactionsOf } from '../../core/reaction_walk.ts'
import type { RecordList } from '../../core/record_list.ts'
import { ROLES } from '../../core/roles.ts'
import { role, seesIssuesOf } from '../../core/sight.ts'
import type { Visibility } from '../../db/schema.ts'
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

const has = ({ conditions }: Shape, names: readonly ConditionName[]): boolean =>
  names.some((name) => conditions.includes(name))

/** The viewer's own confidential issues, looked up once for the whole list. */
function isOwn(p: P, shape: Shape): RawBuilder<unknown> {
  const here = (column: string): RawBuilder<unknown> =>
    shape.in === 'project' ? sql`and ${sql.ref(column)} = ${p.place}` : sql``
  return sql`i.id in (
    select o.id from issues o where o.author_id = ${p.viewer} and o.confidential ${here('o.project_id')}
    union all
    select a.issue_id from issue_assignees a
     where a.user_id = ${p.viewer} and a.issue_confidential ${here('a.issue_project_id')})`
}

/** The rule of `seesIssue`, for many at once. */
const seesIssues = (p: P, shape: Shape, role: RawBuilder<unknown>): RawBuilder<unknown> => {
  if (shape.sees === 'all') return sql`true`
  if (shape.sees === 'open') return sql`not i.confidential`
  if (has(shape, ['shown'])) return sql`true`
  const planner = shape.in === 'project' ? sql`` : sql`or ${role} >= ${sql.lit(ROLES.planner)}`
  const open = has(shape, ['hidden']) ? sql`false` : sql`not i.confidential`
  return sql`(${open} ${planner} or ${isOwn(p, shape)})`
}

const SEARCHES: readonly ConditionName[] = ['in_title', 'in_description', 'in_both']
const REACTIONS: readonly ConditionName[] = ['emoji', 'any_emoji', 'no_emoji', 'not_emoji']

/** The issues of a list. */
export function issuesOf(p: P, shape: Shape): RecordList<ConditionName> {
  const all = sql`${seesIssuesOf(p, shape.everything)} ${shape.unarchived ? sql`and not p.archived` : sql``}`
  return {
    kind: 'issue',
    in: shape.in,
    p,
    conditions: shape.conditions,
    holds: (names, walk) =>
      sql.join([sql`true`, ...names.map((name) => CONDITIONS[name](p as FilterSlots, walk))], sql` and `),
    sees: (role) => seesIssues(p, shape, role),
    projects: { shown: all, role: shape.everything ? sql`0` : role },
    linked: ['state', 'hidden', 'shown', 'created_after', 'created_before'],
    labelLinked: ['milestone', 'milestones', 'author', 'mine'],
    leads: {
      // What somebody is to do.
      assignee: (project) => sql`
        select a.issue_id as id, a.issue_project_id as project_id, a.issue_created_at as created_at,
               a.issue_state as state, a.issue_confidential as confidential, a.label_ids
          from issue_assignees a
         where a.user_id = ${p.assignee} and ${project ? sql`a.issue_project_id = ${project}` : sql`true`}`,
      emoji: reactionsOf('issue', p.viewer, p.emoji),
    },
    knowLabels: ['assignee'],
    finds: { any_emoji: anyReactionOf('issue', p.viewer) },
    scattered: has(shape, SEARCHES) ? 'by words' : has(shape, REACTIONS) ? 'by reactions' : undefined,
  }
}
