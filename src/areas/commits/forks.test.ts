import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  assertSound,
  files,
  openCode,
  post,
  stored,
  tip,
  type Another,
  type Code,
} from '../../../test/support/code.ts'
import { rowOf } from '../../../test/support/rows.ts'

// `start_project`: commits that begin in a fork, in what it was forked from, or beside it.

let code: Code
let fork: Another
before(async () => {
  code = await openCode()
  await code.world.make.sql(`update projects set visibility = 'public' where id = ${code.project.id}`)
  fork = await code.another({ visibility: 'public' })
  await kin(fork, code)
})
after(() => code.world.close())

const kin = (child: Pick<Another, 'project'>, parent: Pick<Another, 'project'>): Promise<void> =>
  code.world.make.sql(
    `update projects set forked_from_project_id = ${parent.project.id} where id = ${child.project.id}`,
  )
const create = (file_path: string): object => ({
  commit_message: 'm',
  actions: [{ action: 'create', file_path, content: 'x' }],
})
interface Made {
  readonly id: string
  readonly parent_ids: string[]
}
async function made(where: Pick<Another, 'project' | 'maintainer'>, body: object): Promise<Made> {
  const answer = await post({ world: code.world, project: where.project }, where.maintainer, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Made
}
async function refuses(body: object, message: string, status = 400): Promise<void> {
  const before = stored(code.directory)
  const answer = await post(code, code.maintainer, { branch: 'new', ...create('x'), ...body })
  assert.deepEqual([answer.status, answer.body], [status, { message }])
  assert.equal(stored(code.directory), before, 'nothing is brought for a commit that is not made')
}

test('a commit starts in a fork, by branch or by hash, and brings what it follows', async () => {
  const there = await made(fork, { branch: 'main', ...create('of-the-fork') })
  for (const [branch, start] of [
    ['by-branch', { start_branch: 'main', start_project: fork.project.id }],
    ['by-path', { start_branch: 'main', start_project: fork.project.full_path }],
    ['by-hash', { start_sha: there.id, start_project: String(fork.project.id) }],
  ] as const) {
    const here = await made(code, { branch, ...start, ...create(branch) })
    assert.deepEqual([here.parent_ids, tip(code.directory, branch)], [[there.id], here.id])
    assert.equal(files(code.directory, branch)['of-the-fork'], '100644 x')
  }
  const newest = await made(fork, { branch: 'main', ...create('later') })
  const forced = await made(code, {
    branch: 'by-branch',
    start_branch: 'main',
    start_project: fork.project.id,
    force: true,
    ...create('forced'),
  })
  assert.deepEqual([forced.parent_ids, tip(code.directory, 'by-branch')], [[newest.id], forced.id])
  assertSound(code.directory)
})

test('a fork starts in what it was forked from, and in another fork of that', async () => {
  const other = await code.another({ visibility: 'public' })
  await kin(other, code)
  await code.world.make.member(fork.maintainer, 'reporter', { project: code.project })
  for (const from of [{ ...code }, other]) {
    const there = await made(from, { branch: `in-${from.project.id}`, start_branch: 'main', ...create('a') })
    const start = { start_branch: `in-${from.project.id}`, start_project: from.project.id }
    const here = await made(fork, { branch: `from-${from.project.id}`, ...start, ...create('b') })
    assert.deepEqual(here.parent_ids, [there.id])
  }
  assertSound(fork.directory)
})

test('an empty fork begins with what it starts from', async () => {
  const empty = await code.another({ repository: 'empty' })
  await kin(empty, fork)
  const start = { start_branch: 'main', start_project: fork.project.id }
  const here = await made(empty, { branch: 'main', ...start, ...create('first') })
  assert.deepEqual(here.parent_ids, [tip(fork.directory, 'main')])
  const row = await rowOf(code.world, 'select default_branch, empty_repo from projects where id = $1', [
    empty.project.id,
  ])
  assert.deepEqual(row, { default_branch: 'main', empty_repo: false })
})

test('of a fork counts what the caller may read there, and every rule holds', async () => {
  const start_project = fork.project.id
  await refuses(
    { start_branch: 'none', start_project },
    'You can only create or edit files when you are on a branch',
  )
  await refuses({ start_sha: 'a1', start_project }, "Invalid start_sha 'a1'")
  const nowhere = '0'.repeat(40)
  await refuses({ start_sha: nowhere, start_project }, `Cannot find start_sha '${nowhere}'`)
  await made(fork, { branch: 'only-there', start_branch: 'main', ...create('c') })
  await refuses(
    { branch: 'main', start_branch: 'only-there', start_project },
    "A branch called 'main' already exists. Switch to that branch in order to make changes",
  )
  await refuses(
    { branch: 'a..b', start_branch: 'only-there', start_project },
    "Something went wrong when we tried to create 'a..b' for you: Branch name is invalid",
  )
  const { full_name } = await rowOf<{ full_name: string }>(
    code.world,
    `select n.full_name || ' / ' || p.name as full_name
       from projects p join namespaces n on n.id = p.namespace_id where p.id = $1`,
    [start_project],
  )
  await code.world.make.sql(
    `update projects set repository_access_level = 'private' where id = ${start_project}`,
  )
  await refuses(
    { start_branch: 'only-there', start_project },
    `403 Forbidden - Project is not included in the fork network for ${full_name}`,
    403,
  )
  await code.world.make.sql(`update projects set visibility = 'private' where id = ${start_project}`)
  await refuses({ start_branch: 'only-there', start_project }, '404 Project Not Found', 404)
})
