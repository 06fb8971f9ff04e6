import type { Compiled } from '../config/context.ts'

/** Faults of trigger jobs: this server creates no downstream pipelines, and a job that would wait for one never ends. */
export const bridgeFaults = ({ model }: Compiled): string[] =>
  model.jobs
    .filter(({ kind }) => kind === 'bridge')
    .map(
      ({ name }) => `jobs:${name}:trigger config is not supported: downstream pipelines are not created here`,
    )
