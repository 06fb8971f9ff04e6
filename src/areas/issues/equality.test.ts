import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '../../db/schema.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

// Lists are answered in ways that depend on how many issues bear what is asked for, and on whether more than 10,000 do.
// Each must find what a plain look through all issues finds.

interface Plain {
  readonly id: number
  readonly iid: number
  readonly author_id: number
  readonly state: string
  readonly confidential: boolean
  readonly milestone: string | null
  readonly milestone_due: string | null
  readonly label_priority: number | null
  readonly due_date: string | null
  readonly upvotes: number
  readonly weight: number | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly title: string
  readonly labels: string[]
  readonly assignees: number[]
  readonly labelled: boolean
  readonly assigned: boolean
}

let project: Project
let planner: Someone
let guest: Someone
let nobody: Someone
let all: Plain[]
const world = sharedWorld(async (here) => {
  const { make } = here
  project = await make.project({ visibility: 'public' })
  planner = await make.memberOf('planner', { project })
  guest = await make.memberOf('guest', { project })
  nobody = await make.user()
  await make.sql(`
    insert into labels (project_id, title, color)
      select ${project.id}, 'l' || n, '#112233' from unnest(array[1, 3, 5, 40, 1000]) n;
    insert into label_priorities (project_id, label_id, priority)
      select project_id, id, substr(title, 2)::int % 2 from labels where project_id = ${project.id} and title <> 'l1';
    insert into milestones (iid, project_id, title, due_date)
      select n, ${project.id}, 'v' || n, date '2026-03-01' + nullif(n, 2) % 3 from generate_series(1, 4) n;
    insert into issues (iid, project_id, author_id, title, state, confidential, milestone_id, weight, due_date, upvotes,
                        created_at, updated_at)
      select n, ${project.id}, case when n % 7 = 0 then ${guest.id} else ${planner.id} end,
             'T' || (n * 7919 % 14500) || case when n % 13 = 0 then ' sinks' else '' end,
             case when n % 3 = 0 then 'closed' else 'opened' end, n % 4 = 0,
             (select id from milestones where project_id = ${project.id} and iid = n % 6), nullif(n % 5, 0),
             case when n % 8 = 0 then date '2026-04-01' + n % 90 end, n % 50,
             timestamptz '2026-01-01' + (n * 7919 % 14500) / 2 * interval '1 minute',
             timestamptz '2026-02-01' + (n * 104729::bigint % 14500) * interval '1 minute'
        from generate_series(1, 14500) n where n % 6 <> 4 or n % 5 <> 0;
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from issues i join labels l on l.project_id = i.project_id
       where i.project_id = ${project.id} and i.iid % substr(l.title, 2)::int = 0 and i.iid % 11 <> 0;
    insert into issue_assignees (issue_id, user_id)
      select id, case when iid % 4 = 0 then ${guest.id} else ${planner.id} end
        from issues where project_id = ${project.id} and iid % 10 < 4;
    insert into issue_assignees (issue_id, user_id)
      select id, ${nobody.id} from issues where project_id = ${project.id} and iid % 500 = 0
          on conflict do nothing;
    delete from label_links where noteable_id in (select id from issues where project_id = ${project.id} and iid % 17 = 0);
    delete from issue_assignees where issue_id in (select id from issues where project_id = ${project.id} and iid % 19 = 0);
    update issues set state = 'closed', confidential = not confidential where project_id = ${project.id} and iid % 23 = 0;
    analyze`)
  all = await rowsOf<Plain & Record<string, unknown>>(
    here,
    `select i.*, m.title as milestone, m.due_date as milestone_due,
            (select min(r.priority) from label_links k join label_priorities r on r.label_id = k.label_id
              where k.noteable_id = i.id) as label_priority,
            array(select l.title from label_links k join labels l on l.id = k.label_id where k.noteable_id = i.id) as labels,
            array(select a.user_id from issue_assignees a where a.issue_id = i.id) as assignees
       from issues i left join milestones m on m.id = i.milestone_id where i.project_id = $1`,
    [project.id],
  )
})

