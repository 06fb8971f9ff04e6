import assert from 'node:assert/strict'
import type { Someone } from './makers.ts'
import type { Answered, World } from './world.ts'

/** Records of the world of the console tests, by the parts of their addresses. */
export interface ConsoleWorld {
  readonly mira: Someone
  readonly jonas: Someone
  readonly group: { readonly id: number; readonly full_path: string }
  readonly project: { readonly id: number; readonly full_path: string }
  readonly issue: number
  readonly mergeRequest: number
  readonly milestone: number
  readonly pipeline: number
  readonly jobs: readonly number[]
  readonly snippet: number
  readonly sha: string
  /** Calls the interface and gives the body; fails unless it succeeds. */
  readonly ask: (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => Promise<Body>
}
type Body = Record<string, unknown> & { readonly id: number; readonly iid: number }

export const README = `# Gateway

The harbour's **front door**: every request passes here, is counted, and goes on to the service that answers it.

## Begin

\`\`\`sh
npm install
npm start -- --port 8080
\`\`\`

| Setting | Means |
| --- | --- |
| \`PORT\` | where it listens |
| \`UPSTREAM\` | where requests go on to |

See [the server](src/server.ts), or ask in #1.
`
const SERVER = `import { createServer } from 'node:http'
import { forward } from './forward.ts'

const PORT = Number(process.env['PORT'] ?? 8080)

/** Answers each request with what the upstream says. */
export const server = createServer(async (request, response) => {
  const started = performance.now()
  // One slow upstream must not hold the others.
  const answer = await forward(request, { timeout: 5_000 })
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body)
  console.log(\`\${request.method} \${request.url} \${answer.status} \${performance.now() - started} ms\`)
})

server.listen(PORT)
`
const CI = `stages: [build, test, deploy]
compile:
  stage: build
  script: [npm ci, npm run build]
unit:
  stage: test
  script: [npm test]
lint:
  stage: test
  script: [npm run lint]
  allow_failure: true
production:
  stage: deploy
  when: manual
  script: [./deploy.sh]
`

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

/** Makes one project with something on each page, through the interface. */
export async function buildConsoleWorld(world: World): Promise<ConsoleWorld> {
  const { make, call } = world
  const mira = await make.user({ username: 'mira', name: 'Mira Okafor' })
  const jonas = await make.user({ username: 'jonas', name: 'Jonas Lindqvist' })
  const group = await make.group({ path: 'harbour', name: 'Harbour', visibility: 'public' })
  await make.member(mira, 'owner', { group })
  await make.member(jonas, 'developer', { group })
  const project = await make.project({
    group,
    path: 'gateway',
    name: 'Gateway',
    visibility: 'public',
    repository: 'empty',
  })
  const ask: ConsoleWorld['ask'] = async (method, path, body) => {
    const answered: Answered = await call(method, path, { as: mira, ...(body && { body }) })
    assert.ok(answered.status < 300, `${method} ${path}: ${answered.status} ${answered.text}`)
    return answered.body as Body
  }
  const at = `/projects/${project.id}`
  const commit = (
    branch: string,
    message: string,
    files: Record<string, string>,
    more: object = {},
  ): Promise<Body> =>
    ask('POST', `${at}/repository/commits`, {
      branch,
      commit_message: message,
      ...more,
      actions: Object.entries(files).map(([file_path, content]) => ({
        action: 'create',
        file_path,
        content,
      })),
    })
  await commit('main', 'Begin the gateway', {
    'README.md': README,
    'src/server.ts': SERVER,
    '.gitlab-ci.yml': CI,
    'package.json': '{\n  "name": "gateway",\n  "private": true\n}\n',
  })
  await commit('main', 'Forward requests', {
    'src/forward.ts': 'export const forward = async () => ({ status: 200, headers: {}, body: "" })\n',
  })
  const change = await ask('POST', `${at}/repository/commits`, {
    branch: 'retry-upstream',
    start_branch: 'main',
    commit_message: 'Retry upstreams that are away\n\nThree times, with a pause that doubles. See #1.',
    actions: [
      {
        action: 'update',
        file_path: 'src/server.ts',
        content: SERVER.replace('timeout: 5_000', 'timeout: 5_000, retries: 3').replace(
          '// One slow',
          '// A retry waits longer each time.\n  // One slow',
        ),
      },
      {
        action: 'create',
        file_path: 'src/retry.ts',
        content: 'export const pause = (attempt: number): number => 100 * 2 ** attempt\n',
      },
    ],
  })
  await ask('POST', `${at}/repository/tags`, { tag_name: 'v1.0.0', ref: 'main', message: 'First release' })
  for (const [name, color, description] of [
    ['bug', '#d9534f', 'Something does not work'],
    ['feature', '#428bca', 'Something new'],
    ['security', '#8e44ad', 'Handle with care'],
  ] as const)
    await ask('POST', `${at}/labels`, { name, color, description })
  const milestone = await ask('POST', `${at}/milestones`, {
    title: 'Version 1.1',
    description: 'What the first users asked for.',
    start_date: daysAgo(12).slice(0, 10),
    due_date: daysAgo(-9).slice(0, 10),
  })
  const titles = [
    'Upstreams that are away answer 502',
    'Count requests by route',
    'Refuse headers over 16 kB',
    'Document the settings',
    'Rate limits per token',
    'Reload settings without a restart',
  ]
  const issues: number[] = []
  for (const [i, title] of titles.entries()) {
    const made = await ask('POST', `${at}/issues`, {
      created_at: daysAgo(11 - i),
      title,
      description:
        i === 0
          ? 'When an upstream restarts, people see **502** for a moment.\n\n- [x] reproduce\n- [ ] retry\n\n```ts\nconst answer = await forward(request)\n```'
          : '',
      labels: i % 3 === 0 ? 'bug' : i % 3 === 1 ? 'feature' : 'security,bug',
      milestone_id: milestone.id,
      assignee_ids: [i % 2 === 0 ? mira.id : jonas.id],
    })
    issues.push(made.iid)
  }
  for (const [i, iid] of issues.slice(3).entries())
    await ask('PUT', `${at}/issues/${iid}`, { state_event: 'close', updated_at: daysAgo(5 - 2 * i) })
  const [issue = 0] = issues
  await ask('POST', `${at}/issues/${issue}/notes`, {
    body: 'I can see it with `curl` too. @jonas, is it the pool?',
  })
  await call('POST', `${at}/issues/${issue}/notes`, {
    as: jonas,
    body: { body: 'It is: connections are kept after a restart. !1 retries.' },
  })
  const merge = await ask('POST', `${at}/merge_requests`, {
    source_branch: 'retry-upstream',
    target_branch: 'main',
    title: 'Retry upstreams that are away',
    description: `Closes #${issue}.\n\nThe pause doubles each time.`,
    reviewer_ids: [jonas.id],
    assignee_id: mira.id,
    labels: 'feature',
  })
  const { diff_refs: refs } = await ask('GET', `${at}/merge_requests/${merge.iid}`)
  const remark = await call('POST', `${at}/merge_requests/${merge.iid}/discussions`, {
    as: jonas,
    body: {
      body: 'Should this be a setting?',
      position: {
        ...(refs as object),
        position_type: 'text',
        new_path: 'src/server.ts',
        old_path: 'src/server.ts',
        new_line: 11,
      },
    },
  })
  assert.equal(remark.status, 201, remark.text)
  const snippet = await ask('POST', `${at}/snippets`, {
    title: 'Watch the gateway',
    visibility: 'public',
    files: [
      { file_path: 'watch.sh', content: 'while true; do curl -s localhost:8080/health; sleep 1; done\n' },
    ],
  })
  const pipeline = await ask('POST', `${at}/pipeline`, { ref: 'main' })
  const jobs = (await ask('GET', `${at}/pipelines/${pipeline.id}/jobs`)) as unknown as { id: number }[]
  await runJobs(world, jobs.length)
  return {
    mira,
    jonas,
    group,
    project,
    issue,
    mergeRequest: merge.iid,
    milestone: milestone.iid,
    pipeline: pipeline.id,
    jobs: jobs.map(({ id }) => id).toSorted((a, b) => a - b),
    snippet: snippet.id,
    sha: String(change['id']),
    ask,
  }
}

const LOG = [
  '\x1b[0KRunning with guildhall-runner on build-1\n',
  '\x1b[32;1m$ npm ci\x1b[0;m\nadded 307 packages in 9s\n',
  '\x1b[32;1m$ npm run build\x1b[0;m\n\x1b[33mwarning\x1b[0m: the target is old\n',
  '\x1b[31;1mFAIL\x1b[0m src/forward.ts <img src=x onerror=alert(1)>\n',
].join('')

/** Plays a runner: the first job succeeds with a log, later ones wait as they are. */
async function runJobs(world: World, count: number): Promise<void> {
  if (count === 0) return
  const admin = await world.make.admin()
  const runner = await world.call('POST', '/user/runners', {
    as: admin,
    body: { runner_type: 'instance_type', run_untagged: true },
  })
  const { token } = runner.body as { token: string }
  const given = await world.call('POST', '/jobs/request', { body: { token, info: { features: {} } } })
  const job = given.body as { id: number; token: string }
  const headers = {
    'job-token': job.token,
    'content-type': 'text/plain',
    'content-range': `0-${LOG.length - 1}`,
  }
  const written = await world.call('PATCH', `/jobs/${job.id}/trace`, { body: LOG, headers })
  assert.equal(written.status, 202, written.text)
  await world.call('PUT', `/jobs/${job.id}`, { body: { token: job.token, state: 'success' } })
}
