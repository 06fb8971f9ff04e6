import { sql, type RawBuilder } from 'kysely'
import { labelCounts } from '../../core/planning/label_counts.ts'
import { mayReadCode } from '../../access/gates/gates.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Label } from '../../db/schema/tables.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { Actor } from '../../http/gate.ts'
import type { LabelInProject } from '../../records/planning/label.ts'

/** Where a label is looked for: in the project, and in the groups above it too where `line` names them. */
export interface Reach {
  readonly project_id: number
  readonly line: readonly number[]
}
/** The project's labels, with or without those of the groups above. */
export const reachOf = (
  { id, traversal_ids }: Pick<Project, 'id' | 'traversal_ids'>,
  ancestors: boolean,
): Reach => ({ project_id: id, line: ancestors ? traversal_ids : [] })

interface Seen {
  readonly user_id: number
  /** The viewer's role; administrators hold every role. */
  readonly role: number
  /** Whether the viewer sees issues there at all, and merge requests. */
  readonly issues: boolean
  readonly requests: boolean
}
type Counted = Slots<Seen & { project_id: number }>

/** Joined to the rows of the page only. Issues of this project that the viewer may see, and its merge requests. */
const aroundLabels = (p: Counted, rows: RawBuilder<unknown>): RawBuilder<LabelInProject> => sql`
  select l.*, counts.*,
         exists (select from label_subscriptions s where s.label_id = l.id and s.user_id = ${p.user_id}) as subscribed,
         (select r.priority from label_priorities r where r.project_id = ${p.project_id} and r.label_id = l.id) as priority
    from (${rows}) l,
         ${labelCounts({
           viewer: p.user_id,
           project: p.project_id,
           issues: sql`${p.issues}::boolean`,
           requests: sql`${p.requests}::boolean`,
           role: sql`${p.role}::bigint`,
         })}
   order by l.title, l.id`

interface ListShape {
  readonly ancestors: boolean
  readonly search: boolean
}
type ListValues = Reach & Seen & { readonly pattern: string; readonly limit: number; readonly offset: number }

const list = pageStatements<ListShape, ListValues, LabelInProject>((p, { ancestors, search }) => {
  const like = search ? sql`and (l.title ilike ${p.pattern} or l.description ilike ${p.pattern})` : sql``
  // From each home its labels in order, and only as far as the page reaches.
  const sources = (cut: RawBuilder<unknown>): RawBuilder<unknown> => {
    const own = sql`select l.id, l.title from labels l where l.project_id = ${p.project_id} ${like} ${cut}`
    const above = sql`
      select l.* from unnest(${p.line}::bigint[]) as home (id),
             lateral (select l.id, l.title from labels l where l.group_id = home.id ${like} ${cut}) l`
    return ancestors ? sql`(${own}) union all (${above})` : sql`(${own})`
  }
  const reach = sql`order by l.title, l.id limit ${p.limit}::bigint + ${p.offset}::bigint`
  const rows = sql`
    select l.* from (select l.id from (${sources(reach)}) l order by l.title, l.id
                      limit ${p.limit} offset ${p.offset}) chosen
      join labels l on l.id = chosen.id`
  return paged(aroundLabels(p, rows), sql`select from (${sources(sql`offset 0`)}) l`)
})

/** The actor's role on the project; administrators pass everywhere. */
const seenBy = (actor: Actor, project: Project): Seen => ({
  user_id: actor.id,
  role: actor.admin ? 50 : project.role,
  issues: hasFeature(actor, project, 'issues'),
  requests: hasFeature(actor, project, 'merge_requests') && mayReadCode(actor, project),
})

interface Asked {
  readonly actor: Actor
  readonly project: Project
}
interface Wanted {
  readonly ancestors: boolean
  readonly search: string
  readonly limit: number
  readonly offset: number
}

export async function listLabels(
  db: Db,
  { actor, project }: Asked,
  { ancestors, search, limit, offset }: Wanted,
): Promise<Listed<LabelInProject>> {
  const values = { ...reachOf(project, ancestors), ...seenBy(actor, project) }
  return db.page(list({ ancestors, search: search !== '' }), {
    ...values,
    pattern: containing(search),
    limit,
    offset,
  })
}

const one = statement(
  (p: Counted & Slots<{ id: number }>) =>
    sql<LabelInProject>`${aroundLabels(p, sql`select * from labels where id = ${p.id}`)}`,
)
/** Adds what the caller sees around a label. */
export async function forCaller(db: Db, { actor, project }: Asked, id: number): Promise<LabelInProject> {
  return existing((await db.rows(one, { ...seenBy(actor, project), project_id: project.id, id }))[0])
}

const find = statement(
  (p: Slots<Reach & { id: number; title: string }>) => sql<Label>`
    select l.* from labels l
     where (l.id = ${p.id} or l.title = ${p.title})
       and (l.project_id = ${p.project_id} or l.group_id = any(${p.line}::bigint[]))
     order by l.id = ${p.id} desc, l.project_id is null, array_position(${p.line}::bigint[], l.group_id) desc
     limit 1`,
)
/** A label within reach by its id or, failing that, by its title; the nearest of several. */
export const findLabel = (db: Db, reach: Reach, ref: string): Promise<Label | undefined> =>
  db.one(find, { ...reach, id: /^\d{1,15}$/.test(ref) ? Number(ref) : 0, title: ref })
export const findByTitle = (db: Db, reach: Reach, title: string): Promise<Label | undefined> =>
  db.one(find, { ...reach, id: 0, title })

const setPriority = statement(
  (p: Slots<{ project_id: number; id: number; priority: number }>) => sql`
    insert into label_priorities (project_id, label_id, priority) values (${p.project_id}, ${p.id}, ${p.priority})
    on conflict (project_id, label_id) do update set priority = excluded.priority`,
)
const dropPriority = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('label_priorities').where('project_id', '=', p.project_id).where('label_id', '=', p.id),
)
/** Gives a label its place among those of the project, or takes it. */
export const prioritize = (
  db: Db,
  projectId: number,
  id: number,
  priority: number | null,
): Promise<number> =>
  priority === null
    ? db.run(dropPriority, { project_id: projectId, id })
    : db.run(setPriority, { project_id: projectId, id, priority })