type Filter = readonly [query: string, holds: (issue: Plain) => boolean]
const labels = (...titles: string[]): Filter => [
  `labels=${titles.join(',')}`,
  (issue) => titles.every((title) => issue.labels.includes(title)),
]
/** One of each row at most goes into a list. */
const filters = (): Filter[][] => [
  [
    labels('l1'),
    labels('l3'),
    labels('l1', 'l3'),
    labels('l3', 'l5'),
    labels('l1', 'l3', 'l5'),
    labels('l40'),
    labels('l1', 'l40'),
    labels('l40', 'l1000'),
    labels('l1000', 'l1'),
    ['labels=None', (issue) => issue.labels.length === 0],
    ['labels=Any', (issue) => issue.labels.length > 0],
  ],
  [
    ['not[labels]=l5', (issue) => !issue.labels.includes('l5')],
    ['not[labels]=l1000,l40', (issue) => !issue.labels.some((title) => ['l40', 'l1000'].includes(title))],
  ],
  [
    [`assignee_id=${planner.id}`, (issue) => issue.assignees.includes(planner.id)],
    [`assignee_id=${guest.id}`, (issue) => issue.assignees.includes(guest.id)],
    ['assignee_id=None', (issue) => issue.assignees.length === 0],
    ['assignee_id=Any', (issue) => issue.assignees.length > 0],
  ],
  [
    [`author_id=${guest.id}`, (issue) => issue.author_id === guest.id],
    [`not[author_id]=${guest.id}`, (issue) => issue.author_id !== guest.id],
  ],
  [
    ['milestone=v2', (issue) => issue.milestone === 'v2'],
    ['milestone=None', (issue) => issue.milestone === null],
    ['milestone=Any', (issue) => issue.milestone !== null],
  ],
  [
    ['weight=3', (issue) => issue.weight === 3],
    ['weight=None', (issue) => issue.weight === null],
  ],
  [['state=opened', (issue) => issue.state === 'opened']],
  [
    ['confidential=true', (issue) => issue.confidential],
    ['confidential=false', (issue) => !issue.confidential],
  ],
  [
    ['search=sinks', (issue) => issue.title.includes('sinks')],
    ['search=T1 sinks', (issue) => issue.title.includes('T1') && issue.title.includes('sinks')],
  ],
]

/** Numbers below `below` that look random, the same ones each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

test('what an issue says of its labels and assignees is what its links say', () => {
  for (const issue of all)
    assert.deepEqual(
      [issue.labelled, issue.assigned],
      [issue.labels.length > 0, issue.assignees.length > 0],
      `#${issue.iid}`,
    )
})

type Key = string | number | null
const ORDERS: readonly (readonly [order: string, ...keys: ((issue: Plain) => Key)[]])[] = [
  ['created_at', (issue) => issue.created_at.getTime()],
  ['updated_at', (issue) => issue.updated_at.getTime()],
  ['due_date', (issue) => issue.due_date],
  ['weight', (issue) => issue.weight],
  ['popularity', (issue) => issue.upvotes],
  ['title', (issue) => issue.title.toLowerCase()],
  ['relative_position'],
  ['milestone_due', (issue) => issue.milestone_due, (issue) => issue.created_at.getTime()],
  ['label_priority', (issue) => issue.label_priority, (issue) => issue.created_at.getTime()],
  [
    'priority',
    (issue) => issue.milestone_due,
    (issue) => issue.label_priority,
    (issue) => issue.created_at.getTime(),
  ],
]
const compare = (a: Key, b: Key, way: number): number => {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return typeof a === 'string' && typeof b === 'string'
    ? a.localeCompare(b) * way
    : (Number(a) - Number(b)) * way
}
/** All issues in every order, both ways. */
const inOrder = (): { query: string; issues: Plain[] }[] =>
  ORDERS.flatMap(([order, ...keys]) =>
    (['asc', 'desc'] as const).map((sort) => {
      const way = sort === 'asc' ? 1 : -1
      return {
        query: `order_by=${order}&sort=${sort}`,
        issues: all.toSorted(
          (a, b) =>
            keys.map((key) => compare(key(a), key(b), way)).find((one) => one !== 0) ?? (a.id - b.id) * way,
        ),
      }
    }),
  )

