import { compileConfig } from '../src/ci/config/compile.ts'
import type { PlanContext } from '../src/ci/config/context.ts'
import { planPipeline } from '../src/ci/config/plan_pipeline.ts'

// Reads and plans a configuration of 1,000 jobs: `node --import tsx bench/ci_configuration.ts [ROUNDS]`. Processor time, so
// that other processes do not count; the longest turn is the longest time that the event loop was held.

const JOBS = 1_000
const rounds = Number(process.argv[2] ?? 10)

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

async function measure(): Promise<{ total: number; longest: number }> {
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

const found: { total: number; longest: number }[] = []
for (let round = 0; round < rounds; round += 1) found.push(await measure())
const middle = (values: number[]): string =>
  (values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0).toFixed(1)
process.stdout.write(
  `${JOBS} jobs, ${text.length} characters, ${rounds} rounds: median ${middle(found.map(({ total }) => total))} ms of processor time, ` +
    `longest turn ${middle(found.map(({ longest }) => longest))} ms\n`,
)
