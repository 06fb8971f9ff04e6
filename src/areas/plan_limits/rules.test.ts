import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../core/settings/plan_limits.ts'
import { limitFaults } from './rules.ts'

const BELOW = ['must be greater than or equal to 0']

test('a limit may be any whole number that is not below zero', () => {
  const rows: [Parameters<typeof limitFaults>[0], ReturnType<typeof limitFaults>][] = [
    [{}, {}],
    [{ ci_pipeline_size: 0 }, {}],
    [{ ci_pipeline_size: 1 }, {}],
    [{ ci_pipeline_size: Number.MAX_SAFE_INTEGER }, {}],
    [{ ci_pipeline_size: undefined }, {}],
    [{ ci_pipeline_size: -1 }, { ci_pipeline_size: BELOW }],
    [{ notification_limit: -5, helm_max_file_size: 1 }, { notification_limit: BELOW }],
    [
      { enforcement_limit: -1, storage_size_limit: -1 },
      { enforcement_limit: BELOW, storage_size_limit: BELOW },
    ],
    [{ storage_size_limit: 15_000, notification_limit: 1, enforcement_limit: 2 }, {}],
  ]
  for (const [given, faults] of rows) assert.deepEqual(limitFaults(given), faults, JSON.stringify(given))
})

test('a plan without limits of its own has the published ones', () => {
  assert.deepEqual(DEFAULT_LIMITS, {
    ci_instance_level_variables: 25,
    ci_pipeline_size: 0,
    ci_active_jobs: 0,
    ci_project_subscriptions: 2,
    ci_pipeline_schedules: 10,
    ci_needs_size_limit: 50,
    ci_registered_group_runners: 1000,
    ci_registered_project_runners: 1000,
    dotenv_size: 5120,
    dotenv_variables: 20,
    conan_max_file_size: 3221225472,
    enforcement_limit: 10000,
    generic_packages_max_file_size: 5368709120,
    helm_max_file_size: 5242880,
    notification_limit: 10000,
    maven_max_file_size: 3221225472,
    npm_max_file_size: 524288000,
    nuget_max_file_size: 524288000,
    pypi_max_file_size: 3221225472,
    terraform_module_max_file_size: 1073741824,
    storage_size_limit: 15000,
  })
})
