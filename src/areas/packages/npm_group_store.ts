import { sql } from 'kysely'
import { below } from '../../core/roles.ts'
import { mine, type Caller, type CallerSlots } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import { statements, type Slots } from '../../db/statement.ts'
import { isServedNpm, npmFile, npmVersion, type NpmVersion } from '../../packages/npm_store.ts'
import { reads } from './list_store.ts'

interface Shape {
  readonly of: 'group' | 'instance'
  readonly everything: boolean
}
interface Values extends Caller {
  readonly name: string
  readonly group_id: number | null
  /** The path of a root namespace. */
  readonly scope: string | null
}

// Of equal versions in several projects the last one published counts.
const versions = statements<Shape, Values, NpmVersion>((p: Slots<Values> & CallerSlots, shape) => {
  const home = {
    group: sql`(values (${p.group_id}::bigint)) g (id)`,
    instance: sql`(select id from namespaces where lower(full_path) = lower(${p.scope})) g`,
  }[shape.of]
  return sql<NpmVersion>`
    with ${mine(p)}
    select ${npmVersion}
      from ${home}, ${below(sql`g.id`)} d join namespaces n on n.id = d.id join projects p on p.namespace_id = n.id
           join packages k on k.project_id = p.id, ${npmFile}
     where ${isServedNpm(p.name)} and ${reads(p, shape.everything)}
     order by k.id`
})

/** The versions of a package in the projects below a group that the caller reads. */
export const listOfGroup = (
  db: Db,
  { everything, ...values }: Omit<Values, 'scope'> & { readonly everything: boolean },
): Promise<NpmVersion[]> => db.rows(versions({ of: 'group', everything }), { ...values, scope: null })

/** The same of the projects below the root namespace whose path is the scope of the package. */
export const listOfScope = (
  db: Db,
  { everything, ...values }: Omit<Values, 'group_id'> & { readonly everything: boolean },
): Promise<NpmVersion[]> => db.rows(versions({ of: 'instance', everything }), { ...values, group_id: null })
