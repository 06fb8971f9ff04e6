import type { PlannedJob } from '../../src/ci/config/plan.ts'

/** A planned job that runs in the first stage on success, unless told otherwise. */
export const plannedJob = (job: Partial<PlannedJob> & { readonly name: string }): PlannedJob => ({
  stage: `stage-${job.stage_index ?? 0}`,
  stage_index: 0,
  kind: 'build',
  when: 'on_success',
  start_in: job.when === 'delayed' ? 1 : null,
  allow_failure: false,
  allow_failure_exit_codes: null,
  scheduling_type: job.needs === undefined ? 'stage' : 'dag',
  needs: [],
  dependencies: null,
  tags: [],
  resource_group: null,
  environment: null,
  interruptible: false,
  retry: { max: 0, when: [], exit_codes: [] },
  timeout: null,
  instance: null,
  variables: [],
  coverage: null,
  manual_confirmation: null,
  options: { script: ['true'] },
  trigger: null,
  ...job,
})

export const needing = (...names: string[]): PlannedJob['needs'] =>
  names.map((name) => ({ name, artifacts: true, optional: false }))
