import type { Commit } from '../../git/objects/commit.ts'
import type { Instance } from '../../instance.ts'
import { byKey, expand, layer } from '../config/expand.ts'
import type { PlannedTrigger, Variable } from '../config/plan.ts'
import { openVariables } from '../creation/sealed_variables.ts'
import { resolveVariables } from '../jobs/resolved_variables.ts'
import { dependenciesOf, type JobDetail } from '../jobs/store_detail.ts'

/**
 * The pipeline variables that a bridge gives its downstream pipeline: its own variables, expanded where they stand, under
 * those of its pipeline and those that it was played with.
 */
export async function forwardedVariables(
  instance: Instance,
  detail: JobDetail,
  { forward, commit }: Pick<PlannedTrigger, 'forward'> & { readonly commit: Commit },
): Promise<Variable[]> {
  const { vault, db } = instance
  const { spec, pipeline, job } = detail
  const given = forward.pipeline_variables ? openVariables(vault, pipeline.variables) : []
  const own = forward.yaml_variables ? await expanded(spec.variables) : []
  return layer(own, given, openVariables(vault, job.variables))

  async function expanded(variables: readonly Variable[]): Promise<readonly Variable[]> {
    if (variables.length === 0) return []
    const dependencies = await dependenciesOf(db, detail)
    const known = byKey(
      await resolveVariables(instance, detail, { commit, dependencies, token: '', runner: [] }),
    )
    return variables.map((variable) =>
      variable.raw === true
        ? variable
        : { ...variable, value: expand(variable.value, (key) => known.get(key)) },
    )
  }
}
