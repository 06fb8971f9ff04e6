import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '../../db/schema.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

// Lists are answered in ways that depend on how many issues bear what is asked for. Each must find what a plain look
// through all issues finds.

interface Plain {
  readonly id: number
  readonly iid: number
  readonly author_id: number
  readonly state: string
  readonly confidential: boolean
  readonly milestone: string | null
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
    insert into milestones (iid, project_id, title) select n, ${project.id}, 'v' || n from generate_series(1, 3) n;
    insert into issues (iid, project_id, author_id, title, state, confidential, milestone_id, weight, created_at, updated_at)
      select n, ${project.id}, case when n % 7 = 0 then ${guest.id} else ${planner.id} end,
             'T' || (n * 7919 % 5200) || case when n % 13 = 0 then ' sinks' else '' end,
             case when n % 3 = 0 then 'closed' else 'opened' end, n % 4 = 0,
             (select id from milestones where project_id = ${project.id} and iid = n % 6), nullif(n % 5, 0),
             timestamptz '2026-01-01' + (n * 7919 % 5200) / 2 * interval '1 minute',
             timestamptz '2026-02-01' + (n * 104729 % 5200) * interval '1 minute'
        from generate_series(1, 5200) n where n % 6 <> 4 or n % 5 <> 0;
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
    `select i.*, m.title as milestone,
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
  [['not[labels]=l5', (issue) => !issue.labels.includes('l5')]],
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

test('any mixture of filters finds, in order and in number, what a look through all issues finds', async () => {
  const next = numbers(7)
  const sees = (who: Someone, issue: Plain): boolean =>
    !issue.confidential || who === planner || issue.author_id === who.id || issue.assignees.includes(who.id)
  const orders = [
    ['created_at', (issue: Plain) => issue.created_at.getTime()],
    ['updated_at', (issue: Plain) => issue.updated_at.getTime()],
  ] as const
  for (let round = 0; round < 150; round++) {
    const chosen = filters().flatMap((row) => (next(3) === 0 ? [row[next(row.length)] as Filter] : []))
    const who = [planner, guest, nobody][next(3)] as Someone
    const [order, key] = orders[next(4) === 0 ? 1 : 0]
    const page = next(4) === 0 ? 3 : 1
    const query = [...chosen.map(([text]) => text), `order_by=${order}&page=${page}&per_page=20`].join('&')
    const expected = all
      .filter((issue) => sees(who, issue) && chosen.every(([, holds]) => holds(issue)))
      .sort((a, b) => key(b) - key(a) || b.id - a.id)
    const answer = await world().get(`/projects/${project.id}/issues?${query}`, who)
    assert.equal(answer.status, 200, query)
    const found = (answer.body as { iid: number }[]).map(({ iid }) => iid)
    assert.equal(answer.headers['x-total'], String(expected.length), query)
    assert.deepEqual(
      found,
      expected.slice((page - 1) * 20, page * 20).map(({ iid }) => iid),
      query,
    )
  }
})
