import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { freshenTokens, rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

const PATH = '/project_aliases'
interface Alias {
  readonly id: number
  readonly project_id: number
  readonly name: string
}

let world: World
let admin: Someone
let project: Project
before(async () => {
  world = await openWorld()
  admin = await world.make.admin()
  project = await world.make.project()
})
afterEach(() => world.make.sql('delete from project_aliases'))
after(() => world.close())

const post = (body: object): Promise<Answered> => world.call('POST', PATH, { as: admin, body })
const stored = (): Promise<Alias[]> =>
  rowsOf<Alias & { [column: string]: unknown }>(
    world,
    'select id, project_id, name from project_aliases order by id',
  )
async function makeAlias(name: string, of = project): Promise<Alias> {
  const answer = await post({ name, project_id: of.id })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Alias
}

test('an alias is given to a project by its id or by its full path', async () => {
  const rows: [string, number | string][] = [
    ['by-number', project.id],
    ['by-digits', String(project.id)],
    ['by-path', project.full_path],
    ['by-any-case', project.full_path.toUpperCase()],
  ]
  for (const [name, project_id] of rows) {
    const answer = await post({ name, project_id })
    assert.equal(answer.status, 201, answer.text)
    const { id } = answer.body as Alias
    assert.deepEqual(answer.body, { id, project_id: project.id, name })
    assert.deepEqual((await stored()).at(-1), { id, project_id: project.id, name })
  }
})

test('an alias can be read, with dots and letters of any script in its name', async () => {
  for (const name of ['tools', 'tools.v1.2', 'um-laut', '42']) {
    const alias = await makeAlias(name)
    const answer = await world.get(`${PATH}/${encodeURIComponent(name)}`, admin)
    assert.deepEqual([answer.status, answer.body], [200, alias])
  }
})

test('an alias that does not exist is not found, whatever the name', async () => {
  const { id } = await makeAlias('Here')
  for (const name of ['gone', 'here', 'HERE', String(id), 'a%2Fb', '%20', 'x'.repeat(3000)])
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await world.call(method, `${PATH}/${name}`, { as: admin })
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 Not found' }], name)
    }
  assert.equal((await stored()).length, 1)
})

test('aliases are listed in the order they were made, page by page', async () => {
  const empty = await world.get(PATH, admin)
  assert.deepEqual([empty.status, empty.body, empty.headers['x-total']], [200, [], '0'])
  const other = await world.make.project()
  const made = []
  for (const name of ['c', 'a', 'b']) made.push(await makeAlias(name, name === 'a' ? other : project))
  assert.deepEqual((await world.get(PATH, admin)).body, made)
  const page = await world.get(`${PATH}?per_page=2&page=2`, admin)
  assert.deepEqual(page.body, made.slice(2))
  assert.equal(page.headers['x-total'], '3')
  assert.equal(page.headers['x-total-pages'], '2')
  assert.equal(page.headers['x-prev-page'], '1')
  assert.equal(page.headers['x-next-page'], '')
})

test('a deleted alias is gone, and only that one', async () => {
  const kept = await makeAlias('kept')
  await makeAlias('dropped')
  const answer = await world.call('DELETE', `${PATH}/dropped`, { as: admin, body: {} })
  assert.deepEqual([answer.status, answer.text], [204, ''])
  assert.deepEqual(await stored(), [kept])
  assert.equal((await world.call('DELETE', `${PATH}/dropped`, { as: admin })).status, 404)
})

test('a missing parameter is named, the project before the name', async () => {
  const rows: [object, string][] = [
    [{}, 'project_id is missing, name is missing'],
    [{ name: 'x' }, 'project_id is missing'],
    [{ project_id: 1 }, 'name is missing'],
    [{ project_id: null, name: null }, 'project_id is missing, name is missing'],
    [{ project_id: {}, name: ['x'] }, 'project_id is invalid, name is invalid'],
    [{ project_id: 1, name: 'a\u0000b' }, 'name is invalid'],
  ]
  for (const [body, error] of rows) {
    const answer = await post(body)
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
  assert.deepEqual(await stored(), [])
})

test('a project that does not exist is not found, before the name is looked at', async () => {
  for (const project_id of [0, -1, 999_999_999, '', 'no/such', project.path, '1 or 1=1', '9'.repeat(20)])
    for (const name of ['good', '-bad']) {
      const answer = await post({ project_id, name })
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 Project Not Found' }])
    }
  assert.deepEqual(await stored(), [])
})

test('a name is given once, to whatever project, and its case counts', async () => {
  await makeAlias('tools')
  for (const of of [project, await world.make.project()]) {
    const answer = await post({ name: 'tools', project_id: of.id })
    assert.deepEqual([answer.status, answer.body], [400, { message: { name: ['has already been taken'] } }])
  }
  await makeAlias('Tools')
  assert.deepEqual(
    (await stored()).map(({ name }) => name),
    ['tools', 'Tools'],
  )
})

test('a name that is blank or of no good form is refused', async () => {
  const format =
    "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'."
  const rows: [string, string][] = [
    ['', "can't be blank"],
    ['  ', "can't be blank"],
    ['-x', format],
    ['a/b', format],
    ['a b', format],
    ['a.git', format],
    ['a.atom', format],
    ['a'.repeat(256), 'is too long (maximum is 255 characters)'],
  ]
  for (const [name, text] of rows) {
    const answer = await post({ name, project_id: project.id })
    assert.deepEqual([answer.status, answer.body], [400, { message: { name: [text] } }])
  }
  assert.deepEqual(await stored(), [])
})

test('of thirty who want the same name at once one gets it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => post({ name: 'wanted', project_id: project.id })),
  )
  const [won, lost] = [201, 400].map((status) => answers.filter((answer) => answer.status === status))
  assert.deepEqual([won?.length, lost?.length], [1, 29])
  for (const { body } of lost ?? []) assert.deepEqual(body, { message: { name: ['has already been taken'] } })
  assert.deepEqual(await stored(), [won?.[0]?.body])
})

test('of thirty who delete the same alias at once one does', async () => {
  await makeAlias('doomed')
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => world.call('DELETE', `${PATH}/doomed`, { as: admin })),
  )
  const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
  assert.deepEqual([count(204), count(404)], [1, 29])
})

test('when a project goes its aliases go, and no others', async () => {
  const doomed = await world.make.project()
  await makeAlias('one', doomed)
  await makeAlias('two', doomed)
  const kept = await makeAlias('kept')
  await rowsOf(world, 'delete from projects where id = $1', [doomed.id])
  assert.deepEqual((await world.get(PATH, admin)).body, [kept])
})

test('an alias does not stand in the place of a project id', async () => {
  await makeAlias('nickname')
  const answer = await world.get('/projects/nickname/repository/commits', admin)
  assert.deepEqual([answer.status, answer.body], [404, { message: '404 Project Not Found' }])
})

test('a list costs two statements, for one alias as for a hundred', async () => {
  await makeAlias('only')
  await freshenTokens(world, admin)
  const few = await world.statements(() => world.get(PATH, admin))
  await world.make.sql(
    `insert into project_aliases (project_id, name) select ${project.id}, 'n' || n from generate_series(1, 99) n`,
  )
  const many = await world.statements(() => world.get(`${PATH}?per_page=100`, admin))
  assert.deepEqual([few.length, many.length], [2, 2])
})
