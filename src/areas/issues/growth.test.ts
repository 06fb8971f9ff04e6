import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COUNTED } from '../../db/pages.ts'
import { makeCrowd, readingOf, settle, type Crowd } from '../../../test/support/crowd.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { watch } from '../../../test/support/plans.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let few: Crowd
let many: Crowd
let planner: Someone
let guest: Someone
let busy: Someone
const world = sharedWorld(
  async (here) => {
    const top = await here.make.group({ visibility: 'public' })
    few = await makeCrowd(here, 'issue', { top, count: 500 })
    many = await makeCrowd(here, 'issue', { top, count: 12_000 })
    planner = await here.make.memberOf('planner', { group: top })
    guest = await here.make.memberOf('guest', { group: top })
    busy = await here.make.user()
    for (const { project } of [few, many])
      await here.make.sql(`
      insert into issue_assignees (issue_id, user_id)
        select id, ${busy.id} from issues where project_id = ${project} and iid % 40 = 1;
      insert into award_emoji (name, user_id, noteable_id)
        select 'tada', u, i.id from issues i, unnest(array[${planner.id}, ${guest.id}]) u
         where i.project_id = ${project} and i.iid % 10 > 0;
      insert into discussions (key, noteable_id, individual_note)
        select md5('talk ' || i.id) || '00000000', i.id, true from issues i where i.project_id = ${project} and i.iid = 1;
      insert into notes (discussion_id, noteable_id, author_id, body, internal)
        select d.id, d.noteable_id, case when n % 2 = 0 then ${planner.id} else ${guest.id} end, 'What is said', n % 3 = 0
          from discussions d join issues i on i.id = d.noteable_id and i.project_id = ${project},
               (select count(*) as records from issues where project_id = ${project}) c, generate_series(1, c.records) n`)
    await settle(here)
  },
  { fresh: true },
)

/** What is counted, to 10,001, is read from indexes: a hundred entries in a block, or rows in their order. */
const COUNTING = 900

const LABELS = [
  'labels=most,nearly',
  'labels=most,nearly,half',
  'labels=most,half&state=opened',
  'labels=nearly&not[labels]=rare',
]
const OWN = ['my_reaction_emoji=tada', 'my_reaction_emoji=tada&state=opened']
const ORDERS = ['milestone_due', 'label_priority', 'priority'].flatMap((order) => [
  `order_by=${order}`,
  `order_by=${order}&sort=asc`,
])
const COLUMNS = ['title', 'weight', 'due_date', 'popularity'].map((order) => `order_by=${order}&sort=asc`)

const cases: [where: string, of: (crowd: Crowd) => string, pages: readonly string[]][] = [
  [
    'a project',
    ({ project }) => `/projects/${project}/issues`,
    [...LABELS, ...OWN, ...ORDERS, 'not[labels]=rare'],
  ],
  [
    'a group',
    ({ group }) => `/groups/${group}/issues`,
    [
      'labels=most',
      ...LABELS.slice(0, 3),
      ...OWN,
      'not[labels]=rare',
      'not[labels]=half',
      ...ORDERS,
      ...COLUMNS,
    ],
  ],
  [
    'everything',
    (crowd) => (crowd === few ? `/groups/${few.group}/issues` : '/issues'),
    ['labels=most', ...LABELS.slice(0, 3), ...OWN, ...ORDERS, ...COLUMNS].map((page) => `scope=all&${page}`),
  ],
]
const isWalked = (page: string): boolean => [...LABELS, ...COLUMNS].some((one) => page.endsWith(one))
for (const [where, of, pages] of cases)
  for (const page of pages)
    test(`a page of ${where} by ${page} reads no more where there are more issues`, async () => {
      for (const as of [planner, guest]) {
        const [little, much] = [
          await readingOf(world(), `${of(few)}?${page}`, as),
          await readingOf(world(), `${of(many)}?${page}`, as),
        ]
        assert.ok(much.blocks < little.blocks + COUNTING, `${little.blocks} blocks became ${much.blocks}`)
        // Nor does a step towards it yield more than are counted.
        if (isWalked(page) && as === planner) assert.ok(much.rows <= COUNTED + 1, `${much.rows} rows`)
      }
    })

