import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { openCode, post, tip, type Another, type Code } from '../../../test/support/code.ts'
import { gitText } from '../../../test/support/git_fixtures.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { moveBranch } from './commit_writing.ts'
import { tellOfPush } from './news.ts'
import { repositoryPath } from '../places/projects.ts'
import { reconcileMarked, startReconciler } from './reconciler.ts'

let code: Code
let marks: string
before(async () => {
  code = await openCode()
  marks = join(code.world.config.dataDir, 'moving')
  mkdirSync(marks, { recursive: true })
})
after(() => code.world.close())

const tools = (): Code['world']['opened']['instance'] => code.world.opened.instance
beforeEach(() => reconcileMarked(tools(), tools().pendingRefUpdates.take(), true))

const body = (branch: string): object => ({
  branch,
  commit_message: 'm',
  actions: [{ action: 'create', file_path: `of-${branch}`, content: '' }],
})
interface Row {
  readonly default_branch: string | null
  readonly last_activity_at: Date
}
const rowFor = ({ project }: Another): Promise<Row> =>
  rowOf<Row>(code.world, 'select default_branch, last_activity_at from projects where id = $1', [project.id])
const protectedIn = async ({ project }: Another): Promise<string[]> =>
  (
    await rowsOf<{ name: string }>(code.world, 'select name from protected_branches where project_id = $1', [
      project.id,
    ])
  ).map(({ name }) => name)
/** A mark as a process leaves it that dies. */
function leaveMark({ project }: Another, kind: 'first' | 'any', at = new Date()): string {
  const name = `${project.id}.${kind}.dead.1`
  writeFileSync(join(marks, name), '')
  utimesSync(join(marks, name), at, at)
  return name
}
const OLD = new Date('2020-01-01T00:00:00Z')
const age = ({ project }: Another): Promise<unknown> =>
  rowsOf(code.world, 'update projects set last_activity_at = $2 where id = $1', [project.id, OLD])

test('one mark stands for many moves, is there before them and until it is swept', async () => {
  const { world, maintainer, developer } = code
  assert.deepEqual(readdirSync(marks), [])
  await post(code, maintainer, body('main'))
  const [first, ...none] = readdirSync(marks)
  assert.match(first ?? '', new RegExp(`^${code.project.id}\\.any\\.`))
  assert.deepEqual(none, [])
  await post(code, developer, body('feature/login'))
  assert.deepEqual(readdirSync(marks), [first])
  assert.deepEqual(await tools().pendingRefUpdates.others(), [])
  assert.deepEqual(await reconcileMarked(tools(), tools().pendingRefUpdates.take(), true), [])
  assert.deepEqual(readdirSync(marks), [])
  const jobs = await rowsOf(
    world,
    `select 1 from graphile_worker.jobs where task_identifier = 'measure_repository' and key = 'measure_repository ${code.project.id}'`,
  )
  assert.equal(jobs.length, 1)
})

test('a move under way keeps its mark, and later moves make another', async () => {
  const { pendingRefUpdates: moving } = tools()
  const end = await moving.begin(code.project.id, false)
  assert.deepEqual(moving.take(), [])
  const later = await moving.begin(code.project.id, false)
  assert.equal(readdirSync(marks).length, 2)
  assert.deepEqual(await moving.others(), [])
  await later(true)
  await later(true)
  assert.equal(moving.take().length, 1)
  await end(true)
  assert.equal(moving.take().length, 1)
  assert.deepEqual(moving.take(), [])
  for (const mark of await moving.others()) await moving.remove(mark)
})

test('rows follow refs after a crash between the two', async () => {
  const place = await code.another({ repository: 'empty' })
  await age(place)
  const tree = gitText(place.directory, ['hash-object', '-t', 'tree', '-w', '--stdin'])
  const commit = gitText(place.directory, ['commit-tree', '-m', 'pushed', tree])
  for (const name of ['zeta', 'trunk']) gitText(place.directory, ['update-ref', `refs/heads/${name}`, commit])
  const mark = leaveMark(place, 'any')
  leaveMark(place, 'first')
  const said: object[] = []
  const reconciler = await startReconciler(tools(), (detail) => void said.push(detail))
  await reconciler.stop()
  assert.deepEqual(said, [])
  const row = await rowFor(place)
  assert.equal(row.default_branch, 'trunk')
  assert.equal(gitText(place.directory, ['symbolic-ref', 'HEAD']), 'refs/heads/trunk')
  assert.deepEqual(await protectedIn(place), ['trunk'])
  assert.ok(Date.now() - row.last_activity_at.getTime() < 60_000)
  // Another process may still be at it: its mark is left to it until it is old.
  assert.deepEqual(readdirSync(marks), [mark])
  leaveMark(place, 'any', new Date(Date.now() - 10 * 60_000))
  await reconcileMarked(tools(), await tools().pendingRefUpdates.others(), false)
  assert.deepEqual(readdirSync(marks), [])
})

test('a project that had commits is not protected again, and its activity goes no way back', async () => {
  const place = await code.another()
  await rowsOf(code.world, 'delete from protected_branches where project_id = $1', [place.project.id])
  const { last_activity_at: before } = await rowFor(place)
  leaveMark(place, 'any', OLD)
  await reconcileMarked(tools(), await tools().pendingRefUpdates.others(), false)
  const row = await rowFor(place)
  assert.deepEqual([row.default_branch, row.last_activity_at], ['main', before])
  assert.deepEqual(await protectedIn(place), [])
})

