import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile, jobNamed, plan, planOrRefuse } from '../../../test/support/ci_config.ts'
import type { PlannedPipeline } from './plan.ts'

const names = ({ jobs }: PlannedPipeline): string[] => jobs.map(({ name }) => name)

test('jobs stand in the order of their stages; stages without jobs are left out', async () => {
  const planned = await plan(`
    last: {stage: .post, script: a}
    deploy: {stage: deploy, script: a}
    test: {script: a}
    first: {stage: .pre, script: a}`)
  assert.deepEqual(planned.stages, ['.pre', 'test', 'deploy', '.post'])
  assert.deepEqual(
    planned.jobs.map(({ name, stage_index }) => [name, stage_index]),
    [
      ['first', 0],
      ['test', 1],
      ['deploy', 2],
      ['last', 3],
    ],
  )
})

test('a plain job is planned with the defaults of every keyword', async () => {
  const job = jobNamed(await plan('job: {script: [a, [b, [c]]]}'), 'job')
  assert.deepEqual(job, {
    name: 'job',
    stage: 'test',
    stage_index: 0,
    kind: 'build',
    when: 'on_success',
    start_in: null,
    allow_failure: false,
    allow_failure_exit_codes: null,
    scheduling_type: 'stage',
    needs: [],
    dependencies: null,
    tags: [],
    resource_group: null,
    environment: null,
    interruptible: false,
    retry: { max: 0, when: ['always'], exit_codes: [] },
    timeout: null,
    instance: null,
    variables: [],
    coverage: null,
    manual_confirmation: null,
    options: { script: ['a', 'b', 'c'] },
    trigger: null,
  })
})

test('a job takes whole keywords of default, unless it inherits only some', async () => {
  const planned = await plan(`
    default: {image: ruby, retry: 2, tags: [a], cache: {paths: [x]}}
    before_script: [old]
    all: {script: a, tags: [b], cache: []}
    none: {script: a, inherit: {default: false}}
    some: {script: a, inherit: {default: [tags]}}`)
  const all = jobNamed(planned, 'all')
  assert.deepEqual([all.tags, all.retry.max, all.options.cache], [['b'], 2, []])
  assert.deepEqual([all.options.image, all.options.before_script], [{ name: 'ruby' }, ['old']])
  assert.deepEqual(jobNamed(planned, 'none').options, { script: ['a'] })
  assert.deepEqual([jobNamed(planned, 'some').tags, jobNamed(planned, 'some').retry.max], [['a'], 0])
})

test('extends merges hashes and replaces lists; the job wins, then the later base', async () => {
  const job = jobNamed(
    await plan(`
      .one: {script: [one], variables: {A: 1, B: 1}, tags: [x, y]}
      .two: {extends: .one, variables: {B: 2, C: 2}}
      job: {extends: [.one, .two], variables: {C: 3}, tags: [z]}`),
    'job',
  )
  assert.deepEqual(job.options.script, ['one'])
  assert.deepEqual(job.tags, ['z'])
  assert.deepEqual(Object.fromEntries(job.variables.map(({ key, value }) => [key, value])), {
    A: '1',
    B: '2',
    C: '3',
  })
})

test('references are put in place and scripts flattened', async () => {
  const job = jobNamed(
    await plan(`
      .setup: {script: [a, b], rules: [{if: $X, when: never}]}
      .more: {script: [!reference [.setup, script], c]}
      job: {script: [!reference [.more, script], d], rules: [!reference [.setup, rules], {when: always}]}`),
    'job',
  )
  assert.deepEqual([job.options.script, job.when], [['a', 'b', 'c', 'd'], 'always'])
})

