import { sql } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import type { Project } from '../../core/places/projects.ts'
import { openTo, type Viewer } from '../../core/sight/roles.ts'
import { mine, seesGroup } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { containing } from '../../db/text.ts'

interface Shape {
  readonly everything: boolean
  readonly shared: boolean
}
interface Wanted {
  readonly search: string
  readonly skip: readonly number[]
  readonly shared: boolean
  /** The least level that a group is invited with. */
  readonly least: number
  readonly limit: number
  readonly offset: number
}
type Values = Omit<Wanted, 'shared' | 'search'> & {
  readonly project_id: number
  readonly line: readonly number[]
  readonly pattern: string
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
}

const list = pageStatements<Shape, Values, Namespace>((p, { everything, shared }) => {
  const invited = sql`(n.id = any(array(
      select l.group_id from project_group_links l
       where l.project_id = ${p.project_id} and l.group_access >= ${p.least}
         and ${lasts('l')})) and ${seesGroup(p, everything)})`
  const where = sql`n.kind = 'group' and (n.id = any(${p.line}::bigint[]) ${shared ? sql`or ${invited}` : sql``})
    and n.id <> all(${p.skip}::bigint[]) and (n.name ilike ${p.pattern} or n.path ilike ${p.pattern})`
  const page = sql<Namespace>`select n.* from namespaces n where ${where} order by n.id
    limit ${p.limit} offset ${p.offset}`
  return paged(page, sql`select from namespaces n where ${where}`, mine(p))
})

/** The groups above a project, and of those it is shared with the ones that the viewer sees. */
export async function listGroups(
  db: Db,
  viewer: Viewer | null,
  project: Pick<Project, 'id' | 'traversal_ids'>,
  { shared, search, ...wanted }: Wanted,
): Promise<Listed<Namespace>> {
  return db.page(list({ everything: viewer?.admin === true, shared }), {
    ...wanted,
    project_id: project.id,
    line: project.traversal_ids,
    pattern: containing(search),
    user_id: viewer?.id ?? null,
    open_to: openTo(viewer),
  })
}