for (const [where, path] of cases.slice(0, 2))
  for (const [other, query] of [
    ['a milestone', () => 'milestone=v1'],
    ['an author', ({ author }: Crowd) => `author_id=${author}`],
  ] as const)
    test(`what in ${where} bears a label and has ${other} is found though many have either`, async () => {
      for (const as of [planner, guest]) {
        const [little, much] = [
          await readingOf(world(), `${path(few)}?labels=half&${query(few)}`, as),
          await readingOf(world(), `${path(many)}?labels=half&${query(many)}`, as),
        ]
        assert.ok(much.rows < little.rows + 100, `${little.rows} rows became ${much.rows}`)
      }
    })

test("what bears a label and is somebody's is found along what is theirs, though many bear the label", async () => {
  for (const as of [planner, guest])
    for (const labels of ['half', 'most,half', 'half&not[labels]=rare']) {
      const page = `/projects/${many.project}/issues?labels=${labels}&assignee_id=${busy.id}`
      const { rows } = await readingOf(world(), page, as)
      // No further into the links to labels than tells that they are many: of two labels, which of them is the rarer.
      assert.ok(rows <= 2 * 2_001, `${rows} rows`)
    }
})

test('what somebody reacted to with any emoji is found from reactions, not by a look at every issue', async () => {
  const { make } = world()
  const rarely = await make.user()
  for (const { project } of [few, many])
    await make.sql(`
      insert into award_emoji (name, user_id, noteable_id)
        select unnest(array['rocket', 'tada']), ${rarely.id}, id from issues where project_id = ${project} and iid = 1`)
  const read = (crowd: Crowd, as: Someone): ReturnType<typeof readingOf> =>
    readingOf(world(), `/projects/${crowd.project}/issues?my_reaction_emoji=Any`, as)
  const [little, much] = [await read(few, rarely), await read(many, rarely)]
  assert.ok(much.blocks < little.blocks + 20, `${little.blocks} blocks became ${much.blocks}`)
  const { rows } = await read(many, planner)
  assert.ok(rows <= COUNTED + 1, `${rows} rows`)
})

test('labels with their counts are read as soon where many bear them', async () => {
  for (const as of [planner, guest])
    for (const path of [
      ({ project }: Crowd) => `/projects/${project}/labels`,
      ({ group }: Crowd) => `/groups/${group}/labels?only_group_labels=false&include_descendant_groups=true`,
    ]) {
      const [little, much] = [
        await readingOf(world(), path(few), as),
        await readingOf(world(), path(many), as),
      ]
      assert.ok(much.blocks < little.blocks + 20, `${little.blocks} blocks became ${much.blocks}`)
    }
})

test('who has a part in an issue is found among many notes as among few', async () => {
  for (const as of [planner, guest]) {
    const [little, much] = [
      await readingOf(world(), `/projects/${few.project}/issues/1/participants`, as),
      await readingOf(world(), `/projects/${many.project}/issues/1/participants`, as),
    ]
    assert.ok(much.blocks < little.blocks + 10, `${little.blocks} blocks became ${much.blocks}`)
  }
})

test('what bears a label comes in the order of its changes, on the first page without a look at all that bears it', async () => {
  const path = `/projects/${many.project}/issues?labels=half&order_by=updated_at&per_page=100`
  const wanted = await rowsOf<{ iid: number }>(
    world(),
    `select iid::int from issues where project_id = $1 and iid % 2 = 0 order by updated_at desc, id desc`,
    [many.project],
  )
  for (const page of [1, 20, 60]) {
    const { body } = await world().get(`${path}&page=${page}`, planner)
    const iids = wanted.slice((page - 1) * 100, page * 100).map(({ iid }) => iid)
    assert.deepEqual(
      (body as { iid: number }[]).map(({ iid }) => iid),
      iids,
      `page ${page}`,
    )
  }
  const { blocks } = await readingOf(world(), path, planner)
  assert.ok(blocks < wanted.length, `${blocks} blocks`)
})

test('reminders are read with the notes they come from, and with no others', async () => {
  const { make, get, opened } = world()
  await make.sql(`
    insert into todos (user_id, author_id, project_id, noteable_id, action_name)
      select ${guest.id}, ${planner.id}, project_id, id, 'assigned' from issues where project_id = ${few.project};
    analyze todos`)
  const plans = await watch(opened.client.pool, async () => {
    assert.equal((await get('/todos', guest)).headers['x-total'], '500')
  })
  assert.ok(plans.some(({ text }) => text.includes('on todos')))
  for (const { text } of plans) assert.doesNotMatch(text, /Seq Scan on notes/)
})
