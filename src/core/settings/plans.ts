import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'

// On the hosted offering each top-level namespace has a plan, and what stands below has the licence tier of that plan.

export type Tier = Instance['config']['tier']

/** Every plan name the interface knows, with its tier; its limits are those of `default` until it has a row. */
export const PLANS = {
  default: 'free',
  free: 'free',
  bronze: 'free',
  silver: 'premium',
  premium: 'premium',
  gold: 'ultimate',
  ultimate: 'ultimate',
  ultimate_trial: 'ultimate',
  premium_trial: 'premium',
  ultimate_trial_paid_customer: 'ultimate',
  opensource: 'ultimate',
} as const satisfies Readonly<Record<string, Tier>>
export type PlanName = keyof typeof PLANS

const RANKS: Readonly<Record<Tier, number>> = { free: 0, premium: 1, ultimate: 2 }

/** Whether a licence of tier `has` holds what `needs` brings. */
export const includes = (has: Tier, needs: Tier): boolean => RANKS[has] >= RANKS[needs]

/** The plans that hold what `needs` brings. */
export const plansWith = (needs: Tier): string[] =>
  Object.entries(PLANS).flatMap(([name, tier]) => (includes(tier, needs) ? [name] : []))

type Here = Pick<Instance, 'settings'> & { readonly db: Db }

const planOfRoot = statement(
  (p: Slots<{ root: number }>) => sql<{ plan: string }>`select plan from namespaces where id = ${p.root}`,
)
const planOfProject = statement(
  (p: Slots<{ project_id: number }>) => sql<{ plan: string }>`
    select r.plan from projects p
      join namespaces n on n.id = p.namespace_id
      join namespaces r on r.id = n.traversal_ids[1]
     where p.id = ${p.project_id}`,
)

/** The tier of what stands in these namespaces; no plan brings more than the licence of the instance. */
export const tierAt = (
  here: Here,
  { traversal_ids }: { readonly traversal_ids: readonly number[] },
): Promise<Tier> => tierBy(here, () => here.db.one(planOfRoot, { root: traversal_ids[0] ?? 0 }))

/** The same by the id of a project. */
export const tierOfProject = (here: Here, project_id: number): Promise<Tier> =>
  tierBy(here, () => here.db.one(planOfProject, { project_id }))

async function tierBy(
  { settings }: Here,
  find: () => Promise<{ readonly plan: string } | undefined>,
): Promise<Tier> {
  const tier = settings.get('tier')
  if (settings.get('offering') !== 'hosted') return tier
  const plan = (await find())?.plan ?? 'default'
  const planned: Tier = Object.hasOwn(PLANS, plan) ? PLANS[plan as PlanName] : 'free'
  return includes(tier, planned) ? planned : tier
}
