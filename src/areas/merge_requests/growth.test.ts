import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COUNTED } from '../../db/pages.ts'
import { makeCrowd, readingOf, settle, type Crowd } from '../../../test/support/crowd.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let few: Crowd
let many: Crowd
let reporter: Someone
const world = sharedWorld(
  async (here) => {
    const top = await here.make.group({ visibility: 'public' })
    few = await makeCrowd(here, 'merge_request', { top, count: 500 })
    many = await makeCrowd(here, 'merge_request', { top, count: 12_000 })
    reporter = await here.make.memberOf('reporter', { group: top })
    for (const { project } of [few, many])
      await here.make.sql(`
      insert into award_emoji (name, user_id, noteable_id)
        select 'tada', ${reporter.id}, m.id from merge_requests m where m.project_id = ${project} and m.iid % 10 > 0`)
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
const OWN = 'my_reaction_emoji=tada'
const ORDERS = ['milestone_due', 'label_priority'].flatMap((order) => [
  `order_by=${order}`,
  `order_by=${order}&sort=asc`,
])
const COLUMNS = ['title', 'merged_at', 'popularity'].map((order) => `order_by=${order}&sort=asc`)

const cases: [where: string, of: (crowd: Crowd) => string, pages: readonly string[]][] = [
  [
    'a project',
    ({ project }) => `/projects/${project}/merge_requests`,
    [...LABELS, ...ORDERS, 'not[labels]=rare', 'labels=None', OWN],
  ],
  [
    'a group',
    ({ group }) => `/groups/${group}/merge_requests`,
    ['labels=most', 'labels=None', 'not[labels]=half', OWN, ...LABELS.slice(0, 3), ...ORDERS, ...COLUMNS],
  ],
  [
    'everything',
    (crowd) => (crowd === few ? `/groups/${few.group}/merge_requests` : '/merge_requests'),
    ['labels=most', 'labels=None', OWN, ...LABELS.slice(0, 3), ...ORDERS, ...COLUMNS].map(
      (page) => `scope=all&${page}`,
    ),
  ],
]
const isWalked = (page: string): boolean => [...LABELS, ...COLUMNS].some((one) => page.endsWith(one))
for (const [where, of, pages] of cases)
  for (const page of pages)
    test(`a page of ${where} by ${page} reads no more where there are more merge requests`, async () => {
      const [little, much] = [
        await readingOf(world(), `${of(few)}?${page}`, reporter),
        await readingOf(world(), `${of(many)}?${page}`, reporter),
      ]
      assert.ok(much.blocks < little.blocks + COUNTING, `${little.blocks} blocks became ${much.blocks}`)
      // Nor does a step towards it yield more than are counted.
      if (isWalked(page)) assert.ok(much.rows <= COUNTED + 1, `${much.rows} rows`)
    })