test('a mark of a project that is gone, and a file that is no mark, trouble nobody', async () => {
  writeFileSync(join(marks, 'README'), '')
  writeFileSync(join(marks, '999999.any.dead.1'), '')
  utimesSync(join(marks, '999999.any.dead.1'), OLD, OLD)
  const found = await tools().pendingRefUpdates.others()
  assert.deepEqual(
    found.map(({ projectId }) => projectId),
    [999_999],
  )
  assert.deepEqual(await reconcileMarked(tools(), found, false), [])
  assert.deepEqual(readdirSync(marks), ['README'])
  rmSync(join(marks, 'README'))
})

test('a commit that is in git is acknowledged, though the rows cannot hear of it until later', async () => {
  const { world } = code
  const place = await code.another()
  await age(place)
  await world.make.sql(`
    create function refuse_activity() returns trigger language plpgsql as $$ begin raise exception 'away'; end $$;
    create trigger refuse before update on projects for each row execute function refuse_activity();`)
  const answer = await post({ world, project: place.project }, place.maintainer, body('main'))
  await world.make.sql('drop trigger refuse on projects; drop function refuse_activity')
  assert.equal(answer.status, 201, answer.text)
  assert.equal(tip(place.directory, 'main'), (answer.body as { id: string }).id)
  assert.equal((await rowFor(place)).last_activity_at.getTime(), OLD.getTime())
  assert.deepEqual(await reconcileMarked(tools(), tools().pendingRefUpdates.take(), true), [])
  assert.ok(Date.now() - (await rowFor(place)).last_activity_at.getTime() < 60_000)
})

test('a push that is told several times asks for its jobs once', async () => {
  const { project, directory, maintainer } = await code.another()
  const to = tip(directory, 'main')
  const moves = ['main', 'other'].map((name) => ({ ref: `refs/heads/${name}`, from: undefined, to }))
  const push = { push_id: randomUUID(), project_id: project.id, user_id: maintainer.id, moves }
  await tools().pendingRefUpdates.undelivered.keep(push)
  await tools().pendingRefUpdates.undelivered.keep(push)
  await Promise.all([1, 2].map(() => tellOfPush(tools(), push)))
  await tools().pendingRefUpdates.undelivered.tellAll((one) => tellOfPush(tools(), one))
  const asked = await rowsOf(
    code.world,
    `select j.id from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
      where t.identifier = 'hear_commits' and (j.payload->>'project_id')::int = $1`,
    [project.id],
  )
  assert.equal(asked.length, 1)
})

test('the effects of a first commit happen once', async () => {
  const { world } = code
  const place = await code.another({ repository: 'empty' })
  const wrong = { ...body('main'), actions: [{ action: 'delete', file_path: 'gone' }] }
  assert.equal((await post({ world, project: place.project }, place.maintainer, wrong)).status, 400)
  assert.deepEqual(readdirSync(marks), [])
  assert.equal((await post({ world, project: place.project }, place.maintainer, body('main'))).status, 201)
  assert.deepEqual(await protectedIn(place), ['main'])
  assert.deepEqual(readdirSync(marks), [])
  const path = `/projects/${place.project.id}/protected_branches/main`
  assert.equal((await world.call('DELETE', path, { as: place.maintainer })).status, 204)
  assert.equal(
    (
      await post({ world, project: place.project }, place.maintainer, {
        ...body('main'),
        actions: [{ action: 'create', file_path: 'y', content: '' }],
      })
    ).status,
    201,
  )
  assert.deepEqual(await reconcileMarked(tools(), tools().pendingRefUpdates.take(), true), [])
  assert.deepEqual(await protectedIn(place), [])
})

test('the default branch is protected before a second push can follow the first', async () => {
  const { world } = code
  const place = await code.another({ repository: 'empty' })
  const developer = await world.make.memberOf('developer', { project: place.project })
  const ask = async (): Promise<number> =>
    (await post({ world, project: place.project }, developer, body('main'))).status
  assert.equal(await ask(), 403)
  // Held where the ref has moved and the rows have not heard: as a first commit is for a moment.
  const end = await tools().pendingRefUpdates.begin(place.project.id, true)
  const tree = gitText(place.directory, ['hash-object', '-t', 'tree', '-w', '--stdin'])
  gitText(place.directory, [
    'update-ref',
    'refs/heads/main',
    gitText(place.directory, ['commit-tree', '-m', 'm', tree]),
  ])
  assert.equal(await ask(), 403)
  await end(true)
  assert.equal(await ask(), 201, 'nothing protects it here')
})

test('a commit under which the branch goes on moving is given up, in the published words', async () => {
  const { directory, history, maintainer, project } = code
  const { instance } = code.world.opened
  const { root, source } = history.sha
  gitText(directory, ['branch', 'restless', root])
  const writing = {
    ...instance,
    project,
    repository: instance.git.repository(repositoryPath(project.id)),
    actor: maintainer,
    now: new Date(),
    stillMatches: async () => {},
    header: () => undefined,
  }
  let times = 0
  const work = async (): Promise<string> => {
    gitText(directory, ['update-ref', 'refs/heads/restless', (times += 1) % 2 === 1 ? source : root])
    return history.sha.docs
  }
  await assert.rejects(moveBranch(writing, 'restless', false, work), {
    message: 'Could not update refs/heads/restless. Please refresh and try again.',
  })
  assert.deepEqual([times, tip(directory, 'restless')], [8, root])
})
