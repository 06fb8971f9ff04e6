import type { Tier } from '../config.ts'
import type { Group } from '../core/places/groups.ts'
import { includes, tierAt } from '../core/settings/plans.ts'
import type { Project } from '../core/places/projects.ts'
import { enables, type Gate } from '../http/gate.ts'
import { forbidden, noRoute, rejected, type Problem } from '../http/problems.ts'

type Enables = Gate<'enables', never, object, object>

/** A gate that a licence of tier `needs` opens. */
export const licensed = (needs: Tier, refuses: () => Problem): Enables =>
  enables({
    tier: needs,
    says: `a licence of ${needs} or above`,
    refuses,
    holds: ({ settings }) => includes(settings.get('tier'), needs),
  })

interface Plans {
  readonly project: Gate<'checks', never, { project: Project }, object>
  readonly group: Gate<'checks', never, { group: Group }, object>
}

/** Gates behind those that load a project or group: on the hosted offering its top-level namespace needs a plan. */
export function plans(needs: Tier, refuses: () => Problem): Plans {
  const shared = {
    kind: 'checks',
    plan: needs,
    says: `on the hosted offering, a plan of ${needs} or above`,
    refuses,
  } as const
  return {
    project: {
      ...shared,
      pass: async (ctx) => (includes(await tierAt(ctx, ctx.project), needs) ? {} : undefined),
    },
    group: {
      ...shared,
      pass: async (ctx) => (includes(await tierAt(ctx, ctx.group), needs) ? {} : undefined),
    },
  }
}

/** For areas whose published refusal below the tier is 403. */
export const premiumOrForbidden = licensed('premium', forbidden)
export const premiumPlanOrForbidden = plans('premium', forbidden)

/** For exports of vulnerabilities, whose published refusal below the tier is 403. */
export const ultimateOrForbidden = licensed('ultimate', forbidden)
export const ultimatePlanOrForbidden = plans('ultimate', forbidden)

/** For the charts of milestones, whose published refusal is of its own. */
const noChart = (): Problem => rejected('Milestone does not support burndown chart')
export const premiumCharts = licensed('premium', noChart)
export const premiumPlanCharts = plans('premium', noChart)

/** For areas that are not there below the tier. */
export const premiumOrAbsent = licensed('premium', noRoute)
export const premiumPlanOrAbsent = plans('premium', noRoute)

/** For operations that only an instance of one's own has. */
export const selfManaged = enables({
  says: 'a self-managed instance',
  refuses: noRoute,
  holds: ({ settings }) => settings.get('offering') === 'self-managed',
})
