import type { Tier } from '../config.ts'
import { enables, type Gate } from '../http/gate.ts'
import { forbidden, noRoute, rejected, type Problem } from '../http/problems.ts'

const RANKS: Readonly<Record<Tier, number>> = { free: 0, premium: 1, ultimate: 2 }

/** Whether a licence of tier `has` holds what `needs` brings. */
export const includes = (has: Tier, needs: Tier): boolean => RANKS[has] >= RANKS[needs]

type Enables = Gate<'enables', never, object, object>

/** A gate that a licence of tier `needs` opens. */
export const licensed = (needs: Tier, refuses: () => Problem): Enables =>
  enables({
    tier: needs,
    says: `a licence of ${needs} or above`,
    refuses,
    holds: ({ settings }) => includes(settings.get('tier'), needs),
  })

/** For areas whose published refusal below the tier is 403. */
export const premiumOrForbidden = licensed('premium', forbidden)

/** For exports of vulnerabilities, whose published refusal below the tier is 403. */
export const ultimateOrForbidden = licensed('ultimate', forbidden)

/** For the charts of milestones, whose published refusal is of its own. */
export const premiumCharts = licensed('premium', () => rejected('Milestone does not support burndown chart'))

/** For areas that are not there below the tier. */
export const premiumOrAbsent = licensed('premium', noRoute)

/** For operations that only an instance of one's own has. */
export const selfManaged = enables({
  says: 'a self-managed instance',
  refuses: noRoute,
  holds: ({ settings }) => settings.get('offering') === 'self-managed',
})
