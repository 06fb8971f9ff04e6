import { Type as t, type TInteger, type TOptional } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { selfManaged } from '../../access/tiers.ts'
import { DEFAULT_LIMITS, type Limit, type Limits } from '../../core/settings/plan_limits.ts'
import { PLANS } from '../../core/settings/plans.ts'
import { operation } from '../../http/operation.ts'
import { invalid, notFound, type Problem } from '../../http/problems.ts'
import { keysOf, oneOf } from '../../http/params/schema.ts'
import { limitFaults } from './rules.ts'
import * as planLimits from './store.ts'

const NAMES = keysOf(DEFAULT_LIMITS)
const PLAN_NAMES = keysOf(PLANS)
const PlanLimits = t.Object(
  Object.fromEntries(NAMES.map((name) => [name, t.Integer()])) as Record<Limit, TInteger>,
)
const changes = Object.fromEntries(NAMES.map((name) => [name, t.Optional(t.Integer())])) as Record<
  Limit,
  TOptional<TInteger>
>

const noPlan = (): Problem => notFound('Plan')
const present = (own: Readonly<Record<string, number>>): Limits => ({ ...DEFAULT_LIMITS, ...own })

export const getPlanLimits = operation({
  method: 'GET',
  path: '/application/plan_limits',
  summary: 'Get the limits of a plan',
  first: [selfManaged, signedIn, administrator],
  params: t.Object({ plan_name: oneOf(PLAN_NAMES, { default: 'default' }) }),
  gates: [],
  handle: async ({ db, params }) => {
    const row = await planLimits.find(db, params.plan_name)
    if (row === undefined) throw noPlan()
    return present(row.limits)
  },
  returns: PlanLimits,
  refuses: [noPlan],
})

export const updatePlanLimits = operation({
  method: 'PUT',
  path: '/application/plan_limits',
  summary: 'Change limits of a plan',
  first: [selfManaged, signedIn, administrator],
  params: t.Object({ plan_name: oneOf(PLAN_NAMES), ...changes }),
  gates: [],
  handle: async ({ db, params: { plan_name, ...limits } }) => {
    const faults = limitFaults(limits)
    if (Object.keys(faults).length > 0) throw invalid(faults)
    const row = await planLimits.merge(db, plan_name, limits)
    if (row === undefined) throw noPlan()
    return present(row.limits)
  },
  returns: PlanLimits,
  refuses: [noPlan, invalid({ notification_limit: ['must be greater than or equal to 0'] })],
})
