/* Pipelines pushed by git run to their end on the bundled runner. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, suite, test } from 'node:test'
import { killGroup, until } from '../support/program.ts'
import { openYard, type JobShown, type Yard } from '../support/pipelines_by_runner.ts'

const REALISTIC = `
stages: [build, test, deploy]
variables: { COLOR: red, SHADE: "dark $COLOR" }
default: { before_script: [echo "before $CI_JOB_NAME"] }
compile:
  stage: build
  script:
    - mkdir -p out/deep
    - echo "$SHADE" > out/deep/color.txt
    - ln -s deep/color.txt out/link
    - chmod 000 out/secret 2>/dev/null || true
    - echo VERSION=1.4 > build.env
  artifacts: { paths: [out/], exclude: [out/no*], expire_in: 1 day, reports: { dotenv: build.env } }
  after_script: ['echo "after $CI_JOB_STATUS"']
unit:
  stage: test
  parallel: { matrix: [{ SIZE: [small, large] }] }
  script: ['echo "size $SIZE"', cat out/deep/color.txt, test -L out/link]
early:
  stage: test
  needs: []
  script: [test ! -e out, echo early]
flaky:
  stage: test
  retry: 1
  script: [exit 7]
  allow_failure: { exit_codes: 7 }
  artifacts: { paths: [nothing/], when: always }
unruly:
  stage: test
  rules: [{ if: $COLOR == "blue" }]
  script: [exit 1]
ship:
  stage: deploy
  resource_group: production
  script: ['echo shipped $VERSION to $WHERE']
  environment: { name: production, url: 'https://$VERSION.example' }
  variables: { WHERE: "the $COLOR sea" }
later:
  stage: deploy
  when: manual
  script: [echo later]
`

suite('pipelines on the bundled runner', () => {
  let yard: Yard
  before(async () => {
    yard = await openYard()
  })
  after(() => yard.clear())
  afterEach(() => yard.stopRunners())

  const log = (id: number): string =>
    readFileSync(
      join(yard.place.dataDir, 'traces', (id % 256).toString(16).padStart(2, '0'), `${id}.log`),
      'utf8',
    )
  const hasWritten = (id: number, text: string): boolean => {
    try {
      return log(id).includes(text)
    } catch {
      return false
    }
  }
  const logOf = (jobs: readonly JobShown[], name: string): string => {
    const job = jobs.find((each) => each.name === name)
    assert.ok(job, name)
    return log(job.id)
  }
  const statuses = (jobs: readonly JobShown[]): Record<string, string> =>
    Object.fromEntries(jobs.map(({ name, status }) => [name, status]))

  test('a realistic configuration runs to its end', async () => {
    const runner = yard.startRunner(['--concurrent', '4'])
    const pipeline = await yard.push({ '.gitlab-ci.yml': REALISTIC, 'README.md': 'Ship\n' })
    await yard.untilPipeline(pipeline, 'success', 'failed')
    const jobs = await yard.jobs(pipeline)
    assert.deepEqual(statuses(jobs), {
      compile: 'success',
      'unit: [small]': 'success',
      'unit: [large]': 'success',
      early: 'success',
      flaky: 'failed',
      ship: 'success',
      later: 'manual',
    })
    const compile = logOf(jobs, 'compile')
    assert.match(compile, /section_start:\d+:step_script\r/)
    assert.match(compile, /before compile/)
    assert.match(compile, /after success/)
    assert.match(compile, /Job succeeded/)
    assert.match(logOf(jobs, 'unit: [large]'), /size large[^]*dark red/)
    assert.match(logOf(jobs, 'ship'), /shipped 1\.4 to the red sea/)
    assert.match(logOf(jobs, 'flaky'), /No files to upload[^]*Job failed: exit status 7/)
    runner.child.kill('SIGTERM')
    assert.deepEqual((await runner.ended).code, 0)
  })

  test('a triggered pipeline gives its variables, log, artifacts and test results back', async () => {
    const { api, project } = yard
    const config = [
      'measure:',
      '  script:',
      '    - mkdir out; echo "made for $WHOM" > out/made.txt',
      `    - echo '<testsuite><testcase name="a" time="1"/><testcase name="b"><failure>no</failure></testcase></testsuite>' > junit.xml`,
      '    - echo "covered 87.5% of lines"',
      String.raw`  coverage: '/covered \d+\.\d+%/'`,
      '  artifacts: { paths: [out/], reports: { junit: junit.xml } }',
      '  rules: [{ if: $CI_PIPELINE_SOURCE == "trigger" }]',
      'always: { script: [echo done], rules: [{ when: always }] }',
    ].join('\n')
    const pushed = await yard.push({ '.gitlab-ci.yml': config }, 'triggered')
    const { token } = await api.PipelineTriggerTokens.create(project, 'A hook')
    const made = await api.PipelineTriggerTokens.trigger(project, 'triggered', token, {
      variables: { WHOM: 'the guild' },
    })
    const runner = yard.startRunner(['--jobs', '3'])
    for (const id of [pushed, made.id])
      assert.equal(await yard.untilPipeline(id, 'success', 'failed'), 'success')
    assert.equal((await runner.ended).code, 0)
    assert.deepEqual(statuses(await yard.jobs(pushed)), { always: 'success' })
    assert.equal((await api.Pipelines.show(project, made.id)).source, 'trigger')
    const measure = (await yard.jobs(made.id)).find(({ name }) => name === 'measure')
    assert.ok(measure)
    assert.match(await api.Jobs.showLog(project, measure.id), /covered 87\.5%[^]*Job succeeded/)
    assert.equal((await api.Jobs.show(project, measure.id)).coverage, 87.5)
    const file = await api.JobArtifacts.downloadArchive(project, {
      jobId: measure.id,
      artifactPath: 'out/made.txt',
    })
    assert.equal(await file.text(), 'made for the guild\n')
    const report = await api.Pipelines.showTestReport(project, made.id)
    const suites = report.test_suites as readonly { readonly name: string }[]
    assert.deepEqual([report.total_count, report.failed_count, suites[0]?.name], [2, 1, 'measure'])
    const variables = await api.Pipelines.allVariables(project, made.id)
    assert.deepEqual(
      variables.map(({ key }) => key),
      ['WHOM', 'TRIGGER_PAYLOAD'],
    )
    assert.equal((await api.Pipelines.showLatest(project, { ref: 'triggered' })).id, made.id)
  })

  test('security reports of jobs become vulnerabilities when their pipeline ends, and bad ones are told', async () => {
    const config = [
      'sast:',
      '  script: [cp findings.json gl-sast-report.json]',
      '  artifacts: { reports: { sast: gl-sast-report.json } }',
      'secrets:',
      `  script: ['echo {} > gl-secrets.json']`,
      '  artifacts: { reports: { secret_detection: gl-secrets.json } }',
    ].join('\n')
    const findings = readFileSync(
      new URL('../fixtures/scanners/gl-sast-report.json', import.meta.url),
      'utf8',
    )
    const pipeline = await yard.push({ '.gitlab-ci.yml': config, 'findings.json': findings }, 'scanned')
    await yard.api.Projects.edit(yard.project, { defaultBranch: 'scanned' })
    const runner = yard.startRunner(['--jobs', '2'])
    assert.equal(await yard.untilPipeline(pipeline, 'success', 'failed'), 'success')
    assert.equal((await runner.ended).code, 0)
    const list = async (noun: string): Promise<Readonly<Record<string, unknown>>[]> =>
      (await yard.place.json(['vulnerability', noun, '--project', 'root/ship'])) as never
    await until('both reports were read', async () => (await list('scans')).length === 2)
    const scans = await list('scans')
    const told = new Map(scans.map((scan) => [scan['job'], [scan['status'], scan['faults']]]))
    assert.deepEqual(told.get('sast'), ['succeeded', []])
    assert.deepEqual(told.get('secrets'), ['report_error', ['scan is not an object']])
    const { vulnerabilities } = JSON.parse(findings) as { vulnerabilities: readonly unknown[] }
    const created = scans.reduce((sum, scan) => sum + Number(scan['created_count']), 0)
    assert.equal(created, vulnerabilities.length)
    assert.equal((await list('list')).length, created)
  })

  test('masked variables and tokens do not reach the log, and files hold their values', async () => {
    const { api, project } = yard
    await api.ProjectVariables.create(project, 'PASSWORD', 'correct-horse-battery', { masked: true })
    await api.ProjectVariables.create(project, 'KEY_FILE', 'line one\nline two', { variableType: 'file' })
    const runner = yard.startRunner(['--jobs', '1'])
    const pipeline = await yard.push({
      '.gitlab-ci.yml': [
        'show:',
        '  script:',
        '    - echo "<$PASSWORD>"; printf "correct-"; sleep 0.2; echo "horse-battery"',
        '    - echo "<$CI_JOB_TOKEN>"',
        '    - cat "$KEY_FILE"',
        '    - id -u',
        '    - echo "runner token <$GUILDHALL_RUNNER_TOKEN>"',
      ].join('\n'),
    })
    await yard.untilPipeline(pipeline, 'success', 'failed')
    const text = logOf(await yard.jobs(pipeline), 'show')
    assert.doesNotMatch(text, /correct-horse-battery|glcbt-/)
    assert.match(text, /<\[MASKED\]>[^]*\[MASKED\]\n[^]*line one\nline two/)
    assert.match(text, /runner token <>/)
    if (process.getuid?.() === 0) assert.doesNotMatch(text, /^0$/m)
    assert.equal((await runner.ended).code, 0)
  })

  test('a canceled job ends with all its processes, and after_script runs', async () => {
    const runner = yard.startRunner(['--jobs', '1'])
    const marker = join(mkdtempSync(join(tmpdir(), 'guildhall-marker-')), 'marker')
    const pipeline = await yard.push({
      '.gitlab-ci.yml': [
        'endless:',
        `  script: ["echo started; (sleep 600; touch ${marker}) & sleep 600"]`,
        '  after_script: ["echo after $CI_JOB_STATUS"]',
      ].join('\n'),
    })
    await yard.untilPipeline(pipeline, 'running')
    const [job] = await yard.jobs(pipeline)
    assert.ok(job)
    await until('the job writes', () => hasWritten(job.id, 'started'))
    await yard.api.Pipelines.cancel(yard.project, pipeline)
    await yard.untilPipeline(pipeline, 'canceled')
    assert.match(log(job.id), /after canceled/)
    assert.equal((await runner.ended).code, 0)
    assert.equal(existsSync(marker), false)
    assert.deepEqual(sleepers(), [])
  })

  test('a runner without its server goes on when the server is back', async () => {
    const runner = yard.startRunner(['--jobs', '1'])
    const pipeline = await yard.push({
      '.gitlab-ci.yml': 'steady: { script: ["echo one; sleep 3; echo two; sleep 3; echo three"] }',
    })
    await yard.untilPipeline(pipeline, 'running')
    const [job] = await yard.jobs(pipeline)
    assert.ok(job)
    await until('the job writes', () => hasWritten(job.id, 'one'))
    killGroup(yard.server.pid)
    await yard.server.ended
    const server = await yard.place.serve()
    assert.equal(server.url, yard.server.url)
    yard = { ...yard, server }
    await yard.untilPipeline(pipeline, 'success', 'failed')
    assert.match(logOf(await yard.jobs(pipeline), 'steady'), /one\n[^]*two\nthree\n[^]*Job succeeded/)
    assert.equal((await runner.ended).code, 0)
  })

  test('a child pipeline runs before the next stage, once, though the server is killed when it is asked for', async () => {
    const { api, project } = yard
    const runner = yard.startRunner(['--jobs', '3'])
    const pipeline = await yard.push({
      '.gitlab-ci.yml': [
        'stages: [build, sub, after]',
        'make: {stage: build, script: [echo made]}',
        'sub: {stage: sub, variables: {WHOM: "of $CI_JOB_NAME"}, trigger: {include: child.yml, strategy: depend}}',
        'last: {stage: after, script: [echo last]}',
      ].join('\n'),
      'child.yml': 'unit: {script: ["echo for $WHOM in $CI_PIPELINE_SOURCE"]}',
    })
    await until('the bridge is asked for', async () => {
      const [bridge] = await api.Jobs.allPipelineBridges(project, pipeline)
      return bridge !== undefined && bridge.status !== 'created'
    })
    killGroup(yard.server.pid)
    await yard.server.ended
    yard = { ...yard, server: await yard.place.serve() }
    assert.equal(await yard.untilPipeline(pipeline, 'success', 'failed'), 'success')
    assert.deepEqual(statuses(await yard.jobs(pipeline)), { make: 'success', last: 'success' })
    const [bridge] = (await api.Jobs.allPipelineBridges(project, pipeline)) as readonly {
      readonly downstream_pipeline: { readonly id: number }
    }[]
    const downstream = bridge?.downstream_pipeline.id
    const sha = (await api.Pipelines.show(project, pipeline)).sha
    const children = (await api.Pipelines.all(project, {
      sha,
      source: 'parent_pipeline',
    })) as readonly { id: number; status: string }[]
    assert.deepEqual(
      children.map(({ id, status }) => [id, status]),
      [[downstream, 'success']],
    )
    assert.match(logOf(await yard.jobs(children[0]?.id ?? 0), 'unit'), /for of sub in parent_pipeline/)
    assert.equal((await runner.ended).code, 0)
  })

  test('a wrong token, address or user is refused in words', async () => {
    const ended = await yard.startRunner([], { GUILDHALL_RUNNER_TOKEN: 'glrt-none' }).ended
    assert.deepEqual([ended.code, /answered 403/.test(ended.stderr)], [1, true], ended.stderr)
    const bad = await yard.place.run(['runner', '--url', 'somewhere', '--token', 'glrt-x'])
    assert.deepEqual([bad.code, /takes an address/.test(bad.stderr)], [2, true], bad.stderr)
    const none = await yard.place.run(['runner', '--url', 'http://localhost'])
    assert.deepEqual([none.code, /a token is needed/.test(none.stderr)], [2, true], none.stderr)
    const user = await yard.startRunner(['--user', 'root']).ended
    assert.equal(user.code, 1, user.stderr)
  })
})

/** Processes of this test's jobs that are still there. */
function sleepers(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const line = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, 'utf8') : ''
      return line === 'sleep\u0000600\u0000' ? [name] : []
    } catch {
      return []
    }
  })
}
