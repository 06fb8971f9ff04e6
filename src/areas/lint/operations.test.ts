import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

let project: Project
let library: Project
let owner: Someone
let group: Namespace
before(async () => {
  const { make } = world()
  group = await make.group()
  owner = await make.memberOf('owner', { group })
  project = await filled('app', FILES)
  library = await filled('lib', { 'jobs.yml': 'shared: {script: share}' })
})

const FILES = {
  '.gitlab-ci.yml': 'include: ci/build.yml\ntest: {script: make test}',
  'ci/build.yml': '.base: {script: [make, "make all"]}\nbuild: {extends: .base, stage: build, tags: [linux]}',
}

async function begun(name: string): Promise<Project> {
  const body = { name, namespace_id: group.id }
  const made = await world().call('POST', '/projects', { as: owner, body })
  assert.equal(made.status, 201, made.text)
  return rowOf<Project>(world(), 'select * from projects where id = $1', [(made.body as { id: number }).id])
}

async function filled(name: string, files: Readonly<Record<string, string>>): Promise<Project> {
  const made = await begun(name)
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }))
  const body = { branch: 'main', commit_message: 'Add files', actions }
  const answer = await world().call('POST', `/projects/${made.id}/repository/commits`, { as: owner, body })
  assert.equal(answer.status, 201, answer.text)
  return made
}

interface Linted {
  readonly valid: boolean
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
  readonly merged_yaml: string | null
  readonly includes: readonly Readonly<Record<string, unknown>>[]
  readonly jobs?: readonly Readonly<Record<string, unknown>>[]
}
const path = (of: Project): string => `/projects/${of.id}/ci/lint`
const get = (query: Record<string, string> = {}, of = project, as = owner): Promise<Answered> =>
  world().call('GET', path(of), { as, query })
const post = (body: object, of = project, as = owner): Promise<Answered> =>
  world().call('POST', path(of), { as, body })
const linted = ({ status, text, body }: Answered): Linted => {
  assert.equal(status, 200, text)
  return body as Linted
}

test('a committed configuration is read at the head of the default branch, with its includes', async () => {
  const found = linted(await get({ include_jobs: 'true' }))
  assert.deepEqual([found.valid, found.errors, found.warnings], [true, [], []])
  const [include] = found.includes
  const { config } = world().opened.instance
  const sha = String(include?.['context_sha'])
  assert.match(sha, /^[0-9a-f]{40}$/)
  assert.deepEqual(found.includes, [
    {
      type: 'local',
      location: 'ci/build.yml',
      blob: `${config.url}/${project.full_path}/-/blob/${sha}/ci/build.yml`,
      raw: `${config.url}/${project.full_path}/-/raw/${sha}/ci/build.yml`,
      extra: {},
      context_project: project.full_path,
      context_sha: sha,
    },
  ])
  assert.equal(
    found.merged_yaml,
    '---\n".base":\n  script:\n    - make\n    - make all\nbuild:\n  script:\n    - make\n    - make all\n  extends: .base\n  stage: build\n  tags:\n    - linux\ntest:\n  script: make test\n'.replace(
      '".base"',
      '.base',
    ),
  )
  assert.deepEqual(found.jobs, [
    {
      name: 'build',
      stage: 'build',
      before_script: [],
      script: ['make', 'make all'],
      after_script: [],
      tag_list: ['linux'],
      only: { refs: ['branches', 'tags'] },
      except: null,
      environment: null,
      when: 'on_success',
      allow_failure: false,
      needs: null,
    },
    {
      name: 'test',
      stage: 'test',
      before_script: [],
      script: ['make test'],
      after_script: [],
      tag_list: [],
      only: { refs: ['branches', 'tags'] },
      except: null,
      environment: null,
      when: 'on_success',
      allow_failure: false,
      needs: null,
    },
  ])
  assert.equal(linted(await get()).jobs, undefined)
})

test('an invalid configuration answers 200 with its faults and no jobs', async () => {
  const found = linted(await post({ content: 'test: {script: 1}\nbuild: {stage: x}', include_jobs: true }))
  assert.deepEqual(found, {
    valid: false,
    errors: [
      'jobs:test:script config should be a string or a nested array of strings up to 10 levels deep',
      'jobs build config should implement the script:, run:, or trigger: keyword',
    ],
    warnings: [],
    merged_yaml: null,
    includes: [],
    jobs: [],
  })
})

test('refs that are not there, two names of one ref and an empty repository are refused', async () => {
  const missing = await get({ content_ref: 'none' })
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Commit Not Found' }])
  const both = await get({ content_ref: 'main', sha: 'main' })
  assert.deepEqual([both.status, both.body], [400, { error: 'content_ref, sha are mutually exclusive' }])
  const empty = await begun('empty')
  const none = await get({}, empty)
  assert.deepEqual([none.status, none.body], [404, { message: '404 Repository Not Found' }])
  assert.equal(linted(await post({ content: 'a: {script: a}' }, empty)).valid, true)
})

test('a project without a configuration is not valid', async () => {
  const found = linted(await get({}, library))
  assert.deepEqual([found.valid, found.errors], [false, ['Please provide content of .gitlab-ci.yml']])
})

test('the configuration lies where the project says', async () => {
  await world().call('PUT', `/projects/${library.id}`, { as: owner, body: { ci_config_path: 'jobs.yml' } })
  assert.equal(linted(await get({}, library)).valid, true)
})

test('a dry run decides rules as a push would, and creates nothing', async () => {
  const content = `
    always: {script: a, needs: []}
    main: {script: a, rules: [{if: $CI_COMMIT_BRANCH == "main"}]}
    other: {script: a, rules: [{if: $CI_COMMIT_BRANCH == "other"}]}`
  const before = await contents(world())
  const names = async (body: object): Promise<unknown[]> =>
    (linted(await post({ content, include_jobs: true, ...body })).jobs ?? []).map((job) => job['name'])
  assert.deepEqual(await names({}), ['always', 'main', 'other'])
  assert.deepEqual(await names({ dry_run: true }), ['always', 'main'])
  assert.deepEqual(await names({ dry_run: true, ref: 'other' }), ['always', 'other'])
  const filtered = linted(await post({ content: 'a: {script: a, rules: []}', dry_run: true }))
  assert.deepEqual(
    [filtered.valid, filtered.errors],
    [
      false,
      ['The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.'],
    ],
  )
  assert.equal(await contents(world()), before)
})

test('a file of another project is included only for who may read its code', async () => {
  const content = `include: {project: ${library.full_path}, file: jobs.yml}`
  assert.equal(linted(await post({ content })).valid, true)
  const stranger = await world().make.memberOf('developer', { project })
  assert.deepEqual(linted(await post({ content }, project, stranger)).errors, [
    `Project \`${library.full_path}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`,
  ])
})

test('a trigger job is valid, one without a target is a fault that names it', async () => {
  const lint = async (content: string): Promise<unknown> => {
    const { body } = await post({ content })
    return [(body as Linted).valid, (body as Linted).errors]
  }
  assert.deepEqual(await lint('down: {trigger: {project: a/b, strategy: depend}}'), [true, []])
  assert.deepEqual(await lint('down: {trigger: {strategy: depend}}'), [
    false,
    ['jobs:down:trigger config must specify either project or include'],
  ])
})
