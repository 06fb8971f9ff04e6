import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Namespace, Project } from '../../../db/schema/tables.ts'
import type { Someone } from '../../../../test/support/makers.ts'
import { rowsOf } from '../../../../test/support/rows.ts'
import { sharedWorld } from '../../../../test/support/stand.ts'
import type { Answered } from '../../../../test/support/world.ts'

let group: Namespace
let project: Project
let ada: Someone
let bo: Someone

/** Ten merge requests of one project, their numbers being their age: made without git, which no list asks. */
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'private', path: 'harbour' })
  project = await make.project({ group, visibility: 'private', path: 'app' })
  ada = await make.memberOf('developer', { group })
  bo = await make.memberOf('reporter', { group })
  await make.sql(`
    insert into milestones (iid, project_id, title, due_date) values (1, ${project.id}, 'v1', current_date + 9);
    insert into labels (project_id, title, color) values (${project.id}, 'bug', '#ff0000'), (${project.id}, 'late', '#00ff00');
    insert into merge_requests (iid, project_id, source_project_id, author_id, title, description, source_branch,
                                target_branch, created_at, updated_at, state, milestone_id)
    select n, ${project.id}, ${project.id}, case when n % 2 = 0 then ${ada.id} else ${bo.id} end,
           case when n = 3 then 'Draft: the third' else 'Number ' || n end, 'Speaks of ' || n || ' things',
           'topic-' || n, case when n < 6 then 'main' else 'stable' end,
           '2024-01-01'::timestamptz + n * interval '1 day', '2024-03-01'::timestamptz - n * interval '1 day',
           case when n > 8 then 'closed' when n > 7 then 'merged' else 'opened' end,
           case when n = 4 then (select id from milestones where project_id = ${project.id}) end
      from generate_series(1, 10) n order by n;
    insert into label_links (label_id, noteable_id)
    select l.id, m.id from labels l, merge_requests m
     where l.project_id = ${project.id} and (l.title = 'bug' and m.iid <= 4 or l.title = 'late' and m.iid in (2, 9));
    insert into merge_request_assignees (merge_request_id, user_id) select id, ${ada.id} from merge_requests where iid in (1, 2);
    insert into merge_request_reviewers (merge_request_id, user_id) select id, ${bo.id} from merge_requests where iid = 5;
    insert into award_emoji (name, user_id, noteable_id)
    select 'thumbsup', ${ada.id}, id from merge_requests where iid = 6;
    insert into merge_request_approvals (merge_request_id, user_id)
    select id, u from merge_requests, unnest(array[${ada.id}, ${bo.id}]) u
     where iid in (4, 6) or iid = 7 and u = ${ada.id} or iid = 9 and u = ${bo.id};
    update merge_requests set merged_by_id = ${ada.id} where iid = 8;
    insert into environments (project_id, name, slug, tier)
    select ${project.id}, name, name, 'other' from unnest(array['production', 'staging']) name;
    insert into deployments (iid, project_id, environment_id, ref, tag, sha, status, finished_at)
    select n, ${project.id}, e.id, 'main', false, repeat('a', 40), case n when 3 then 'failed' else 'success' end,
           '2024-02-01'::timestamptz + n * interval '1 day'
      from generate_series(1, 3) n
      join environments e on e.name = case n when 1 then 'staging' else 'production' end;
    insert into deployment_merge_requests (deployment_id, merge_request_id)
    select d.id, m.id from deployments d, merge_requests m
     where d.iid = 1 and m.iid in (3, 8) or d.iid = 2 and m.iid in (4, 8) or d.iid = 3 and m.iid = 5`)
})

const iidsOf = ({ status, text, body }: Answered): number[] => {
  assert.equal(status, 200, text)
  return (body as { iid: number }[]).map(({ iid }) => iid)
}
const list = (query: string, as: Someone = ada): Promise<Answered> =>
  world().get(`/projects/${project.id}/merge_requests?${query}`, as)

