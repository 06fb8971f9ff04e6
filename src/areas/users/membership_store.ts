import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'

interface Membership {
  readonly source_id: number
  readonly source_name: string
  readonly source_type: string
  readonly access_level: number
}
interface Shape {
  readonly type: 'Project' | 'Namespace' | 'any'
}
interface Values {
  readonly user_id: number
  readonly limit: number
  readonly offset: number
}
const listStatement = pageStatements<Shape, Values, Membership>((p, { type }) => {
  const only = {
    any: sql``,
    Project: sql`and m.project_id is not null`,
    Namespace: sql`and m.namespace_id is not null`,
  }[type]
  const rows = sql`members m where m.user_id = ${p.user_id} ${only}`
  return paged(
    sql<Membership>`
      select coalesce(p.id, n.id) as source_id, coalesce(p.name, n.name) as source_name, m.access_level,
             case when p.id is null then 'Namespace' else 'Project' end as source_type
        from (select m.* from ${rows} order by m.id limit ${p.limit} offset ${p.offset}) m
        left join projects p on p.id = m.project_id left join namespaces n on n.id = m.namespace_id
       order by m.id`,
    sql`select from ${rows}`,
  )
})

export const list = (db: Db, shape: Shape, values: Values): Promise<Listed<Membership>> =>
  db.page(listStatement(shape), values)
