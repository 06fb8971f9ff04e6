import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeLabel } from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'
import type { Label, Namespace } from '../../db/schema/tables.ts'

let world: World
let as: Someone
before(async () => {
  world = await openWorld()
  as = await world.make.admin()
})
after(() => world.close())

const NOT_FOUND = [404, { message: '404 Label Not Found' }]
const at = (group: { id: number }, label?: string | number): string =>
  `/groups/${group.id}/labels${label === undefined ? '' : `/${encodeURIComponent(label)}`}`
const seen = ({ status, body }: Answered): unknown[] => [status, body]
const put = (group: Namespace, label: string | number, body: object): Promise<Answered> =>
  world.call('PUT', at(group, label), { as, body })
const stored = (group: Namespace): Promise<Label[]> =>
  rowsOf<Label>(world, 'select * from labels where group_id = $1 order by id', [group.id])

test('a label is found by its encoded title, whatever signs that holds', async () => {
  const group = await world.make.group()
  for (const title of [
    'a b',
    'R&D',
    'type::bug',
    'v1.2.',
    'a/b',
    '50%',
    'a+b',
    'a?b#c',
    '"x"',
    "it's",
    '日本 😀',
  ]) {
    const label = await makeLabel(world, { group }, { title })
    const got = await world.get(at(group, title), as)
    assert.deepEqual([got.status, (got.body as Label).id], [200, label.id], title)
    assert.equal((await put(group, title, { description: 'x' })).status, 200, title)
    assert.equal((await world.call('DELETE', at(group, title), { as })).status, 204, title)
  }
  assert.deepEqual(await stored(group), [])
})

test('a number is an id first and a title only where no label has that id', async () => {
  const group = await world.make.group()
  const first = await makeLabel(world, { group })
  const digits = await makeLabel(world, { group }, { title: String(first.id) })
  const elsewhere = await makeLabel(world, { group: await world.make.group() })
  const foreign = await makeLabel(world, { group }, { title: String(elsewhere.id) })
  const long = await makeLabel(world, { group }, { title: '9'.repeat(30) })
  const rows: [string | number, number][] = [
    [first.id, first.id],
    [digits.id, digits.id],
    [elsewhere.id, foreign.id],
    ['9'.repeat(30), long.id],
  ]
  for (const [ref, id] of rows)
    assert.equal(((await world.get(at(group, ref), as)).body as Label).id, id, String(ref))
})

test('a label that is not there is not found, whatever is asked of it', async () => {
  const parent = await world.make.group()
  const group = await world.make.group({ parent })
  const project = await world.make.project({ group })
  const above = await makeLabel(world, { group: parent }, { title: 'above' })
  const other = await makeLabel(world, { group: await world.make.group() }, { title: 'other' })
  const of = await makeLabel(world, { project }, { title: 'of project' })
  for (const ref of ['gone', 'ABOVE', '0', '-1', other.id, 'other', of.id, 'of project', '1 or 1=1', '%25'])
    assert.deepEqual(seen(await world.get(at(group, ref), as)), NOT_FOUND, String(ref))
  for (const ref of ['gone', above.id, 'above', other.id, of.id]) {
    assert.deepEqual(seen(await put(group, ref, { color: 'red' })), NOT_FOUND, String(ref))
    assert.deepEqual(seen(await world.call('DELETE', at(group, ref), { as })), NOT_FOUND, String(ref))
  }
  assert.deepEqual(await stored(parent), [above])
})