suite('what a list is narrowed by', () => {
  const cases: readonly (readonly [string, () => string, readonly number[]])[] = [
    ['nothing: the newest first', () => '', [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ['state', () => 'state=closed', [10, 9]],
    ['numbers', () => 'iids[]=2&iids[]=4&iids[]=99', [4, 2]],
    ['author', () => `author_id=${bo.id}&state=opened`, [7, 5, 3, 1]],
    ['author by name', () => `author_username=${bo.username.toUpperCase()}&state=closed`, [9]],
    ['assignee', () => `assignee_id=${ada.id}`, [2, 1]],
    ['any assignee', () => 'assignee_id=Any', [2, 1]],
    ['no assignee', () => 'assignee_id=None&state=opened', [7, 6, 5, 4, 3]],
    ['assignee by name', () => `assignee_username[]=${ada.username}`, [2, 1]],
    ['reviewer', () => `reviewer_id=${bo.id}`, [5]],
    ['reviewer by name', () => `reviewer_username=${bo.username}`, [5]],
    ['label', () => 'labels=bug', [4, 3, 2, 1]],
    ['several labels', () => 'labels=bug,late', [2]],
    ['any label', () => 'labels=Any', [9, 4, 3, 2, 1]],
    ['no label', () => 'labels=None&state=closed', [10]],
    ['milestone', () => 'milestone=v1', [4]],
    ['a milestone to come', () => 'milestone=Upcoming', [4]],
    ['any milestone', () => 'milestone=Any', [4]],
    ['a reaction of one’s own', () => 'my_reaction_emoji=thumbsup', [6]],
    ['source branch', () => 'source_branch=topic-7', [7]],
    ['target branch', () => 'target_branch=stable&state=opened', [7, 6]],
    ['text', () => 'search=NUMBER 1', [10, 1]],
    ['text of the description', () => 'search=of 3 th&in=description', [3]],
    ['text that is in another place', () => 'search=of 3 th&in=title', []],
    ['signs that mean something to patterns', () => 'search=%25', []],
    ['drafts', () => 'draft=true', [3]],
    ['drafts, as it was once called', () => 'wip=yes', [3]],
    ['time', () => 'created_after=2024-01-09T00:00:00Z&created_before=2024-01-10T00:00:00Z', [9, 8]],
    ['not without labels', () => 'not[labels]=None', [9, 4, 3, 2, 1]],
    ['not a label', () => 'not[labels]=bug,late&state=opened', [7, 6, 5]],
    ['not an author', () => `not[author_id]=${ada.id}&state=opened`, [7, 5, 3, 1]],
    ['not a milestone', () => 'not[milestone]=v1&state=opened', [7, 6, 5, 3, 2, 1]],
    ['who approved it', () => `approved_by_ids[]=${ada.id}`, [7, 6, 4]],
    ['all who approved it', () => `approved_by_ids[]=${ada.id}&approved_by_ids[]=${bo.id}`, [6, 4]],
    ['who approved it, with a comma', () => `approved_by_ids=${ada.id},${bo.id}`, [6, 4]],
    ['approvals by nobody there is', () => `approved_by_ids[]=${ada.id}&approved_by_ids[]=999999`, []],
    ['any approval', () => 'approved_by_ids=Any', [9, 7, 6, 4]],
    ['no approval', () => 'approved_by_ids=none&state=opened', [5, 3, 2, 1]],
    ['who approved it, by name', () => `approved_by_usernames=${bo.username.toUpperCase()}`, [9, 6, 4]],
    [
      'all who approved it, by name',
      () => `approved_by_usernames[]=${bo.username}&approved_by_usernames[]=${ada.username}`,
      [6, 4],
    ],
    ['approvals of no name', () => 'approved_by_usernames=unheard', []],
    ['any approval, by name', () => 'approved_by_usernames=Any', [9, 7, 6, 4]],
    ['whether it is approved', () => 'approved=yes', [9, 7, 6, 4]],
    ['whether it is not', () => 'approved=no&state=opened', [5, 3, 2, 1]],
    ['not approved by one', () => `not[approved_by_ids][]=${bo.id}&state=opened`, [7, 5, 3, 2, 1]],
    [
      'not approved by any of two',
      () => `not[approved_by_ids]=${ada.id},${bo.id}&state=opened`,
      [5, 3, 2, 1],
    ],
    [
      'not approved by names',
      () => `not[approved_by_usernames][]=${bo.username.toUpperCase()}&approved_by_usernames=${ada.username}`,
      [7],
    ],
    ['not without approvals', () => 'not[approved_by_ids]=None', [9, 7, 6, 4]],
    ['who merged it', () => `merge_user_id=${ada.id}`, [8]],
    ['who merged it, by name', () => `merge_user_username=${ada.username}`, [8]],
    ['who merged nothing', () => `merge_user_id=${bo.id}`, []],
    ['environment', () => 'environment=production', [8, 4]],
    ['environment that does not exist', () => 'environment=prod', []],
    ['start of deployment time', () => 'deployed_after=2024-02-03T00:00:00Z', [8, 4]],
    ['end of deployment time', () => 'deployed_before=2024-02-03T00:00:00Z', [8, 3]],
    [
      'one deployment that is both early and in an environment',
      () => 'environment=production&deployed_before=2024-02-03T00:00:00Z',
      [],
    ],
    [
      'a span of deployment times',
      () => 'deployed_after=2024-02-01&deployed_before=2024-02-02T00:00:01Z&environment=staging',
      [8, 3],
    ],
    ['drafts that are none, as it was once called', () => 'wip=no&state=opened&not[labels]=bug', [7, 6, 5]],
    ['scope', () => 'scope=assigned_to_me', [2, 1]],
    ['order', () => 'order_by=updated_at&sort=asc&state=opened', [7, 6, 5, 4, 3, 2, 1]],
    ['order by title', () => 'order_by=title&sort=asc&state=opened', [3, 1, 2, 4, 5, 6, 7]],
    ['order by votes', () => 'order_by=popularity&per_page=1', [6]],
    ['order by milestone', () => 'order_by=milestone_due&sort=asc&per_page=1', [4]],
  ]
  for (const [what, query, expected] of cases)
    test(`the list of a project by ${what}`, async () => {
      const answer = await list(query())
      assert.deepEqual(iidsOf(answer), expected)
      if (!query().includes('per_page')) assert.equal(answer.headers['x-total'], String(expected.length))
    })

  test('invalid ids and conflicting filters are refused', async () => {
    const rows: [string, string][] = [
      ['assignee_id=somebody', 'assignee_id should be an integer, `None`, or `Any`, however got somebody'],
      ['approved_by_ids=somebody', "approved_by_ids should be an array, 'None' or 'Any'"],
      ['approved_by_ids=1,Any', "approved_by_ids should be an array, 'None' or 'Any'"],
      ['not[approved_by_ids]=me', "not[approved_by_ids] should be an array, 'None' or 'Any'"],
      ['approved=maybe', 'approved does not have a valid value'],
      ['merge_user_id=me', 'merge_user_id is invalid'],
      ['deployed_after=once', 'deployed_after is invalid'],
      ['merge_user_id=1&merge_user_username=a', 'merge_user_id, merge_user_username are mutually exclusive'],
    ]
    for (const [query, error] of rows) {
      const { status, body } = await list(query)
      assert.deepEqual([status, body], [400, { error }], query)
    }
  })
})

suite('who sees what', () => {
  const everywhere = async (who: Someone | undefined, path: string): Promise<number> => {
    const answer = await world().get(path, who)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['x-total'], String((answer.body as unknown[]).length))
    return (answer.body as unknown[]).length
  }
  test('lists of groups and of everything hold what the caller may read the code of, and totals no more', async () => {
    const { make } = world()
    const [guest, stranger, admin] = [
      await make.memberOf('guest', { group }),
      await make.user(),
      await make.admin(),
    ]
    const open = await make.project({ group, visibility: 'public', path: 'open' })
    const closed = await make.project({ group, visibility: 'public', path: 'closed' })
    const off = await make.project({ group, visibility: 'public', path: 'off' })
    await make.sql(`
      insert into merge_requests (iid, project_id, title, source_branch)
      select 1, p, 'one', 'x' from unnest(array[${open.id}, ${closed.id}, ${off.id}]::bigint[]) p;
      update projects set repository_access_level = 'private' where id = ${closed.id};
      update projects set settings = '{"merge_requests_access_level":"disabled"}' where id = ${off.id}`)
    const inGroup = `/groups/${group.id}/merge_requests?per_page=100`
    const anywhere = '/merge_requests?scope=all&per_page=100'
    for (const path of [inGroup, anywhere]) {
      assert.equal(await everywhere(ada, path), 12, path)
      assert.equal(await everywhere(guest, path), 1, path)
      assert.equal(await everywhere(admin, path), 13, path)
    }
    assert.equal(await everywhere(stranger, anywhere), 1)
    assert.equal(await everywhere(undefined, anywhere), 1)
    assert.equal(await everywhere(stranger, '/merge_requests'), 0)
    assert.equal(await everywhere(bo, '/merge_requests'), 5)
    assert.equal((await world().get('/merge_requests')).status, 401)
    const relative = (await world().get(`${inGroup}&state=merged`, ada)).body as { references: object }[]
    assert.deepEqual(relative[0]?.references, { short: '!8', relative: 'app!8', full: 'harbour/app!8' })
    const across = (await world().get(`${anywhere}&state=merged`, ada)).body as { references: object }[]
    const full = 'harbour/app!8'
    assert.deepEqual(across[0]?.references, { short: '!8', relative: full, full }, 'across projects')
  })

  test('a project that switched them off has none to list and none to get', async () => {
    const [{ id } = { id: 0 }] = await rowsOf<{ id: number }>(
      world(),
      `select id from projects where path = 'off'`,
      [],
    )
    assert.deepEqual((await world().get(`/projects/${id}/merge_requests`, ada)).body, {
      message: '403 Forbidden',
    })
    assert.deepEqual((await world().get(`/projects/${id}/merge_requests/1`, ada)).body, {
      message: '404 Not found',
    })
  })
})

test('a page takes as many statements for one as for many', async () => {
  const count = async (size: number): Promise<number> =>
    (await world().statements(() => list(`per_page=${size}&labels=bug&with_labels_details=true`))).length
  await count(1)
  assert.equal(await count(100), await count(1))
})
