import { isString, isStrings } from './faults.ts'
import type { PlannedTrigger, TriggerInclude } from './plan.ts'
import { isHash, isList, newHash, type Tree } from './yaml/tree.ts'

const textOf = (value: Tree | undefined): string | null => (isString(value) ? value : null)

/** A checked `trigger`. */
export function triggerOf(value: Tree): PlannedTrigger {
  const hash = isHash(value) ? value : Object.assign(newHash(), { project: value })
  const forward = isHash(hash['forward']) ? hash['forward'] : newHash()
  const { include, strategy } = hash
  return {
    project: include === undefined ? textOf(hash['project']) : null,
    branch: textOf(hash['branch']),
    include: include === undefined ? null : (isList(include) ? include : [include]).flatMap(includeOf),
    strategy: strategy === 'depend' || strategy === 'mirror' ? strategy : null,
    forward: {
      yaml_variables: forward['yaml_variables'] !== false,
      pipeline_variables: forward['pipeline_variables'] === true,
    },
  }
}

function includeOf(item: Tree): TriggerInclude[] {
  if (isString(item)) return [{ local: item }]
  if (!isHash(item)) return []
  const { local, project, file, ref, artifact, job } = item
  if (isString(local)) return [{ local }]
  if (isString(artifact) && isString(job)) return [{ artifact, job }]
  if (!isString(project)) return []
  const files = isString(file) ? [file] : isStrings(file) ? file : []
  return [{ project, file: files, ref: textOf(ref) }]
}
