import { compileConfig } from '../src/ci/config/compile.ts'
import type { PlanContext } from '../src/ci/config/context.ts'
import { planPipeline } from '../src/ci/config/planning/pipeline.ts'
import { median } from './report.ts'

// Reads and plans a configuration of 1,000 jobs. Processor time, so that other processes do not count; the longest turn is
// the longest time that the event loop was held.

const JOBS = 1_000
const ROUNDS = 10

const text = Array.from(
  { length: JOBS },
  (_, at) => `job ${at}:
  stage: test
  script:
    - echo ${at}
    - make test
  needs: [${at > 0 ? `job ${at - 1}` : ''}]
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
      when: always
  artifacts:
    paths: [a, b]
`,
).join('')

const files = { project: 'group/app', sha: '', read: async () => undefined, paths: async () => [] }
const around = { files, openProject: async () => 'project' as const, changedPaths: async () => null }
const context: PlanContext = {
  ...around,
  source: 'push',
  ref: 'main',
  tag: false,
  project: 'group/app',
  variables: {
    predefined: Array.from({ length: 70 }, (_, at) => ({ key: `CI_VARIABLE_${at}`, value: 'value' })).concat({
      key: 'CI_COMMIT_BRANCH',
      value: 'main',
    }),
    secret: () => [],
    pipeline: [],
  },
  limits: { pipeline_size: 0, needs: 50 },
}

const spent = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

/** Milliseconds of processor time. */
interface Planned {
  readonly total: number
  readonly longest: number
}

async function planOnce(): Promise<Planned> {
  let longest = 0
  let open = true
  let turn = process.cpuUsage()
  const next = (): void => {
    longest = Math.max(longest, spent(turn))
    turn = process.cpuUsage()
    if (open) setImmediate(next)
  }
  setImmediate(next)
  const start = process.cpuUsage()
  const compiled = await compileConfig(
    { content: text, path: '.gitlab-ci.yml' },
    { ...around, variables: [] },
  )
  if ('errors' in compiled) throw new Error(compiled.errors.join('\n'))
  const outcome = await planPipeline(compiled, context)
  if ('errors' in outcome || outcome.plan.jobs.length !== JOBS) throw new Error('the plan is not whole')
  open = false
  return { total: spent(start), longest }
}

/** The medians of several rounds. */
export async function planConfiguration(): Promise<Planned> {
  const found: Planned[] = []
  for (let round = 0; round < ROUNDS; round += 1) found.push(await planOnce())
  return {
    total: median(found.map(({ total }) => total)),
    longest: median(found.map(({ longest }) => longest)),
  }
}
