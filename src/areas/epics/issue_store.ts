import { sql } from 'kysely'
import { seesIssue } from '../../core/sight/noteables.ts'
import { ROLES, homeOf, openTo, type Viewer } from '../../core/sight/roles.ts'
import { mine, role, seesIssuesOf, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Issue } from '../../db/schema/planning.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statements } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/planning/issue.ts'

interface Shape {
  readonly everything: boolean
}

type ListValues = Caller & { readonly epic: number; readonly limit: number; readonly offset: number }
const list = pageStatements<Shape, ListValues, IssueShown>((p, { everything }) => {
  const sees = everything ? sql`true` : seesIssue(p.user_id, role)
  const from = sql`
    with ${mine(p)}
    select i.id from issues i join projects p on p.id = i.project_id, ${homeOf} n
     where i.epic_id = ${p.epic} and ${seesIssuesOf(p, everything)} and ${sees}`
  return paged(
    shownIssues(sql`${from} order by i.id limit ${p.limit} offset ${p.offset}`, p.user_id),
    sql`${from}`,
  )
})

/** The epic's issues that the viewer sees. */
export const listIssues = (
  db: Db,
  viewer: Viewer | null,
  epic: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<IssueShown>> =>
  db.page(list({ everything: viewer?.admin === true }), {
    user_id: viewer?.id ?? 0,
    open_to: openTo(viewer),
    epic,
    ...page,
  })

/** An issue with its project's place and the viewer's role there. */
export type IssueInPlace = Issue & { readonly role: number; readonly traversal_ids: number[] }

type FindValues = Caller & { readonly id: number }
const find = statements<Shape, FindValues, IssueInPlace>((p, { everything }) => {
  const holds = everything ? sql`${sql.lit(ROLES.owner)}` : role
  return sql<IssueInPlace>`
    with ${mine(p)}
    select i.*, n.traversal_ids, ${holds} as role
      from issues i join projects p on p.id = i.project_id, ${homeOf} n
     where i.id = ${p.id} and ${seesIssuesOf(p, everything)}
       and ${everything ? sql`true` : seesIssue(p.user_id, role)}`
})
/** An issue that the viewer sees, wherever it is. */
export const findIssue = (db: Db, viewer: Viewer, id: number): Promise<IssueInPlace | undefined> =>
  db.one(find({ everything: viewer.admin }), { user_id: viewer.id, open_to: openTo(viewer), id })

const shown = statements<object, { id: number; user_id: number }, IssueShown>((p) =>
  shownIssues(sql`select ${p.id}::bigint as id`, p.user_id),
)
export async function showIssue(db: Db, viewer: Viewer, id: number): Promise<IssueShown> {
  return existing(await db.one(shown({}), { id, user_id: viewer.id }))
}
