import { Type as t } from 'typebox'
import { signedIn } from '../../access/gates/gates.ts'
import { includes } from '../../core/settings/plans.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Namespace as NamespaceRow } from '../../db/schema/tables.ts'
import { loads, type Actor, type Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { notFound } from '../../http/problems.ts'
import type { Instance } from '../../instance.ts'
import { Namespace, present } from './entity.ts'
import { lastResort, suggestions } from './rules.ts'
import * as namespaces from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

/** A namespace the caller belongs to: seeing a public group is not enough. */
const namespace = loads({
  param: 'id',
  type: t.String({ description: 'The id or the URL-encoded full path of the namespace' }),
  as: 'namespace',
  preload: 'namespace',
  says: 'a namespace the caller belongs to, any for administrators',
  missing: () => notFound('Namespace'),
  find: ({ actor, preloaded }: Has<{ actor: Actor }>) => {
    const found = preloaded as (NamespaceRow & { role: number }) | undefined
    return found && (actor.admin || found.role >= ROLES.minimal_access) ? found : undefined
  },
})

const leastBillable = ({ settings }: Pick<Instance, 'settings'>): number =>
  includes(settings.get('tier'), 'ultimate') ? ROLES.planner : ROLES.guest

export const listNamespaces = operation({
  method: 'GET',
  path: '/namespaces',
  summary: 'List the namespaces of the caller, or all for administrators',
  first: [signedIn],
  params: t.Object({
    search: t.Optional(t.String({ description: 'Part of the name or path' })),
    owned_only: t.Boolean({ default: false }),
    top_level_only: t.Boolean({ default: false }),
  }),
  gates: [],
  handle: async (ctx) => {
    const { db, actor, params, page } = ctx
    const { search = '', owned_only, top_level_only } = params
    const found = await namespaces.list(db, actor, {
      ownedOnly: owned_only,
      topLevelOnly: top_level_only,
      search,
      leastBillable: leastBillable(ctx),
      ...page,
    })
    return presentPage(found, (row) => present(row, ctx))
  },
  returns: pageOf(Namespace),
})

export const getNamespace = operation({
  method: 'GET',
  path: '/namespaces/:id',
  summary: 'Get a namespace',
  first: [signedIn],
  gates: [namespace],
  handle: async (ctx) => present(await namespaces.withCounts(ctx.db, ctx.namespace, leastBillable(ctx)), ctx),
  returns: Namespace,
})

export const checkNamespaceExists = operation({
  method: 'GET',
  path: '/namespaces/:namespace/exists',
  summary: 'Check whether a path is taken, and suggest a free one',
  published: true,
  first: [signedIn],
  params: t.Object({
    namespace: t.String({ description: 'The path asked for' }),
    parent_id: t.Optional(
      t.Integer({ description: 'The namespace to look in; without it, at the top level' }),
    ),
  }),
  gates: [],
  handle: async ({ db, now, params: { namespace, parent_id } }) => {
    if (!(await namespaces.exists(db, parent_id, namespace))) return { exists: false, suggests: [] }
    const wanted = suggestions(namespace)
    const taken = await namespaces.taken(db, parent_id, wanted)
    return { exists: true, suggests: [wanted.find((name) => !taken.has(name)) ?? lastResort(namespace, now)] }
  },
  returns: t.Object({ exists: t.Boolean(), suggests: t.Array(t.String()) }),
})
