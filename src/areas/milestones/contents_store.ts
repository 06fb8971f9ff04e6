import { sql, type RawBuilder } from 'kysely'
import { labelPriority } from '../../core/lists/records.ts'
import { isSwitchedOn } from '../../core/sight/features.ts'
import { seesMergeRequestsOf } from '../../core/sight/merge_requests.ts'
import { seesIssue } from '../../core/sight/noteables.ts'
import { ROLES, homeOf, openTo, type Viewer } from '../../core/sight/roles.ts'
import {
  mine,
  role,
  seesIssuesOf,
  seesProject,
  type Caller,
  type CallerSlots,
} from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { type Listed, paged, pageStatements, type Paging } from '../../db/pages.ts'
import type { Slots } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/planning/issue.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../records/merge_requests/merge_request.ts'
import type { Page } from './store.ts'

type Feature = 'issues' | 'merge_requests'
interface Shape {
  readonly everything: boolean
}
type Values = Caller & { readonly milestone: number; readonly limit: number; readonly offset: number }

/** Whether the viewer sees what is of that kind in the project `p`; administrators, wherever it is switched on. */
function opens(p: CallerSlots, feature: Feature, everything: boolean): RawBuilder<unknown> {
  if (feature === 'issues') return seesIssuesOf(p, everything)
  return everything
    ? isSwitchedOn(feature)
    : sql`${seesProject(p, false)} and ${seesMergeRequestsOf(p.open_to)}`
}

/** Of the projects that `ids` selects those in which the viewer sees such records, with the role on them. */
export const places = (
  p: CallerSlots,
  feature: Feature,
  { ids, everything }: { ids: RawBuilder<unknown>; everything: boolean },
): RawBuilder<unknown> => sql`
  ${mine(p)}, places as materialized (
    select p.id, ${everything ? sql`${sql.lit(ROLES.owner)}` : role} as role
      from projects p, ${homeOf} n
     where p.id = any(array(${ids})) and ${opens(p, feature, everything)})`

function contents<Row>(
  p: Slots<Values>,
  feature: Feature,
  everything: boolean,
  shown: (chosen: RawBuilder<unknown>) => RawBuilder<Row>,
): Paging<Row> {
  const table = sql.table(feature)
  const ids = sql`select distinct i.project_id from ${table} i where i.milestone_id = ${p.milestone}`
  const caller = sql`with ${places(p, feature, { ids, everything })}`
  const sees = feature === 'issues' ? seesIssue(p.user_id, sql`v.role`) : sql`true`
  const from = sql`from ${table} i join places v on v.id = i.project_id
                  where i.milestone_id = ${p.milestone} and ${sees}`
  const chosen = sql`${caller} select i.id ${from} order by ${labelPriority}, i.id desc
                      limit ${p.limit} offset ${p.offset}`
  return paged(shown(chosen), sql`${caller} select ${from}`)
}

const issues = pageStatements<Shape, Values, IssueShown>((p, { everything }) =>
  contents(p, 'issues', everything, (chosen) => shownIssues(chosen, p.user_id)),
)
const mergeRequests = pageStatements<Shape, Values, MergeRequestShown>((p, { everything }) =>
  contents(p, 'merge_requests', everything, shownMergeRequests),
)

const valuesOf = (viewer: Viewer, milestone: number, page: Page): Values => ({
  user_id: viewer.id,
  open_to: openTo(viewer),
  milestone,
  ...page,
})

/** The milestone's issues that the viewer sees, those with the most urgent labels first and the newest of equals. */
export const listIssues = (
  db: Db,
  viewer: Viewer,
  milestone: number,
  page: Page,
): Promise<Listed<IssueShown>> =>
  db.page(issues({ everything: viewer.admin }), valuesOf(viewer, milestone, page))

/** The same with its merge requests. */
export const listMergeRequests = (
  db: Db,
  viewer: Viewer,
  milestone: number,
  page: Page,
): Promise<Listed<MergeRequestShown>> =>
  db.page(mergeRequests({ everything: viewer.admin }), valuesOf(viewer, milestone, page))
