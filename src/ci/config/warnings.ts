import type { JobModel, Model } from './model.ts'

const MAX_WARNINGS = 25
const READ_MORE =
  'https://docs.gitlab.com/ee/ci/troubleshooting.html#job-may-allow-multiple-pipelines-to-run-for-a-single-action-warning'

/** Warnings of a valid configuration: jobs that branch and merge request pipelines would both run. */
export const warningsOf = ({ jobs, workflow }: Model): string[] =>
  workflow.rules !== null
    ? []
    : jobs
        .filter(runsTwice)
        .slice(0, MAX_WARNINGS)
        .map(
          ({ name }) =>
            `jobs:${name} may allow multiple pipelines to run for a single action due to \`rules:when\` clause with no \`workflow:rules\` - read more: ${READ_MORE}`,
        )

function runsTwice({ rules }: JobModel): boolean {
  const last = rules?.at(-1)
  return (
    last !== undefined &&
    last.if === null &&
    last.changes === null &&
    last.exists === null &&
    last.when !== null &&
    last.when !== 'never'
  )
}
