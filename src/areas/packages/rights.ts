import { ROLES } from '../../core/sight/roles.ts'
import type { Actor } from '../../http/gate.ts'

export const mayDelete = (actor: Actor | null, { role }: { readonly role: number }): boolean =>
  actor?.admin === true || role >= ROLES.maintainer