test('included files merge in their order, and the including file wins', async () => {
  const files = {
    'one.yml': 'variables: {A: one, B: one}\njob: {script: one, stage: build}',
    'ci/two.yml': 'include: /ci/three.yml\nvariables: {A: two}\njob: {tags: [two]}',
    'ci/three.yml': 'variables: {A: three, C: three}',
  }
  const projects = {
    'group/lib': { 'x.yml': 'extra: {script: x}', 'y.yaml': 'include: z.yml', 'z.yml': '.z: {}' },
  }
  const text = `
    include:
      - one.yml
      - local: ci/t*.yml
      - {project: $LIB, file: [x.yml, /y.yaml], ref: main}
      - {local: none.yml, rules: [{if: $NONE}]}
      - {local: "none/*.yml"}
    variables: {B: main}
    job: {stage: test}`
  const settings = { files, projects, predefined: { LIB: 'group/lib' } }
  const planned = await plan(text, settings)
  const job = jobNamed(planned, 'job')
  assert.deepEqual([job.stage, job.tags, job.options.script], ['test', ['two'], ['one']])
  const variables = Object.fromEntries(planned.variables.map(({ key, value }) => [key, value]))
  assert.deepEqual(variables, { A: 'two', B: 'main', C: 'three' })
  const compiled = await compile(text, settings)
  assert.ok('includes' in compiled)
  assert.deepEqual(
    compiled.includes.map(({ type, location, context_project, project }) => [
      type,
      location,
      context_project,
      project,
    ]),
    [
      ['local', 'one.yml', 'group/app', 'group/app'],
      ['local', 'ci/three.yml', 'group/app', 'group/app'],
      ['local', 'ci/two.yml', 'group/app', 'group/app'],
      ['local', 'ci/three.yml', 'group/app', 'group/app'],
      ['file', 'x.yml', 'group/app', 'group/lib'],
      ['file', 'y.yaml', 'group/app', 'group/lib'],
      ['local', 'z.yml', 'group/lib', 'group/lib'],
    ],
  )
})

test('inputs fill a file in, whole values with their type', async () => {
  const files = {
    'job.yml': `
spec: {inputs: {name: {}, count: {type: number, default: 2}, flag: {type: boolean, default: true}, list: {type: array, default: [a, b]}}}
---
"job $[[ inputs.name | truncate(0, 3) ]]":
  script: $[[ inputs.list ]]
  parallel: $[[ inputs.count ]]
  interruptible: $[[ inputs.flag ]]
  tags: ["t-$[[ inputs.name ]]-$[[inputs.count]]"]
`,
  }
  const planned = await plan('include: [{local: job.yml, inputs: {name: linux}}]', { files })
  assert.deepEqual(names(planned), ['job lin 1/2', 'job lin 2/2'])
  const job = jobNamed(planned, 'job lin 1/2')
  assert.deepEqual([job.options.script, job.interruptible, job.tags], [['a', 'b'], true, ['t-linux-2']])
})

test('the first rule that holds decides; all its conditions must', async () => {
  const text = `
    by_if: {script: a, rules: [{if: $A == "1", when: never}, {if: $CI_COMMIT_BRANCH == "main", when: manual}]}
    by_changes: {script: a, rules: [{changes: ["src/**/*.ts"], if: $A}, {when: on_failure}]}
    by_exists: {script: a, rules: [{exists: [Dockerfile]}]}
    by_folder: {script: a, rules: [{exists: [src/]}]}
    by_other: {script: a, rules: [{exists: {paths: ["*.md"], project: group/lib}}]}
    gone: {script: a, rules: [{if: $NONE}]}
    never: {script: a, rules: [{when: never}]}
    always: {script: a, rules: []}
    waits: {script: a, rules: [{when: delayed, start_in: 2 hours, allow_failure: true}]}`
  const files = { Dockerfile: '', 'src/a/b.ts': '' }
  const projects = { 'group/lib': { 'README.md': '' } }
  const planned = await plan(text, { files, projects, changed: ['src/a/b.ts'], predefined: { A: '2' } })
  assert.deepEqual(
    planned.jobs.map(({ name, when, allow_failure, start_in }) => [name, when, allow_failure, start_in]),
    [
      ['by_if', 'manual', false, null],
      ['by_changes', 'on_success', false, null],
      ['by_exists', 'on_success', false, null],
      ['by_folder', 'on_success', false, null],
      ['by_other', 'on_success', false, null],
      ['waits', 'delayed', true, 7_200],
    ],
  )
  const unchanged = await plan(text, { changed: ['README.md'], predefined: { A: '1' }, projects })
  assert.deepEqual(names(unchanged), ['by_changes', 'by_other', 'waits'])
  assert.equal(jobNamed(unchanged, 'by_changes').when, 'on_failure')
})

test('changes hold where there is no list of them', async () => {
  assert.deepEqual(names(await plan('a: {script: a, rules: [{changes: [x]}]}', { changed: null })), ['a'])
})

