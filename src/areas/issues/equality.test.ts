import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

// Any mixture of filters, orders and pages finds what a look through all issues in memory finds, below and above 10,000 matches.

interface Plain {
  readonly id: number
  readonly project_id: number
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
  readonly reactions: string[]
}

let group: Namespace
/** The large one, and one of 300 beside it. */
let project: Project
let beside: Project
let planner: Someone
let guest: Someone
let nobody: Someone
let all: Plain[]
const world = sharedWorld(async (here) => {
  const { make } = here
  group = await make.group({ visibility: 'public' })
  project = await make.project({ group, visibility: 'public' })
  beside = await make.project({ group, visibility: 'public' })
  planner = await make.memberOf('planner', { group })
  guest = await make.memberOf('guest', { group })
  const places = [project.id, beside.id].join()
  nobody = await make.user()
  await make.sql(`
    insert into labels (project_id, title, color)
      select p, 'l' || n, '#112233' from unnest(array[1, 3, 5, 40, 1000]) n, unnest(array[${places}]) p;
    insert into label_priorities (project_id, label_id, priority)
      select project_id, id, substr(title, 2)::int % 2 from labels where project_id in (${places}) and title <> 'l1';
    insert into milestones (iid, project_id, title, due_date)
      select n, p, 'v' || n, date '2026-03-01' + nullif(n, 2) % 3 + p % 2
        from generate_series(1, 4) n, unnest(array[${places}]) p;
    insert into issues (iid, project_id, author_id, title, state, confidential, milestone_id, weight, due_date, upvotes,
                        created_at, updated_at)
      select n, p, case when n % 7 = 0 then ${guest.id} else ${planner.id} end,
             'T' || (n * 7919 % 14500) || case when n % 13 = 0 then ' sinks' else '' end,
             case when n % 3 = 0 then 'closed' else 'opened' end, n % 4 = 0,
             (select id from milestones where project_id = p and iid = n % 6), nullif(n % 5, 0),
             case when n % 8 = 0 then date '2026-04-01' + n % 90 end, n % 50,
             timestamptz '2026-01-01' + (n * 7919 % 14500) / 2 * interval '1 minute',
             timestamptz '2026-02-01' + (n * 104729::bigint % 14500) * interval '1 minute'
        from generate_series(1, 14500) n, unnest(array[${places}]) p
       where (n % 6 <> 4 or n % 5 <> 0) and (p = ${project.id} or n <= 300);
    analyze issues, labels;
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from issues i join labels l on l.project_id = i.project_id
       where i.project_id in (${places}) and i.iid % substr(l.title, 2)::int = 0 and i.iid % 11 <> 0;
    insert into issue_assignees (issue_id, user_id)
      select id, case when iid % 4 = 0 then ${guest.id} else ${planner.id} end
        from issues where project_id in (${places}) and iid % 10 < 4;
    insert into issue_assignees (issue_id, user_id)
      select id, ${nobody.id} from issues where project_id in (${places}) and iid % 500 = 0
          on conflict do nothing;
    -- Whoever looks reacted to the same.
    insert into award_emoji (name, user_id, noteable_id)
      select k.name, u.id, i.id from issues i, (values ('tada', 9), ('rocket', 400)) k (name, every), users u
       where i.project_id in (${places}) and (i.iid % k.every = 0) <> (k.name = 'tada') and u.id in (${[planner, guest, nobody].map(({ id }) => id).join()});
    delete from label_links where noteable_id in (select id from issues where project_id in (${places}) and iid % 17 = 0);
    delete from issue_assignees where issue_id in (select id from issues where project_id in (${places}) and iid % 19 = 0);
    update issues set state = 'closed', confidential = not confidential where project_id in (${places}) and iid % 23 = 0;
    update issues set milestone_id = (select id from milestones m where m.project_id = issues.project_id and m.iid = 3)
     where project_id in (${places}) and iid % 29 = 0;
    update issues set author_id = ${nobody.id} where project_id in (${places}) and iid % 37 = 0;
    -- Some bear many labels.
    insert into labels (project_id, title, color) select p, 'x' || n, '#112233' from generate_series(1, 70) n, unnest(array[${places}]) p;
    analyze label_links, labels;
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from issues i join labels l on l.project_id = i.project_id
       where i.project_id in (${places}) and l.title like 'x%' and i.iid % 240 = 0;
    -- One is no more, and one left some.
    delete from labels where title = 'x70';
    delete from label_links k using labels l where l.id = k.label_id and l.title = 'l5'
       and k.noteable_id in (select id from issues where project_id in (${places}) and iid % 31 = 0);
    analyze`)
  all = await rowsOf<Plain & Record<string, unknown>>(
    here,
    `select i.*, m.title as milestone, m.due_date as milestone_due,
            (select min(r.priority) from label_links k join label_priorities r on r.label_id = k.label_id
              where k.noteable_id = i.id) as label_priority,
            array(select l.title from label_links k join labels l on l.id = k.label_id where k.noteable_id = i.id) as labels,
            array(select a.user_id from issue_assignees a where a.issue_id = i.id) as assignees,
            array(select e.name from award_emoji e where e.noteable_id = i.id) as reactions
       from issues i left join milestones m on m.id = i.milestone_id where i.project_id in (${places})`,
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
    labels('l3', 'x7', 'l5'),
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
  [
    ['my_reaction_emoji=tada', (issue) => issue.reactions.includes('tada')],
    ['my_reaction_emoji=rocket', (issue) => issue.reactions.includes('rocket')],
    ['my_reaction_emoji=Any', (issue) => issue.reactions.length > 0],
    ['my_reaction_emoji=None', (issue) => issue.reactions.length === 0],
    ['not[my_reaction_emoji]=rocket', (issue) => !issue.reactions.includes('rocket')],
  ],
  [['state=opened', (issue) => issue.state === 'opened']],
  [
    ['confidential=true', (issue) => issue.confidential],
    ['confidential=false', (issue) => !issue.confidential],
  ],
  [
    ['search=sinks', (issue) => issue.title.includes('sinks')],
    ['search=T1', (issue) => issue.title.includes('T1')],
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
  return a === b ? 0 : a < b ? -way : way
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

const sees = (who: Someone, issue: Plain): boolean =>
  !issue.confidential || who === planner || issue.author_id === who.id || issue.assignees.includes(who.id)
type Place = readonly [path: string, holds: (issue: Plain) => boolean]
const places = (): Place[] => [
  [`/projects/${project.id}/issues?`, (issue) => issue.project_id === project.id],
  [`/groups/${group.id}/issues?`, () => true],
  ['/issues?scope=all&', () => true],
]
interface Asked {
  readonly who: Someone
  readonly place: Place
  readonly chosen: readonly Filter[]
  readonly order: ReturnType<typeof inOrder>[number]
  readonly page: number
}
async function findsTheSame({ who, place: [path, isThere], chosen, order, page }: Asked): Promise<void> {
  const query = `${path}${[...chosen.map(([text]) => text), `${order.query}&page=${page}&per_page=20`].join('&')}`
  const expected = order.issues.filter(
    (issue) => isThere(issue) && sees(who, issue) && chosen.every(([, holds]) => holds(issue)),
  )
  const answer = await world().get(query, who)
  assert.equal(answer.status, 200, query)
  const found = (answer.body as { id: number }[]).map(({ id }) => id)
  const total = expected.length > 10_000 ? undefined : String(expected.length)
  assert.equal(answer.headers['x-total'], total, query)
  assert.deepEqual(
    found,
    expected.slice((page - 1) * 20, page * 20).map(({ id }) => id),
    query,
  )
}

test('any mixture of filters finds, in order and in number, what a look through all issues finds', async () => {
  const next = numbers(7)
  const orders = inOrder()
  for (let round = 0; round < 160; round++) {
    const rare = [3, 30][next(2)] ?? 3
    const chosen = filters().flatMap((row) => (next(rare) === 0 ? [row[next(row.length)] as Filter] : []))
    await findsTheSame({
      chosen,
      who: [planner, guest, nobody][next(3)] as Someone,
      order: orders[round % orders.length] as (typeof orders)[number],
      place: places()[[0, 1, 0, 2][next(4)] ?? 0] as Place,
      page: [1, 3, 300, 430][next(4)] ?? 1,
    })
  }
})

test('so does a label together with somebody', async () => {
  const orders = inOrder()
  const [labelled = [], unwanted = [], assigned = []] = filters()
  let round = 0
  for (const label of labelled)
    for (const place of places().slice(0, 2)) {
      const who = [planner, guest, nobody][round % 3] as Someone
      const order = orders[(round * 7) % orders.length] as (typeof orders)[number]
      const [somebody, not] = [assigned[round % 2] as Filter, unwanted[(round >> 1) % 2] as Filter]
      const chosen = [label, somebody, ...(round % 3 === 0 ? [not] : [])]
      await findsTheSame({ chosen, who, place, order, page: 1 })
      if (round % 4 === 0) await findsTheSame({ chosen: [somebody, not], who, place, order, page: 1 })
      round++
    }
})
