import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeLabel } from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type CallOptions, type World } from '../../../test/support/world.ts'
import type { Label, Namespace } from '../../db/schema/tables.ts'

let world: World
let as: Someone
before(async () => {
  world = await openWorld()
  as = await world.make.admin()
})
after(() => world.close())

const at = (group: { id: number }, label?: string | number): string =>
  `/groups/${group.id}/labels${label === undefined ? '' : `/${encodeURIComponent(label)}`}`
const seen = ({ status, body }: Answered): unknown[] => [status, body]
const post = (group: Namespace, body: object): Promise<Answered> =>
  world.call('POST', at(group), { as, body })
const put = (group: Namespace, label: string | number, body: object): Promise<Answered> =>
  world.call('PUT', at(group, label), { as, body })
const stored = (group: Namespace): Promise<Label[]> =>
  rowsOf<Label>(world, 'select * from labels where group_id = $1 order by id', [group.id])
const titles = async (group: Namespace): Promise<string[]> => (await stored(group)).map(({ title }) => title)

test('a label is made with a colour in any form, and answered in whole', async () => {
  const group = await world.make.group()
  const body = { name: ' Do <b>it</b> ', color: 'orange', description: '<i>now</i>' }
  const answer = await post(group, body)
  const [row] = await stored(group)
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual(answer.body, {
    id: row?.id,
    name: 'Do it',
    color: '#FFA500',
    text_color: '#FFFFFF',
    description: '<i>now</i>',
    description_html: '&lt;i&gt;now&lt;/i&gt;',
    open_issues_count: 0,
    closed_issues_count: 0,
    open_merge_requests_count: 0,
    subscribed: false,
  })
  assert.deepEqual((await world.get(at(group, row?.id), as)).body, answer.body)
  for (const [name, color, hex, text] of [
    ['six', '#ffeedd', '#FFEEDD', '#333333'],
    ['three', '#1a2', '#11AA22', '#FFFFFF'],
    ['named', 'WHITE', '#FFFFFF', '#333333'],
  ]) {
    const { body } = await post(group, { name, color })
    const made = body as { color: string; text_color: string; description: null; description_html: null }
    assert.deepEqual(
      [made.color, made.text_color, made.description, made.description_html],
      [hex, text, null, null],
    )
  }
})

test('an empty description is none', async () => {
  const group = await world.make.group()
  for (const description of ['', null]) {
    const { body } = await post(group, { name: `d${String(description)}`, color: 'red', description })
    assert.equal((body as { description: unknown }).description, null)
  }
})

test('parameters come by query and form too', async () => {
  const group = await world.make.group()
  const ways: CallOptions[] = [
    { query: { name: 'by query', color: '#ff0000' } },
    {
      body: 'name=by+form&color=%23ff0000',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
    { query: { name: 'query', color: 'red' }, body: { name: 'body wins' } },
  ]
  for (const options of ways)
    assert.equal((await world.call('POST', at(group), { as, ...options })).status, 201)
  assert.deepEqual(await titles(group), ['by query', 'by form', 'body wins'])
})

test('an invalid label gets the published refusal and creates nothing', async () => {
  const group = await world.make.group()
  const color = ['must be a valid color code']
  const rows: [object, object][] = [
    [{}, { error: 'name is missing, color is missing' }],
    [{ name: 'x' }, { error: 'color is missing' }],
    [{ color: 'red' }, { error: 'name is missing' }],
    [
      { name: ['x'], color: {}, description: [] },
      { error: 'name is invalid, color is invalid, description is invalid' },
    ],
    [{ name: 'a\u0000b', color: 'red' }, { error: 'name is invalid' }],
    [
      { name: 'x', color: 'red', description: 'x'.repeat(10_001) },
      { error: 'description is expected to have length less than or equal to 10000' },
    ],
    [{ name: 'x', color: '#ff' }, { message: { color } }],
    [{ name: 'x', color: '' }, { message: { color } }],
    [{ name: 'x', color: 'constructor' }, { message: { color } }],
    [{ name: 'a,b', color: 'red' }, { message: { title: ['is invalid'] } }],
    [{ name: '', color: 'red' }, { message: { title: ["can't be blank", 'is invalid'] } }],
    [{ name: ' <b> ', color: 'red' }, { message: { title: ["can't be blank", 'is invalid'] } }],
    [
      { name: 'x'.repeat(256), color: 'no' },
      { message: { title: ['is too long (maximum is 255 characters)'], color } },
    ],
  ]
  for (const [body, expected] of rows) assert.deepEqual(seen(await post(group, body)), [400, expected])
  assert.deepEqual(await stored(group), [])
})

test('a title that the group or one above it has is taken; below, beside and in projects it is free', async () => {
  const top = await world.make.group()
  const group = await world.make.group({ parent: top })
  const below = await world.make.group({ parent: group })
  const beside = await world.make.group({ parent: top })
  const project = await world.make.project({ group })
  await makeLabel(world, { group: top }, { title: 'above' })
  await makeLabel(world, { group }, { title: 'here' })
  await makeLabel(world, { group: below }, { title: 'below' })
  await makeLabel(world, { group: beside }, { title: 'beside' })
  await makeLabel(world, { project }, { title: 'project' })
  for (const name of ['above', 'here', ' here ', '<b>here</b>'])
    assert.deepEqual(seen(await post(group, { name, color: 'red' })), [
      409,
      { message: 'Label already exists' },
    ])
  for (const name of ['below', 'beside', 'project', 'Here'])
    assert.equal((await post(group, { name, color: 'red' })).status, 201, name)
  assert.deepEqual(await titles(group), ['here', 'below', 'beside', 'project', 'Here'])
})

test('of thirty who make the same label at once one does', async () => {
  const group = await world.make.group()
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => post(group, { name: 'wanted', color: 'red' })),
  )
  const lost = answers.filter(({ status }) => status !== 201)
  assert.equal(lost.length, 29)
  for (const answer of lost) assert.deepEqual(seen(answer), [409, { message: 'Label already exists' }])
  assert.deepEqual(await titles(group), ['wanted'])
})