test('a manual job is optional by itself and blocks by a rule', async () => {
  const planned = await plan(`
    job: {script: a, when: manual}
    blocking: {script: a, when: manual, allow_failure: false}
    rule: {script: a, rules: [{when: manual}]}
    optional: {script: a, rules: [{when: manual, allow_failure: true}]}
    codes: {script: a, allow_failure: {exit_codes: [1, 2]}}
    switched: {script: a, allow_failure: {exit_codes: 1}, rules: [{allow_failure: false}]}`)
  assert.deepEqual(
    planned.jobs.map(({ name, allow_failure, allow_failure_exit_codes }) => [
      name,
      allow_failure,
      allow_failure_exit_codes,
    ]),
    [
      ['job', true, null],
      ['blocking', false, null],
      ['rule', false, null],
      ['optional', true, null],
      ['codes', false, [1, 2]],
      ['switched', false, null],
    ],
  )
})

test('jobs without rules belong to branches and tags, and to all pipelines where the workflow has rules', async () => {
  const text = 'a: {script: a}\nb: {script: b, only: [merge_requests]}'
  const request = { source: 'merge_request_event', ref: 'refs/merge-requests/1/head' } as const
  assert.deepEqual(names(await plan(text)), ['a'])
  assert.deepEqual(names(await plan(text, request)), ['b'])
  assert.deepEqual(names(await plan(`workflow: {rules: [{when: always}]}\n${text}`, request)), ['a', 'b'])
})

test('only needs all of its parts, except any of them', async () => {
  const text = `
    tags: {script: a, only: [tags]}
    main: {script: a, only: [main]}
    regex: {script: a, only: ["/^MA/i"]}
    source: {script: a, only: [schedules, web]}
    elsewhere: {script: a, only: ["main@other/project"]}
    here: {script: a, only: ["main@group/app"]}
    both: {script: a, only: {refs: [main], variables: [$A]}}
    changed: {script: a, only: {changes: [x]}}
    not: {script: a, except: [main]}
    nor: {script: a, except: {variables: [$A], refs: [tags]}}
    cluster: {script: a, only: {kubernetes: active}}
    any: {script: a}`
  const on = async (settings: Parameters<typeof plan>[1]): Promise<string> =>
    names(await plan(text, settings)).join(' ')
  assert.equal(await on({ changed: ['y'] }), 'main regex here nor any')
  assert.equal(await on({ changed: ['x'], predefined: { A: '1' } }), 'main regex here both changed any')
  assert.equal(await on({ tag: true, ref: 'v1', changed: ['y'] }), 'tags not any')
  assert.equal(await on({ source: 'schedule', ref: 'dev', changed: ['y'] }), 'source not nor any')
})

test('a workflow rule brings variables, a name and when old pipelines are canceled', async () => {
  const text = `
    workflow:
      name: "$KIND of $CI_COMMIT_BRANCH "
      auto_cancel: {on_job_failure: all}
      rules:
        - {if: $CI_COMMIT_BRANCH == "main", variables: {KIND: build, ROOT: rule}, auto_cancel: {on_new_commit: none}}
    variables: {ROOT: root, OTHER: root}
    job: {script: a, variables: {KIND: job}}
    bare: {script: a, inherit: {variables: [OTHER]}}`
  const planned = await plan(text)
  assert.equal(planned.name, 'build of main')
  assert.deepEqual(planned.autoCancel, { on_new_commit: 'none', on_job_failure: 'all' })
  const of = (name: string): Record<string, string> =>
    Object.fromEntries(jobNamed(planned, name).variables.map(({ key, value }) => [key, value]))
  assert.deepEqual(of('job'), { ROOT: 'rule', OTHER: 'root', KIND: 'job' })
  assert.deepEqual(of('bare'), { OTHER: 'root', KIND: 'build', ROOT: 'rule' })
})

test('a variable comes from the strongest of its layers', async () => {
  const text = `
    variables: {V: root}
    job: {script: a, resource_group: $V, variables: {V: job}, rules: [{variables: {V: rule}}]}`
  const key = async (settings: Parameters<typeof plan>[1]): Promise<string | null> =>
    jobNamed(await plan(text, settings), 'job').resource_group
  const [secrets, pipeline] = [[{ key: 'V', value: 'project' }], [{ key: 'V', value: 'pipeline' }]]
  assert.equal(await key({ predefined: { V: 'predefined' } }), 'rule')
  assert.equal(await key({ secrets }), 'project')
  assert.equal(await key({ secrets, pipeline }), 'pipeline')
})

