import { sql, type RawBuilder } from 'kysely'
import { ROLES, below, openTo } from '../../core/sight/roles.ts'
import type { Caller } from '../../core/sight/callers.ts'
import type { Context } from '../../http/gate.ts'

/** The packages `k` of the projects `p` below a namespace; `home` gives its id. */
export const packagesBelow = (home: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  (${home}) g (id), ${below(sql`g.id`)} d join namespaces n on n.id = d.id
  join projects p on p.namespace_id = n.id join packages k on k.project_id = p.id`

type Asking = Pick<Context, 'actor' | 'deployTokenId'> & { readonly group?: { readonly role: number } }

export interface Reader extends Caller {
  /** Administrators read every project. */
  readonly everything: boolean
}
/** A deploy token that reaches the group reads the projects below it. */
export const readerOf = ({ actor, deployTokenId, group }: Asking): Reader => ({
  user_id: actor?.id ?? null,
  open_to: openTo(actor),
  everything: actor?.admin === true || (deployTokenId !== null && (group?.role ?? 0) >= ROLES.reporter),
})