test('a change sets what it names and leaves the rest', async () => {
  const group = await world.make.group()
  const { id } = await makeLabel(world, { group }, { title: 'old', color: '#112233', description: 'd' })
  const bystander = await makeLabel(world, { group }, { title: 'bystander' })
  const rows: [object, { name: string; color: string; description: string | null }][] = [
    [{ new_name: 'new' }, { name: 'new', color: '#112233', description: 'd' }],
    [{ color: 'lime' }, { name: 'new', color: '#00FF00', description: 'd' }],
    [{ description: '**e**' }, { name: 'new', color: '#00FF00', description: '**e**' }],
    [{ description: null }, { name: 'new', color: '#00FF00', description: null }],
    [
      { new_name: 'new', color: '#abc', description: '' },
      { name: 'new', color: '#AABBCC', description: null },
    ],
    [
      { new_name: 'new', name: 'ignored', id: 1, priority: 3 },
      { name: 'new', color: '#AABBCC', description: null },
    ],
  ]
  for (const [body, expected] of rows) {
    const answer = await put(group, id, body)
    assert.equal(answer.status, 200, answer.text)
    const { name, color, description } = answer.body as typeof expected
    assert.deepEqual({ name, color, description }, expected)
    assert.deepEqual((await world.get(at(group, id), as)).body, answer.body)
  }
  assert.deepEqual((await stored(group))[1], bystander)
})

test('of two who change different things of one label at once neither loses', async () => {
  const group = await world.make.group()
  await world.make.member(as, 'owner', { group })
  const names = Array.from({ length: 10 }, (_, i) => `label ${i}`)
  for (const name of names) await post(group, { name, color: '#112233', description: 'old' })
  const answers = await Promise.all(
    names.flatMap((name) => [
      put(group, name, { color: '#445566' }),
      put(group, name, { description: `${name}, new` }),
    ]),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.deepEqual(
    (await stored(group)).map(({ title, color, description }) => [title, color, description]),
    names.map((name) => [name, '#445566', `${name}, new`]),
  )
})

test('a change that would not do is refused, and nothing is changed', async () => {
  const group = await world.make.group()
  const label = await makeLabel(world, { group }, { title: 'a' })
  await makeLabel(world, { group }, { title: 'b' })
  const before = await stored(group)
  const nothing = 'new_name, color, description are missing, at least one parameter must be provided'
  const rows: [object, object][] = [
    [{}, { error: nothing }],
    [{ name: 'c', priority: 1 }, { error: nothing }],
    [{ color: ['red'] }, { error: 'color is invalid' }],
    [{ color: 'reddish' }, { message: { color: ['must be a valid color code'] } }],
    [{ new_name: 'c,d' }, { message: { title: ['is invalid'] } }],
    [{ new_name: '' }, { message: { title: ["can't be blank", 'is invalid'] } }],
    [{ new_name: 'b', description: 'x' }, { message: { title: ['has already been taken'] } }],
  ]
  for (const [body, expected] of rows)
    assert.deepEqual(seen(await put(group, label.id, body)), [400, expected])
  assert.deepEqual(await stored(group), before)
})

test('parameters are checked before the group and the label are loaded', async () => {
  const nothing = 'new_name, color, description are missing, at least one parameter must be provided'
  assert.deepEqual(seen(await world.call('PUT', '/groups/no-such/labels/x', { as, body: {} })), [
    400,
    { error: nothing },
  ])
  assert.deepEqual(seen(await world.call('POST', '/groups/no-such/labels', { as, body: { name: 'x' } })), [
    400,
    { error: 'color is missing' },
  ])
})