test('environments, resource groups, tags and triggers are expanded; scripts and images are not', async () => {
  const planned = await plan(
    `
    variables: {APP: shop}
    deploy:
      stage: deploy
      image: $APP:latest
      script: echo $APP
      tags: [$APP]
      resource_group: $APP/$CI_COMMIT_BRANCH
      environment: {name: review/$CI_COMMIT_BRANCH, url: "https://$CI_ENVIRONMENT_NAME.example/$LATER", on_stop: stop, auto_stop_in: 1 day, deployment_tier: testing}
    stop: {stage: deploy, script: a, when: manual, environment: {name: review/$CI_COMMIT_BRANCH, action: stop}}
    bad: {stage: deploy, script: a, environment: $BAD}
    bridge: {trigger: {project: $APP/x, branch: $CI_COMMIT_BRANCH, strategy: depend, forward: {pipeline_variables: true}}}
    child: {trigger: {include: [a.yml, {artifact: b.yml, job: deploy}, {project: g/p, file: c.yml}]}}`,
    { predefined: { BAD: 'a b!' } },
  )
  const job = jobNamed(planned, 'deploy')
  assert.deepEqual([job.tags, job.resource_group], [['shop'], 'shop/main'])
  assert.deepEqual(job.options, { image: { name: '$APP:latest' }, script: ['echo $APP'] })
  assert.deepEqual(job.environment, {
    name: 'review/main',
    url: 'https://review/main.example/$LATER',
    action: 'start',
    on_stop: 'stop',
    auto_stop_in: '1 day',
    tier: 'testing',
  })
  assert.equal(jobNamed(planned, 'bad').environment, null)
  assert.deepEqual(jobNamed(planned, 'bridge').trigger, {
    project: 'shop/x',
    branch: 'main',
    include: null,
    strategy: 'depend',
    forward: { yaml_variables: true, pipeline_variables: true },
  })
  assert.deepEqual(jobNamed(planned, 'child').trigger?.include, [
    { local: 'a.yml' },
    { artifact: 'b.yml', job: 'deploy' },
    { project: 'g/p', file: ['c.yml'], ref: null },
  ])
})

test('needs of a parallel job are all its instances, or the chosen ones', async () => {
  const planned = await plan(`
    build: {stage: build, script: a, parallel: {matrix: [{OS: [linux, mac], ARCH: x86}, {OS: bsd, ARCH: [arm, x86]}]}}
    split: {stage: build, script: a, parallel: 2}
    all: {script: a, needs: [build, {job: split, artifacts: false}]}
    one: {script: a, needs: [{job: build, parallel: {matrix: [{OS: mac, ARCH: x86}]}}]}
    named: {script: a, needs: ["build: [bsd, arm]"], dependencies: ["build: [bsd, arm]"]}
    absent: {script: a, needs: [{job: gone, optional: true}]}
    gone: {script: a, rules: [{when: never}]}`)
  const needs = (name: string): unknown[] =>
    jobNamed(planned, name).needs.map((need) => [need.name, need.artifacts])
  const [linux, mac] = ['build: [linux, x86]', 'build: [mac, x86]']
  const builds = [linux, mac, 'build: [bsd, arm]', 'build: [bsd, x86]']
  assert.deepEqual(names(planned).slice(0, 6), [...builds, 'split 1/2', 'split 2/2'])
  assert.deepEqual(needs('all'), [
    ...builds.map((name) => [name, true]),
    ['split 1/2', false],
    ['split 2/2', false],
  ])
  assert.deepEqual(needs('one'), [[mac, true]])
  assert.deepEqual(needs('named'), [['build: [bsd, arm]', true]])
  assert.deepEqual([needs('absent'), jobNamed(planned, 'absent').scheduling_type], [[], 'dag'])
  assert.deepEqual(jobNamed(planned, 'build: [bsd, arm]').instance, { index: 3, total: 4 })
  const variables = jobNamed(planned, mac).variables.map(({ key, value }) => `${key}=${value}`)
  assert.deepEqual(variables, ['OS=mac', 'ARCH=x86'])
})

test('rules may replace needs, and see what is predefined of their job', async () => {
  const planned = await plan(`
    a: {stage: build, script: a}
    b: {stage: build, script: b}
    c: {script: c, needs: [a], rules: [{if: $CI_JOB_NAME == "c" && $CI_JOB_STAGE == "test" && $CI_NODE_TOTAL == "1", needs: [b]}]}`)
  assert.deepEqual(jobNamed(planned, 'c').needs, [{ name: 'b', artifacts: true, optional: false }])
})

