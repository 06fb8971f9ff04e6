import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { makePipeline, makeRunner } from '../../test/support/ci_engine.ts'
import { gitText, scratch, writeHistory } from '../../test/support/git_fixtures.ts'
import type { Someone } from '../../test/support/makers.ts'
import { needing, plannedJob } from '../../test/support/planned_jobs.ts'
import { rowOf, rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import type { Answered } from '../../test/support/world.ts'
import type { PlannedJob } from '../ci/config/plan.ts'
import { repositoryPath } from '../core/places/projects.ts'
import type { Project } from '../db/schema/tables.ts'

const world = sharedWorld()
const TOKEN = 'glrt-dotenv'
let project: Project
let user: Someone
let sha: string
before(async () => {
  const { make, opened } = world()
  const source = join(scratch(), 'dotenv.git')
  writeHistory(source, 62, 1)
  project = await make.project({ repository: source })
  user = await make.memberOf('maintainer', { project })
  sha = gitText(opened.instance.git.directory(repositoryPath(project.id)), ['rev-parse', 'main'])
  const { id } = await makeRunner(world(), { token: TOKEN, runner_type: 'project_type' })
  await rowsOf(world(), 'insert into ci_runner_projects (runner_id, project_id) values ($1, $2)', [
    id,
    project.id,
  ])
})

interface Taken {
  readonly id: number
  readonly token: string
  readonly variables: readonly { readonly key: string; readonly value: string }[]
}
async function begin(...jobs: PlannedJob[]): Promise<void> {
  const pipeline = await makePipeline(world(), project, jobs, { user_id: user.id })
  await rowsOf(world(), 'update pipelines set sha = $2 where id = $1', [pipeline.id, sha])
}
async function take(): Promise<Taken> {
  const answer = await world().call('POST', '/jobs/request', { body: { token: TOKEN } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Taken
}
const finish = async ({ id, token }: Taken): Promise<void> => {
  const answer = await world().call('PUT', `/jobs/${id}`, { body: { token, state: 'success' } })
  assert.equal(answer.status, 200, answer.text)
}
const report = ({ id, token }: Taken, content: string | Uint8Array, format = 'gzip'): Promise<Answered> => {
  const bytes = typeof content === 'string' ? gzipSync(content) : content
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename=".env.gz"\r\n\r\n'
  return world().call('POST', `/jobs/${id}/artifacts?artifact_type=dotenv&artifact_format=${format}`, {
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--x--\r\n')]),
    headers: { 'content-type': 'multipart/form-data; boundary=x', 'job-token': token },
  })
}
const valueOf = ({ variables }: Taken, key: string): string | undefined =>
  variables.findLast((variable) => variable.key === key)?.value

test('variables of a dotenv report reach the jobs that depend on its job, and no others', async () => {
  const later = { stage_index: 1 }
  await begin(
    plannedJob({ name: 'makes' }),
    plannedJob({ name: 'beside' }),
    plannedJob({ ...later, name: 'stage' }),
    plannedJob({ ...later, name: 'none', dependencies: [] }),
    plannedJob({ ...later, name: 'named', dependencies: ['makes'] }),
    plannedJob({ ...later, name: 'other', dependencies: ['beside'] }),
    plannedJob({ ...later, name: 'needs', needs: needing('makes') }),
    plannedJob({ ...later, name: 'bare', needs: [{ name: 'makes', artifacts: false, optional: false }] }),
    plannedJob({ ...later, name: 'elsewhere', needs: needing('beside') }),
  )
  const [makes, beside] = [await take(), await take()]
  assert.equal(valueOf(beside, 'VERSION'), undefined)
  assert.equal((await report(makes, 'VERSION=1.2\n')).status, 201)
  await finish(makes)
  await finish(beside)
  const seen: Record<string, string | undefined> = {}
  for (let left = 7; left > 0; left -= 1) {
    const job = await take()
    seen[valueOf(job, 'CI_JOB_NAME') ?? ''] = valueOf(job, 'VERSION')
    await finish(job)
  }
  assert.deepEqual(seen, {
    stage: '1.2',
    none: undefined,
    named: '1.2',
    other: undefined,
    needs: '1.2',
    bare: undefined,
    elsewhere: undefined,
  })
})

test('dotenv variables beat those of the configuration and give way to those of the project', async () => {
  await begin(
    plannedJob({ name: 'makes' }),
    plannedJob({ name: 'uses', stage_index: 1, variables: [{ key: 'PLACE', value: 'job' }] }),
  )
  const body = { key: 'FIRM', value: 'project' }
  const added = await world().call('POST', `/projects/${project.id}/variables`, { as: user, body })
  assert.equal(added.status, 201)
  const makes = await take()
  assert.equal((await report(makes, 'PLACE=old\nFIRM=report\nPLACE=report\n')).status, 201)
  await finish(makes)
  const uses = await take()
  assert.deepEqual([valueOf(uses, 'PLACE'), valueOf(uses, 'FIRM')], ['report', 'project'])
  await finish(uses)
})

test('a report keeps its variables when it expires, and loses them when its job is erased', async () => {
  await begin(
    plannedJob({ name: 'makes' }),
    plannedJob({ name: 'uses', stage_index: 1 }),
    plannedJob({ name: 'after', stage_index: 2 }),
  )
  const makes = await take()
  assert.equal((await report(makes, 'KEPT=yes')).status, 201)
  const { dotenv } = await rowOf<{ dotenv: Buffer }>(world(), 'select dotenv from ci_jobs where id = $1', [
    makes.id,
  ])
  assert.equal(dotenv.includes('yes'), false)
  await finish(makes)
  await rowsOf(world(), 'delete from ci_job_artifacts where job_id = $1', [makes.id])
  const uses = await take()
  assert.equal(valueOf(uses, 'KEPT'), 'yes')
  const erased = await world().call('POST', `/projects/${project.id}/jobs/${makes.id}/erase`, { as: user })
  assert.equal(erased.status, 201, erased.text)
  await finish(uses)
  const after = await take()
  assert.equal(valueOf(after, 'KEPT'), undefined)
  await finish(after)
})

test('an environment has the address that the dotenv report of its job completes', async () => {
  const environment = {
    name: 'review/dynamic',
    url: 'https://$HOST_NAME.example/$CI_JOB_ID',
    action: 'start',
    on_stop: null,
    auto_stop_in: null,
    tier: null,
  } as const
  await begin(plannedJob({ name: 'deploys', environment }))
  const job = await take()
  assert.equal((await report(job, 'HOST_NAME=blue')).status, 201)
  await finish(job)
  const row = await rowOf(world(), `select external_url from environments where name = 'review/dynamic'`)
  assert.deepEqual(row, { external_url: `https://blue.example/${job.id}` })
})

const NAMES = "Validation failed: Key can contain only letters, digits and '_'."
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `K${at}=${at}`).join('\n')
const REFUSED: readonly (readonly [title: string, content: string | Uint8Array, text: string])[] = [
  ['a line without =', 'A=1\nnothing', 'Invalid Format'],
  ['a blank line', 'A=1\n\nB=2', 'Invalid Format'],
  ['a comment', '# a=b', NAMES],
  ['a name with a blank', 'A B=1', NAMES],
  ['an exported name', 'export A=1', NAMES],
  ['a name beyond ASCII', 'Ä=1', NAMES],
  ['a long name', `${'A'.repeat(256)}=1`, 'Validation failed: Key is too long (maximum is 255 characters)'],
  ['no name', '=1', "Validation failed: Key can't be blank, Key can contain only letters, digits and '_'."],
  ['a NUL in a value', 'A=1\u00002', 'Invalid Format'],
  ['JSON', "{ 'A': 'B' }", 'Invalid Format'],
  ['21 variables', lines(21), 'Dotenv files cannot have more than 20 variables'],
  ['5,121 bytes', `A=${'x'.repeat(5_119)}`, 'Dotenv Artifact Too Big. Maximum Allowable Size: 5120'],
  ['a bomb', 'A=0\n'.repeat(2_000_000), 'Dotenv Artifact Too Big. Maximum Allowable Size: 5120'],
  ['bytes that are no gzip', Buffer.from('A=1'), 'Invalid Format'],
  ['a gzip that breaks off', gzipSync('A=1').subarray(0, 12), 'Invalid Format'],
]
test('a dotenv report that breaks a rule or a limit is refused in the published words, and nothing is kept', async () => {
  await begin(plannedJob({ name: 'makes' }))
  const job = await take()
  for (const [title, content, text] of REFUSED) {
    const answer = await report(job, content)
    assert.deepEqual([answer.status, answer.body], [400, { message: text }], title)
  }
  const kept = await rowOf(
    world(),
    `select dotenv, (select count(*)::int from ci_job_artifacts where job_id = j.id) as files
       from ci_jobs j where id = $1`,
    [job.id],
  )
  assert.deepEqual(kept, { dotenv: null, files: 0 })
  await finish(job)
})

test('values of a dotenv report stand as they are written', async () => {
  await begin(plannedJob({ name: 'makes' }), plannedJob({ name: 'uses', stage_index: 1 }))
  const makes = await take()
  const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('WIDE=true\r\n', 'utf16le')])
  assert.equal((await report(makes, wide, 'raw')).status, 201)
  const text = ['\uFEFFA="quoted # text"', "B='x y'  ", ' C =a=b=$A', 'D=', '__proto__=polluted'].join('\r\n')
  assert.equal((await report(makes, text)).status, 201)
  await finish(makes)
  const uses = await take()
  assert.deepEqual(
    ['A', 'B', 'C', 'D', '__proto__', 'WIDE'].map((key) => valueOf(uses, key)),
    ['"quoted # text"', "'x y'", 'a=b=$A', '', 'polluted', undefined],
  )
  await finish(uses)
})

test('the limits of a dotenv report are those of the plan', async () => {
  const limits = async (size: number, variables: number): Promise<void> => {
    await rowsOf(
      world(),
      `update plan_limits set limits = limits || jsonb_build_object('dotenv_size', $1::int, 'dotenv_variables', $2::int)
        where plan_name = 'default'`,
      [size, variables],
    )
  }
  await begin(plannedJob({ name: 'makes' }))
  const job = await take()
  await limits(8, 2)
  assert.equal((await report(job, 'A=1\nB=2')).status, 201)
  for (const [content, text] of [
    ['A=1\nB=234', 'Dotenv Artifact Too Big. Maximum Allowable Size: 8'],
    ['A=\nB=\nC=', 'Dotenv files cannot have more than 2 variables'],
  ] as const)
    assert.deepEqual((await report(job, content)).body, { message: text })
  await limits(0, 0)
  assert.equal((await report(job, lines(2_000))).status, 201)
  // However large the plan's limit, not more than 1 MiB is read.
  const huge = await report(job, `A=${'x'.repeat(1_048_576)}`)
  assert.deepEqual(huge.body, { message: 'Dotenv Artifact Too Big. Maximum Allowable Size: 1048576' })
  await limits(5_120, 20)
  await finish(job)
})
