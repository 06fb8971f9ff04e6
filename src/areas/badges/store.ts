import { sql, type RawBuilder } from 'kysely'
import type { Project } from '../../core/places/projects.ts'
import { openTo, type Viewer } from '../../core/sight/roles.ts'
import { mine, role, seesProject, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import type { Badge } from '../../db/schema/badges.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'

/** The badges of a project with those of its groups, or of a group alone. */
export interface Reach {
  readonly project_id: number | null
  readonly line: readonly number[]
}

interface Page {
  readonly name: string | undefined
  readonly limit: number
  readonly offset: number
}
type ListValues = Reach & { readonly name: string; readonly limit: number; readonly offset: number }

const listStatement = pageStatements<{ named: boolean }, ListValues, Badge>((p, { named }) => {
  const name = named ? sql`and b.name = ${p.name}` : sql``
  const matches = sql`
    select b.* from badges b where b.project_id = ${p.project_id} ${name}
    union all
    select b.* from badges b where b.group_id = any(${p.line}::bigint[]) ${name}`
  return paged(
    sql<Badge>`select b.* from (${matches}) b order by b.created_at, b.id limit ${p.limit} offset ${p.offset}`,
    sql`select from (${matches}) b`,
  )
})

/** One page of badges, the oldest first. */
export const list = (db: Db, reach: Reach, { name, ...page }: Page): Promise<Listed<Badge>> =>
  db.page(listStatement({ named: name !== undefined }), { ...reach, ...page, name: name ?? '' })

const within = (p: Slots<Reach>): RawBuilder<unknown> =>
  sql`(project_id = ${p.project_id} or group_id = any(${p.line}::bigint[]))`
const findStatement = statement(
  (p: Slots<Reach & { id: number }>) => sql<Badge>`
    select * from badges b
     where b.id = ${p.id} and ${within(p)}`,
)
export const find = (db: Db, reach: Reach, id: number): Promise<Badge | undefined> =>
  db.one(findStatement, { ...reach, id })

type NewBadge = Pick<Badge, 'name' | 'link_url' | 'image_url'>
const insertStatement = statement(
  (p: Slots<NewBadge & Reach>) => sql<Badge>`
    insert into badges (project_id, group_id, name, link_url, image_url)
    values (${p.project_id}, case when ${p.project_id}::bigint is null then (${p.line}::bigint[])[1] end,
            ${p.name}, ${p.link_url}, ${p.image_url})
    returning *`,
)
export async function insert(db: Db, reach: Reach, badge: NewBadge): Promise<Badge> {
  return db.insert(insertStatement, { ...reach, ...badge })
}

/** Null leaves a column unchanged. */
interface Changes {
  readonly id: number
  readonly name: string | null
  readonly link_url: string | null
  readonly image_url: string | null
}
const updateStatement = statement(
  (p: Slots<Changes & Reach>) => sql<Badge>`
    update badges set name = coalesce(${p.name}, name), link_url = coalesce(${p.link_url}, link_url),
                      image_url = coalesce(${p.image_url}, image_url),
                      updated_at = case when (name, link_url, image_url) is distinct from
                        (coalesce(${p.name}, name), coalesce(${p.link_url}, link_url), coalesce(${p.image_url}, image_url))
                        then now() else updated_at end
     where id = ${p.id} and ${within(p)} returning *`,
)
export const update = (db: Db, reach: Reach, changes: Changes): Promise<Badge> =>
  db.update(updateStatement, { ...reach, ...changes })

const removeStatement = statement(
  (p: Slots<Reach & { id: number }>) => sql`delete from badges where id = ${p.id} and ${within(p)}`,
)
export const remove = (db: Db, reach: Reach, id: number): Promise<void> =>
  db.remove(removeStatement, { ...reach, id })

const topLevel = statement(
  (p: Slots<{ id: number }>) =>
    sql<{ name: string }>`select name from namespaces where id = ${p.id} and kind = 'group'`,
)
/** The name of the top-level group that a project is in; undefined where it is in a user's own namespace. */
export const topLevelName = async (db: Db, line: readonly number[]): Promise<string | undefined> =>
  (await db.one(topLevel, { id: line[0] ?? 0 }))?.name

const first = statements<{ everything: boolean }, Caller & { group_id: number }, Project>(
  (p, { everything }) => sql`
    with ${mine(p)}
    select p.*, n.traversal_ids, ${role} as role
      from projects p join namespaces n on n.id = p.namespace_id
     where p.namespace_id = ${p.group_id} and ${seesProject(p, everything)}
     order by p.id limit 1`,
)
/** The oldest project of a group that the viewer sees: it is what the group's badges show. */
export const firstProject = async (
  db: Db,
  viewer: Viewer | null,
  groupId: number,
): Promise<Project | undefined> =>
  (
    await db.rows(first({ everything: viewer?.admin === true }), {
      group_id: groupId,
      user_id: viewer?.id ?? null,
      open_to: openTo(viewer),
    })
  )[0]