test('every keyword of the runner arrives in its normal form', async () => {
  const { options, retry, timeout, coverage, manual_confirmation, interruptible } = jobNamed(
    await plan(`
      job:
        script: make
        after_script: [clean]
        hooks: {pre_get_sources_script: prepare}
        image: {name: ruby, entrypoint: [""], pull_policy: always}
        services: [db, {name: web, alias: w, command: run}]
        cache: {key: 12, paths: [vendor], policy: pull}
        artifacts: {paths: [out], expire_in: 1 week, reports: {junit: r.xml}}
        release: {tag_name: v1, description: text}
        id_tokens: {T: {aud: x}}
        retry: {max: 1, when: script_failure, exit_codes: 3}
        timeout: 1h 30m
        coverage: '/(\\d+)%/'
        manual_confirmation: sure?
        interruptible: true
        pages: {publish: site}`),
    'job',
  )
  assert.deepEqual(JSON.parse(JSON.stringify(options)), {
    script: ['make'],
    after_script: ['clean'],
    hooks: { pre_get_sources_script: ['prepare'] },
    image: { name: 'ruby', entrypoint: [''], pull_policy: ['always'] },
    services: [{ name: 'db' }, { name: 'web', alias: 'w', command: ['run'] }],
    cache: [{ key: '12', paths: ['vendor'], policy: 'pull' }],
    artifacts: { paths: ['out'], expire_in: '1 week', reports: { junit: ['r.xml'] } },
    release: { tag_name: 'v1', description: 'text' },
    id_tokens: { T: { aud: 'x' } },
    publish: 'site',
  })
  assert.deepEqual(retry, { max: 1, when: ['script_failure'], exit_codes: [3] })
  assert.deepEqual([timeout, coverage, manual_confirmation, interruptible], [5_400, '(\\d+)%', 'sure?', true])
})

test('names of every kind are jobs like any other', async () => {
  const planned = await plan(
    'constructor: {script: a}\n"__proto__": {script: a}\ntoString: {script: a, needs: [__proto__]}',
  )
  assert.deepEqual(names(planned), ['constructor', '__proto__', 'toString'])
})

test('a warning tells of a last rule that lets branch and merge request pipelines both run', async () => {
  const warn = async (text: string): Promise<number> => {
    const compiled = await compile(text)
    return compiled.warnings.length
  }
  assert.equal(await warn('a: {script: a, rules: [{if: $A}, {when: always}]}'), 1)
  assert.equal(await warn('workflow: {rules: [{when: always}]}\na: {script: a, rules: [{when: always}]}'), 0)
  assert.equal(await warn('a: {script: a, rules: [{when: never}]}'), 0)
})

test('a thousand jobs are planned in turns of the event loop', async () => {
  const text = Array.from(
    { length: 1_000 },
    (_, at) =>
      `job ${at}:\n  script: [a, b]\n  needs: [${at > 0 ? `job ${at - 1}` : ''}]\n  rules:\n    - if: $A == "${at}"\n    - when: on_success\n`,
  ).join('')
  let turns = 0
  let open = true
  const turn = (): void => {
    turns += 1
    if (open) setImmediate(turn)
  }
  setImmediate(turn)
  const outcome = await planOrRefuse(text)
  open = false
  assert.ok('plan' in outcome && outcome.plan.jobs.length === 1_000)
  assert.ok(turns > 5, String(turns))
})

test('rules by changed and present paths hold among 10,000 files, and by default beyond 50,000 comparisons', async () => {
  const paths = Array.from({ length: 10_000 }, (_, at) => `src/${at % 100}/file-${at}.ts`)
  const files = Object.fromEntries(paths.map((path) => [path, '']))
  const many = Array.from({ length: 6 }, (_, at) => `none-${at}/**/*.md`)
  const planned = await plan(
    `
    changed: {script: a, rules: [{changes: ["src/99/*9999.ts"]}]}
    unchanged: {script: a, rules: [{changes: ["lib/**/*.ts"]}]}
    present: {script: a, rules: [{exists: ["src/*/file-9999.ts"]}]}
    absent: {script: a, rules: [{exists: ["**/*.md"]}]}
    beyond: {script: a, rules: [{exists: ${JSON.stringify(many)}}]}`,
    { files, changed: paths },
  )
  assert.deepEqual(
    planned.jobs.map(({ name }) => name),
    ['changed', 'present', 'beyond'],
  )
})
