import assert from 'node:assert/strict'
import type { Namespace } from '../../src/db/schema.ts'
import type { Someone } from './makers.ts'
import { watch } from './plans.ts'
import type { World } from './world.ts'

/** A group whose one large project has so many records, beside three of 20. */
export interface Crowd {
  readonly group: number
  readonly project: number
  readonly author: number
}

/**
 * Nearly all bear `most` and nearly all `nearly`, half of them `half` and one in fifty `rare`, each at least one of these;
 * half are of five milestones, those without `half` have an author, and `rare` and `most` have numbers by which labels go.
 */
export async function makeCrowd(
  world: World,
  kind: 'issue' | 'merge_request',
  { top, count }: { top: Namespace; count: number },
): Promise<Crowd> {
  const { make } = world
  const group = await make.group({ parent: top, visibility: 'public' })
  const { id: author } = await make.user()
  const ids: number[] = []
  for (let i = 0; i < 4; i += 1) ids.push((await make.project({ group, visibility: 'public' })).id)
  const [project = 0, ...small] = ids
  for (const [id, records] of [[project, count] as const, ...small.map((one) => [one, 20] as const)])
    await make.sql(`
      insert into labels (project_id, title, color)
        select ${id}, unnest(array['most', 'nearly', 'half', 'rare']), '#112233';
      insert into label_priorities (project_id, label_id, priority)
        select project_id, id, case title when 'rare' then 1 else 2 end from labels
         where project_id = ${id} and title in ('rare', 'most');
      insert into milestones (iid, project_id, title, due_date)
        select n, ${id}, 'v' || n, date '2026-03-01' + n from generate_series(0, 4) n;
      insert into ${kind}s (iid, project_id, author_id, title, labelled, milestone_id, upvotes, created_at, updated_at, ${kind === 'issue' ? 'weight, due_date' : 'source_branch, merged_at'})
        select n, ${id}, case when n % 2 = 1 then ${author} end, 'T' || n * 7919 % 12007, true,
               case when n % 10 < 5 then (select id from milestones m where m.project_id = ${id} and m.iid = n % 10) end,
               n % 7, timestamptz '2026-01-01' + n * interval '1 minute',
               timestamptz '2026-02-01' + n * 7919 % 12007 * interval '1 minute',
               ${kind === 'issue' ? `n % 9, date '2026-01-01' + n % 400` : `'b' || n, timestamptz '2026-01-01' + n % 400 * interval '1 day'`}
          from generate_series(1, ${records}) n;
      -- As the triggers of links leave them, which take ten times as long.
      set session_replication_role = replica;
      insert into label_links (label_id, noteable_id, noteable_kind, noteable_project_id, noteable_created_at,
                               noteable_state, noteable_confidential, noteable_milestone_id, noteable_author_id, label_ids)
        select unnest(ids), i.id, '${kind}', i.project_id, i.created_at, i.state,
               ${kind === 'issue' ? 'i.confidential' : 'false'}, i.milestone_id, ${kind === 'issue' ? 'i.author_id' : 'null::bigint'}, ids
          from ${kind}s i, lateral (
            select array_agg(l.id order by l.id) as ids from labels l
             where l.project_id = i.project_id
               and case l.title when 'most' then i.iid % 60 > 0 when 'nearly' then i.iid % 70 > 0
                                when 'half' then i.iid % 2 = 0 else i.iid % 50 = 7 end) borne
         where i.project_id = ${id};
      set session_replication_role = origin;
      select count_labels_anew();`)
  return { group: group.id, project, author }
}

/** What is there is known to the planner, and to indexes alone. */
export const settle = (world: World): Promise<unknown> =>
  world.opened.client.pool.query(
    'vacuum (analyze) issues, merge_requests, label_links, issue_assignees, award_emoji, notes, labels, milestones',
  )

/** What the database does for a page: how many blocks of 8 KiB it touches, and the rows of the step that yields most. */
export async function readingOf(
  world: World,
  path: string,
  as: Someone,
): Promise<{ blocks: number; rows: number }> {
  // Another list sees that something was committed: nothing stands of what was read before.
  await world.make.sql('select pg_current_xact_id()')
  await world.get('/projects', as)
  const plans = await watch(world.opened.client.pool, async () => {
    const { status, text } = await world.get(path, as)
    assert.equal(status, 200, text)
  })
  const rows = plans.flatMap(({ text }) => [...text.matchAll(/rows=([0-9.]+) loops=(\d+)/g)])
  return {
    blocks: plans.reduce((sum, { blocks }) => sum + blocks, 0),
    rows: Math.max(...rows.map(([, each, loops]) => Number(each) * Number(loops))),
  }
}
