import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let group: Namespace
let ada: Someone
let bo: Someone
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'private' })
  ada = await make.memberOf('developer', { group })
  bo = await make.memberOf('reporter', { group })
})

interface Plain {
  readonly iid: number
  readonly state: string
  readonly upvotes: number
  readonly merged_at: Date | null
  readonly due: string | null
  readonly rank: number | null
  readonly labels: string[]
  readonly assignees: number[]
}

test('of more than 10,000 that match a list finds, in order, what a look through all of them finds', async () => {
  const { make, get } = world()
  const above = await make.group({ parent: group, visibility: 'private' })
  const large = await make.project({ group: above, visibility: 'private', path: 'large' })
  await make.sql(`
    insert into labels (project_id, title, color)
    select ${large.id}, unnest(array['most', 'half', 'some', 'rare']), '#ff0000';
    insert into labels (group_id, title, color) values (${above.id}, 'half', '#ff0000');
    insert into label_priorities (project_id, label_id, priority)
    select project_id, id, length(title) % 2 + 1 from labels where project_id = ${large.id} and title in ('half', 'some', 'rare');
    insert into milestones (iid, project_id, title, due_date)
    select n, ${large.id}, 'v' || n, date '2024-01-01' + nullif(n, 2) from generate_series(0, 3) n;
    insert into merge_requests (iid, project_id, source_project_id, author_id, title, source_branch, target_branch, state,
                                upvotes, merged_at, created_at, milestone_id)
    select n, ${large.id}, ${large.id}, ${ada.id}, 'T', 'b' || n, 'main', case when n % 3 = 0 then 'closed' else 'opened' end,
           n % 40, case when n % 5 = 0 then '2024-01-01'::timestamptz + n * 7919 % 11000 * interval '1 minute' end,
           '2024-01-01'::timestamptz + n * interval '1 minute',
           (select id from milestones where project_id = ${large.id} and iid = n % 6)
      from generate_series(1, 11000) n order by n;
    analyze merge_requests, labels;
    insert into label_links (label_id, noteable_id)
    select l.id, m.id from labels l join merge_requests m on m.project_id = l.project_id
     where l.project_id = ${large.id}
       and case l.title when 'most' then m.iid % 60 > 0 when 'half' then m.iid % 2 > 0
                        when 'some' then m.iid % 3 > 0 else m.iid % 500 = 3 end;
    insert into label_links (label_id, noteable_id)
    select l.id, m.id from labels l join merge_requests m on m.project_id = ${large.id}
     where l.group_id = ${above.id} and m.iid % 7 = 0;
    insert into award_emoji (name, user_id, noteable_id)
    select 'tada', u, m.id from merge_requests m, unnest(array[${ada.id}, ${bo.id}]) u
     where m.project_id = ${large.id} and m.iid % 50 > 1;
    update merge_requests set state = 'merged', milestone_id = null where project_id = ${large.id} and iid % 13 = 0;
    insert into merge_request_assignees (merge_request_id, user_id)
    select id, ${bo.id} from merge_requests where project_id = ${large.id} and iid % 50 = 7;
    analyze`)
  const all = await rowsOf<Plain & Record<string, unknown>>(
    world(),
    `select m.iid, m.state, m.upvotes, m.merged_at,
            (select s.due_date from milestones s where s.id = m.milestone_id) as due,
            (select min(r.priority) from label_links k join label_priorities r on r.label_id = k.label_id
              where k.noteable_id = m.id) as rank,
            array(select l.title from label_links k join labels l on l.id = k.label_id where k.noteable_id = m.id) as labels,
            array(select a.user_id from merge_request_assignees a where a.merge_request_id = m.id) as assignees
       from merge_requests m where m.project_id = $1`,
    [large.id],
  )
  const filters: [string, (one: Plain) => boolean][] = [
    ['labels=most', (one) => one.labels.includes('most')],
    ['labels=most,half', (one) => one.labels.includes('most') && one.labels.includes('half')],
    ['labels=most,some', (one) => one.labels.includes('most') && one.labels.includes('some')],
    ['labels=half,rare', (one) => one.labels.includes('half') && one.labels.includes('rare')],
    [
      'labels=most,half,some&state=opened',
      (one) =>
        ['most', 'half', 'some'].every((title) => one.labels.includes(title)) && one.state === 'opened',
    ],
    ['labels=most&not[labels]=some', (one) => one.labels.includes('most') && !one.labels.includes('some')],
    ['not[labels]=some,rare', (one) => !one.labels.includes('some') && !one.labels.includes('rare')],
    ['my_reaction_emoji=tada', (one) => one.iid % 50 > 1],
    ['my_reaction_emoji=tada&state=merged', (one) => one.iid % 50 > 1 && one.state === 'merged'],
    ['labels=Any', (one) => one.labels.length > 0],
    ['labels=None', (one) => one.labels.length === 0],
    ['not[labels]=half', (one) => !one.labels.includes('half')],
    [`not[assignee_id]=${bo.id}`, (one) => !one.assignees.includes(bo.id)],
    ['assignee_id=None', (one) => one.assignees.length === 0],
    [`assignee_id=${bo.id}&state=closed`, (one) => one.assignees.includes(bo.id) && one.state === 'closed'],
  ]
  const last = (moment: Date | null): number => moment?.getTime() ?? 0
  const orders: [string, (a: Plain, b: Plain) => number][] = [
    ['order_by=created_at', (a, b) => b.iid - a.iid],
    ['order_by=popularity', (a, b) => b.upvotes - a.upvotes || b.iid - a.iid],
    ['order_by=merged_at', (a, b) => last(b.merged_at) - last(a.merged_at) || b.iid - a.iid],
  ]
  const least = (key: string | number | null): string | number => key ?? '9'
  const by =
    (key: (one: Plain) => string | number | null) =>
    (a: Plain, b: Plain): number =>
      String(least(key(a))).localeCompare(String(least(key(b)))) || a.iid - b.iid
  orders.push(
    ['order_by=milestone_due&sort=asc', by(({ due }) => due)],
    ['order_by=label_priority&sort=asc', by(({ rank }) => rank)],
  )
  for (const [order, compare] of orders) {
    const sorted = all.toSorted(compare)
    for (const [filter, holds] of filters)
      for (const path of [`/projects/${large.id}`, `/groups/${above.id}`]) {
        const expected = sorted.filter(holds)
        const page = path.startsWith('/groups') ? 1 : 200
        const query = `${path}/merge_requests?${filter}&${order}&page=${page}`
        const answer = await get(query, ada)
        assert.equal(
          answer.headers['x-total'],
          expected.length > 10_000 ? undefined : String(expected.length),
          query,
        )
        const part = expected.slice((page - 1) * 20, page * 20)
        assert.deepEqual(
          (answer.body as { iid: number }[]).map(({ iid }) => iid),
          part.map(({ iid }) => iid),
          query,
        )
      }
  }
})
