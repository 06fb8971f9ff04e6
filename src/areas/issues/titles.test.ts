import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let guest: Someone
let nobody: Someone
const world = sharedWorld(async ({ make }) => {
  guest = await make.user()
  nobody = await make.user()
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
