import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COUNTED } from '../../db/statement.ts'
import { makeCrowd, readingOf, settle, type Crowd } from '../../../test/support/crowd.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let few: Crowd
let many: Crowd
let planner: Someone
let guest: Someone
const world = sharedWorld(async (here) => {
  const top = await here.make.group({ visibility: 'public' })
  few = await makeCrowd(here, 'issue', { top, count: 500 })
  many = await makeCrowd(here, 'issue', { top, count: 12_000 })
  planner = await here.make.memberOf('planner', { group: top })
  guest = await here.make.memberOf('guest', { group: top })
  await settle(here)
})

/** What is counted, to 10,001, is read from indexes: a hundred entries in a block, or rows in their order. */
const COUNTING = 900

const LABELS = [
  'labels=most,nearly',
  'labels=most,nearly,half',
  'labels=most,half&state=opened',
  'labels=nearly&not[labels]=rare',
]
const ORDERS = ['milestone_due', 'label_priority', 'priority'].flatMap((order) => [
  `order_by=${order}`,
  `order_by=${order}&sort=asc`,
])
const COLUMNS = ['title', 'weight', 'due_date', 'popularity'].map((order) => `order_by=${order}&sort=asc`)

const cases: [where: string, of: (crowd: Crowd) => string, pages: readonly string[]][] = [
  ['a project', ({ project }) => `/projects/${project}/issues`, [...LABELS, ...ORDERS, 'not[labels]=rare']],
  [
    'a group',
    ({ group }) => `/groups/${group}/issues`,
    ['labels=most', ...LABELS.slice(0, 3), ...ORDERS, ...COLUMNS],
  ],
  [
    'everything',
    (crowd) => (crowd === few ? `/groups/${few.group}/issues` : '/issues'),
    ['labels=most', ...LABELS.slice(0, 3), ...ORDERS, ...COLUMNS].map((page) => `scope=all&${page}`),
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
