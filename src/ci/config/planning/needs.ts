import { ConfigFault } from '../yaml/config_fault.ts'
import type { NeedModel } from '../model.ts'
import type { PlannedNeed } from '../plan.ts'
import type { Admitted } from './job.ts'

interface Resolved {
  readonly needs: readonly PlannedNeed[]
  readonly dependencies: readonly string[] | null
}

/** Needs and dependencies of planned jobs, by the names of planned jobs. Throws ConfigFault with all that are missing. */
export async function resolveNeeds(
  jobs: readonly Admitted[],
  limit: number,
  breathe: () => Promise<void> | undefined,
): Promise<Resolved[]> {
  const byName = new Map<string, string[]>()
  for (const { name, model } of jobs) {
    if (name !== model.name) byName.set(name, [name])
    byName.set(model.name, [...(byName.get(model.name) ?? []), name])
  }
  const faults: string[] = []
  const resolved: Resolved[] = []
  for (const job of jobs) {
    await breathe()
    const needs = job.needed ?? []
    if (needs.length > limit) faults.push(tooManyNeeds(job.name, needs.length, limit))
    else
      for (const need of needs)
        if (!need.optional && !byName.has(need.name)) faults.push(missing(job.name, need.name))
    resolved.push({
      needs: needs.flatMap((need) => resolve(need, byName)),
      dependencies: dependenciesOf(job, byName),
    })
  }
  if (faults.length > 0) throw new ConfigFault(...new Set(faults))
  return resolved
}

function resolve(
  { name, artifacts, optional, instances }: NeedModel,
  byName: ReadonlyMap<string, string[]>,
): PlannedNeed[] {
  const names = byName.get(name) ?? []
  const chosen = instances === null ? names : names.filter((each) => instances.includes(each))
  return chosen.map((each) => ({ name: each, artifacts, optional }))
}

const dependenciesOf = (
  { model }: Admitted,
  byName: ReadonlyMap<string, string[]>,
): readonly string[] | null => model.dependencies?.flatMap((name) => byName.get(name) ?? []) ?? null

const tooManyNeeds = (job: string, count: number, limit: number): string =>
  `${job}: one job can only need ${limit} others, but you have listed ${count}. See needs keyword documentation for more details`
const missing = (job: string, need: string): string =>
  `'${job}' job needs '${need}' job, but '${need}' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.`
