import { sql, type RawBuilder } from 'kysely'
import { below, openTo } from '../../core/sight/roles.ts'
import type { Caller } from '../../core/sight/callers.ts'
import type { Context } from '../../http/gate.ts'

/** The packages `k` of the projects `p` below a namespace; `home` gives its id. */
export const packagesBelow = (home: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  (${home}) g (id), ${below(sql`g.id`)} d join namespaces n on n.id = d.id
  join projects p on p.namespace_id = n.id join packages k on k.project_id = p.id`

export interface Reader extends Caller {
  /** Administrators read every project. */
  readonly everything: boolean
}
export const readerOf = ({ actor }: Pick<Context, 'actor'>): Reader => ({
  user_id: actor?.id ?? null,
  open_to: openTo(actor),
  everything: actor?.admin === true,
})
