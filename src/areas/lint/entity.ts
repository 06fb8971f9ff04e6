import { Type as t, type Static } from 'typebox'
import { mergedYaml, plannedJobs, staticJobs, type Linted } from '../../ci/creation/lint.ts'
import { nullable, oneOf } from '../../http/params/schema.ts'

const Include = t.Object({
  type: oneOf(['local', 'file']),
  location: t.String(),
  blob: t.String(),
  raw: t.String(),
  extra: t.Record(t.String(), t.String()),
  context_project: t.String(),
  context_sha: t.String(),
})
const Job = t.Object({
  name: t.String(),
  stage: t.String(),
  before_script: t.Array(t.String()),
  script: t.Array(t.String()),
  after_script: t.Array(t.String()),
  tag_list: t.Array(t.String()),
  only: t.Optional(t.Unknown()),
  except: t.Optional(t.Unknown()),
  environment: nullable(t.String()),
  when: t.String(),
  allow_failure: t.Boolean(),
  needs: t.Optional(t.Unknown()),
})
export const Lint = t.Object({
  valid: t.Boolean(),
  errors: t.Array(t.String()),
  warnings: t.Array(t.String()),
  merged_yaml: nullable(t.String()),
  includes: t.Array(Include),
  jobs: t.Optional(t.Array(Job)),
})

const MAX_WARNINGS = 25

/** The answer of lint; jobs only where they are asked for. */
export async function present(
  { errors, warnings, compiled, plan }: Linted,
  { url, include_jobs }: { readonly url: string; readonly include_jobs: boolean },
): Promise<Static<typeof Lint>> {
  const valid = errors.length === 0
  const jobs = !valid || compiled === null ? [] : plan === null ? staticJobs(compiled) : plannedJobs(plan)
  return {
    valid,
    errors: [...errors],
    warnings: warnings.slice(0, MAX_WARNINGS),
    merged_yaml: compiled && (await mergedYaml(compiled)),
    includes: (compiled?.includes ?? []).map(({ project, sha, ...file }) => ({
      ...file,
      blob: `${url}/${project}/-/blob/${sha}/${file.location}`,
      raw: `${url}/${project}/-/raw/${sha}/${file.location}`,
    })),
    ...(include_jobs && {
      jobs: jobs.map((job) => ({
        ...job,
        before_script: [...job.before_script],
        script: [...job.script],
        after_script: [...job.after_script],
        tag_list: [...job.tag_list],
      })),
    }),
  }
}
