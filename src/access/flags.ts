import type { FeatureName } from '../core/settings/settings.ts'
import { enables, type Gate } from '../http/gate.ts'
import { noRoute, type Problem } from '../http/problems.ts'

/** Opens while a feature flag is on; while it is off the operation is as good as absent. */
export const flag = (
  name: FeatureName,
  refuses: () => Problem = noRoute,
): Gate<'enables', never, object, object> =>
  enables({
    flag: name,
    says: `feature flag \`${name}\``,
    refuses,
    holds: ({ settings }) => settings.enabled(name),
  })