test('any mixture of filters finds, in order and in number, what a look through all issues finds', async () => {
  const next = numbers(7)
  const sees = (who: Someone, issue: Plain): boolean =>
    !issue.confidential || who === planner || issue.author_id === who.id || issue.assignees.includes(who.id)
  const orders = inOrder()
  for (let round = 0; round < 100; round++) {
    const rare = [3, 30][next(2)] ?? 3
    const chosen = filters().flatMap((row) => (next(rare) === 0 ? [row[next(row.length)] as Filter] : []))
    const who = [planner, guest, nobody][next(3)] as Someone
    const order = orders[round % orders.length] as (typeof orders)[number]
    const page = [1, 3, 300, 430][next(4)] ?? 1
    const query = [...chosen.map(([text]) => text), `${order.query}&page=${page}&per_page=20`].join('&')
    const expected = order.issues.filter(
      (issue) => sees(who, issue) && chosen.every(([, holds]) => holds(issue)),
    )
    const answer = await world().get(`/projects/${project.id}/issues?${query}`, who)
    assert.equal(answer.status, 200, query)
    const found = (answer.body as { iid: number }[]).map(({ iid }) => iid)
    const total = expected.length > 10_000 ? undefined : String(expected.length)
    assert.equal(answer.headers['x-total'], total, query)
    assert.deepEqual(
      found,
      expected.slice((page - 1) * 20, page * 20).map(({ iid }) => iid),
      query,
    )
  }
})

test('a label of a project and one of a group with the same title find an issue once', async () => {
  const { make, get } = world()
  const top = await make.group({ visibility: 'public' })
  const below = await make.group({ parent: top, visibility: 'public' })
  const places = [await make.project({ group: top, visibility: 'public' })]
  places.push(await make.project({ group: below, visibility: 'public' }))
  const ids = places.map(({ id }) => id).join()
  await make.sql(`
    insert into labels (project_id, title, color) select unnest(array[${ids}]), 'same', '#112233';
    insert into labels (group_id, title, color) values (${top.id}, 'same', '#112233'), (${below.id}, 'same', '#112233'),
      (${top.id}, 'other', '#112233');
    insert into issues (iid, project_id, title, confidential, created_at)
      select n, p, 'T', n % 5 = 0, timestamptz '2026-01-01' + n * interval '1 minute'
        from generate_series(1, 30) n, unnest(array[${ids}]) p;
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from issues i join labels l on l.project_id = i.project_id where l.title = 'same' and i.iid % 2 = 0;
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from issues i join labels l on l.group_id = ${top.id} where i.iid % 3 = 0 and i.project_id in (${ids});
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from issues i join labels l on l.group_id = ${below.id} where i.iid % 4 = 0 and i.project_id = ${places[1]?.id}`)
  await make.sql(`insert into issue_assignees (issue_id, user_id)
    select id, ${guest.id} from issues where iid % 7 = 0 and project_id in (${ids})`)
  const member = await make.memberOf('planner', { group: top })
  const expected = (holds: (iid: number) => boolean, sees: (iid: number) => boolean): number =>
    Array.from({ length: 30 }, (_, at) => at + 1).filter((iid) => holds(iid) && sees(iid)).length * 2
  for (const [as, sees] of [
    [member, () => true],
    [nobody, (iid: number) => iid % 5 !== 0],
  ] as const)
    for (const [query, holds] of [
      ['labels=same', (iid: number) => iid % 2 === 0 || iid % 3 === 0],
      ['labels=same,other', (iid: number) => iid % 3 === 0],
      [`assignee_id=${guest.id}`, (iid: number) => iid % 7 === 0],
      [
        `assignee_id=${guest.id}&labels=same`,
        (iid: number) => iid % 42 === 0 || (iid % 7 === 0 && (iid % 2 === 0 || iid % 3 === 0)),
      ],
    ] as const) {
      const answer = await get(`/groups/${top.id}/issues?${query}&per_page=100`, as)
      const found = (answer.body as { id: number }[]).map(({ id }) => id)
      assert.equal(answer.headers['x-total'], String(expected(holds, sees)), query)
      assert.equal(found.length, expected(holds, sees), query)
      assert.equal(new Set(found).size, found.length, query)
    }
})
