import { sql } from 'kysely'
import { mine, type Caller, type CallerSlots } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { statements, type Slots } from '../../db/statement.ts'
import { isServedNpm, npmFile, npmVersion, type NpmVersion } from '../../packages/npm_store.ts'
import { packagesBelow, type Reader } from './group_scope.ts'
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
    group: sql`values (${p.group_id}::bigint)`,
    instance: sql`select id from namespaces where lower(full_path) = lower(${p.scope})`,
  }[shape.of]
  return sql<NpmVersion>`
    with ${mine(p)}
    select ${npmVersion} from ${packagesBelow(home)}, ${npmFile}
     where ${isServedNpm(p.name)} and ${reads(p, shape.everything)}
     order by k.id`
})

/** The versions of a package in the projects below a group that the caller reads. */
export const listOfGroup = (
  db: Db,
  { everything, ...values }: Omit<Values, 'scope'> & Reader,
): Promise<NpmVersion[]> => db.rows(versions({ of: 'group', everything }), { ...values, scope: null })

/** The same of the projects below the root namespace whose path is the scope of the package. */
export const listOfScope = (
  db: Db,
  { everything, ...values }: Omit<Values, 'group_id'> & Reader,
): Promise<NpmVersion[]> => db.rows(versions({ of: 'instance', everything }), { ...values, group_id: null })
