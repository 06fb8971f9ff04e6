import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { openWorld, type World } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'

let world: World
let history: SmallHistory
let group: Namespace
let admin: Someone
let external: Someone
before(async () => {
  world = await openWorld()
  history = writeSmallHistory()
  group = await world.make.group({ visibility: 'public' })
  admin = await world.make.admin()
  external = await world.make.user()
  await rowsOf(world, 'update users set external = true where id = $1', [external.id])
})
after(() => world.close())

const NO_PROJECT = [404, { message: '404 Project Not Found' }]
const NO_REPOSITORY = [404, { message: '404 Repository Not Found' }]
const FORBIDDEN = [403, { message: '403 Forbidden' }]
const READS = [200, 'commits']

const paths = ({ id }: { id: number | string }): string[] => [
  `/projects/${id}/repository/commits`,
  `/projects/${id}/repository/commits/main`,
  // Callers are checked before parameters.
  `/projects/${id}/repository/commits/gone`,
  `/projects/${id}/repository/commits?page=0`,
]

/** The answer on each of the paths: always the same refusal, or the commits. */
async function meets(project: Project, as: Someone | undefined): Promise<unknown[]> {
  const answers = await Promise.all(paths(project).map((path) => world.get(path, as)))
  const [first, single, gone, senseless] = answers
  if (first?.status === 200) {
    assert.deepEqual([single?.status, gone?.status, senseless?.status], [200, 404, 400])
    assert.deepEqual(gone?.body, { message: '404 Commit Not Found' })
    return READS
  }
  for (const answer of answers) assert.equal(answer.text, first?.text)
  return [first?.status, first?.body]
}

const make = (visibility: Visibility): Promise<Project> =>
  world.make.project({ group, visibility, repository: history.directory })

test('callers without membership read the code of open projects only', async () => {
  const stranger = await world.make.user()
  const rows: [Visibility, Someone | undefined, unknown[]][] = [
    ['public', undefined, READS],
    ['public', stranger, READS],
    ['public', external, READS],
    ['internal', undefined, NO_PROJECT],
    ['internal', stranger, READS],
    ['internal', external, NO_PROJECT],
    ['private', undefined, NO_PROJECT],
    ['private', stranger, NO_PROJECT],
    ['private', external, NO_PROJECT],
  ]
  const projects = {
    public: await make('public'),
    internal: await make('internal'),
    private: await make('private'),
  }
  for (const [visibility, as, expected] of rows) {
    assert.deepEqual(await meets(projects[visibility], as), expected, `${visibility} ${as?.username}`)
    assert.deepEqual(await meets(projects[visibility], admin), READS)
  }
})

test('in a private project it takes a Reporter to read the code, in any other a member of any role', async () => {
  const least: Record<RoleName, unknown[]> = {
    no_access: NO_PROJECT,
    minimal_access: NO_PROJECT,
    guest: FORBIDDEN,
    planner: FORBIDDEN,
    reporter: READS,
    developer: READS,
    maintainer: READS,
    owner: READS,
  }
  const [hidden, open] = [await make('private'), await make('internal')]
  for (const [role, expected] of Object.entries(least) as [RoleName, unknown[]][]) {
    const place = role === 'minimal_access' ? { group } : undefined
    const of = (project: Project): Promise<Someone> => world.make.memberOf(role, place ?? { project })
    assert.deepEqual(await meets(hidden, await of(hidden)), expected, role)
    assert.deepEqual(await meets(open, await of(open)), READS, role)
  }
})

test('a role on the group counts, until it ends or is taken away for the project', async () => {
  const project = await make('private')
  const inherited = await world.make.memberOf('reporter', { group })
  assert.deepEqual(await meets(project, inherited), READS)
  await world.make.member(inherited, 'guest', { project })
  assert.deepEqual(await meets(project, inherited), READS)
  await world.make.member(inherited, 'no_access', { project })
  assert.deepEqual(await meets(project, inherited), NO_PROJECT)
  const past = await world.make.user()
  await world.make.member(past, 'owner', { project }, '2020-01-01')
  assert.deepEqual(await meets(project, past), NO_PROJECT)
})

test('a repository that is switched off is there for nobody', async () => {
  for (const visibility of ['public', 'private'] as const) {
    const project = await make(visibility)
    const owner = await world.make.memberOf('owner', { project })
    await rowsOf(world, `update projects set repository_access_level = 'disabled' where id = $1`, [
      project.id,
    ])
    const outside = visibility === 'public' ? NO_REPOSITORY : NO_PROJECT
    const rows: [Someone | undefined, unknown[]][] = [
      [undefined, outside],
      [await world.make.user(), outside],
      [owner, NO_REPOSITORY],
      [admin, NO_REPOSITORY],
    ]
    for (const [as, expected] of rows) assert.deepEqual(await meets(project, as), expected)
  }
})

test('a repository for members only is there for members only', async () => {
  for (const visibility of ['public', 'private'] as const) {
    const project = await make(visibility)
    await rowsOf(world, `update projects set repository_access_level = 'private' where id = $1`, [project.id])
    const outside = visibility === 'public' ? NO_REPOSITORY : NO_PROJECT
    const rows: [Someone | undefined, unknown[]][] = [
      [undefined, outside],
      [await world.make.user(), outside],
      [external, outside],
      [await world.make.memberOf('guest', { project }), FORBIDDEN],
      [await world.make.memberOf('planner', { project }), FORBIDDEN],
      [await world.make.memberOf('reporter', { project }), READS],
      [await world.make.memberOf('owner', { group }), READS],
      [admin, READS],
    ]
    for (const [as, expected] of rows) assert.deepEqual(await meets(project, as), expected)
  }
})

test('a hidden project and one that does not exist answer alike, byte for byte', async () => {
  const project = await make('private')
  for (const as of [undefined, await world.make.user()]) {
    const hidden = await Promise.all(paths(project).map((path) => world.get(path, as)))
    for (const id of [
      '999999999',
      'no%2Fsuch',
      'no-such',
      encodeURIComponent(project.full_path),
      project.path,
    ]) {
      const absent = await Promise.all(paths({ id }).map((path) => world.get(path, as)))
      assert.deepEqual(
        absent.map(({ text }) => text),
        hidden.map(({ text }) => text),
      )
    }
  }
})

test('an unknown token is refused even where nobody needs one', async () => {
  const project = await make('public')
  for (const path of paths(project)) {
    const answer = await world.get(path, { ...admin, token: 'glpat-unknown' })
    assert.deepEqual([answer.status, answer.body], [401, { message: '401 Unauthorized' }])
  }
})

test('a token that may only read is enough', async () => {
  const project = await make('private')
  const reporter = await world.make.memberOf('reporter', { project })
  const token = await world.make.token(reporter, { scopes: ['read_api'] })
  assert.deepEqual(await meets(project, { ...reporter, token }), READS)
  const blind = await world.make.token(reporter, { scopes: ['read_user'] })
  const answer = await world.get(paths(project)[0] ?? '', { ...reporter, token: blind })
  assert.equal(answer.status, 403)
  assert.equal((answer.body as { error: string }).error, 'insufficient_scope')
})
