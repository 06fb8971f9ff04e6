import { CALLERS, type Calls } from './calls.ts'
import { accessTokens } from './access_tokens.ts'
import { badges } from './badges.ts'
import { conversation } from './conversation.ts'
import { events } from './events.ts'
import { firstAreas } from './first_areas.ts'
import { freezePeriods } from './freeze_periods.ts'
import { groups } from './groups.ts'
import { invitations } from './invitations.ts'
import { issues } from './issues.ts'
import { machines } from './machines.ts'
import { lint } from './lint.ts'
import { members } from './members.ts'
import { mergeRequests } from './merge_requests.ts'
import { packages } from './packages.ts'
import { people } from './people.ts'
import { pipelines } from './pipelines.ts'
import { planning } from './planning.ts'
import { productAnalytics } from './product_analytics.ts'
import { projectLabels } from './project_labels.ts'
import { projects } from './projects.ts'
import { repositories } from './repositories.ts'
import { resourceGroups } from './resource_groups.ts'
import { runners } from './runners.ts'
import { snippets } from './snippets.ts'
import { variables } from './variables.ts'
import { triggers } from './triggers.ts'
import { vulnerabilities } from './vulnerabilities.ts'

const ALL: readonly Calls[] = [
  accessTokens,
  badges,
  conversation,
  events,
  firstAreas,
  freezePeriods,
  groups,
  invitations,
  issues,
  machines,
  lint,
  members,
  mergeRequests,
  packages,
  people,
  pipelines,
  planning,
  productAnalytics,
  projectLabels,
  projects,
  repositories,
  resourceGroups,
  runners,
  snippets,
  variables,
  triggers,
  vulnerabilities,
]

const rowsOf = (text = ''): Map<string, number[]> =>
  new Map(
    text
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([name = '']) => /^[a-z]+[A-Z]/.test(name))
      .map(([name = '', ...cells]) => [name, cells.map(Number)]),
  )

const byOperation = new Map<string, Calls>()
for (const calls of ALL)
  for (const name of rowsOf(calls.inPrivate).keys()) {
    if (byOperation.has(name)) throw new Error(`${name} has two lines`)
    byOperation.set(name, calls)
  }

/** How that operation is called. */
export function callsOf(name: string): Calls {
  const found = byOperation.get(name)
  if (found === undefined) throw new Error(`test/calls says nothing of ${name}`)
  return found
}

const inPrivate = new Map(ALL.flatMap((calls) => [...rowsOf(calls.inPrivate)]))
const inPublic = new Map([...inPrivate, ...ALL.flatMap((calls) => [...rowsOf(calls.inPublic)])])
/** To whoever has signed in, internal is public. */
const inInternal = new Map(
  [...inPublic].map(([name, cells]) => [
    name,
    cells.map((cell, at) => (CALLERS[at] === 'nobody' ? (inPrivate.get(name)?.[at] ?? 0) : cell)),
  ]),
)

/** The status of every operation for each of `CALLERS`, by how visible its group and project are. */
export const roleTables = {
  private: inPrivate,
  internal: new Map([...inInternal, ...ALL.flatMap((calls) => [...rowsOf(calls.inInternal)])]),
  public: inPublic,
} as const
