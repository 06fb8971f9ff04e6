import type { Opened } from '../src/open.ts'
import { KNOW_LABELS, type Filled } from './many_issues_fill.ts'

// Beside the issues of a project: merge requests, and of one issue threads, notes and events, and reminders of its issues.

/** The iid of the issue that much is said about. */
export const TALKED_OF = 2_000_001

const records = (project: number, count: number, reader: string): string => `
  set session_replication_role = replica;
  create temporary table fresh as select nextval('noteables_id') as id, n from generate_series(1, ${count}) n;
  insert into noteables (id, kind) select id, 'merge_request' from fresh;
  insert into merge_requests (id, iid, project_id, source_project_id, author_id, title, description, state, source_branch,
                              target_branch, milestone_id, upvotes, merged_at, created_at, updated_at)
    select f.id, f.n, ${project}, ${project}, 1 + f.n % 100,
           'Change ' || md5(f.n::text) || case when f.n % (${count} / 20) = 0 then ' capsized' else '' end,
           'What changes with ' || f.n || ', in a sentence or so.',
           case f.n % 4 when 0 then 'opened' when 1 then 'closed' else 'merged' end, 'branch-' || f.n,
           case when f.n % 5 = 0 then 'next' else 'main' end,
           case when f.n % 10 < 3 then (select min(id) from milestones where project_id = ${project}) + f.n % 10 end,
           case when f.n % 10 = 0 then 1 else 0 end,
           case when f.n % 4 > 1 then now() - (f.n::bigint * 7927 % ${count}) * interval '1 second' end,
           now() - (${count} - f.n) * interval '1 second', now() - (f.n::bigint * 7919 % ${count}) * interval '1 second'
      from fresh f;
  insert into label_links (label_id, noteable_id, noteable_kind, noteable_project_id, noteable_created_at, noteable_state,
                           noteable_confidential, noteable_milestone_id)
    select (select min(id) from labels where project_id = ${project}) + at, f.id, 'merge_request', m.project_id, m.created_at,
           m.state, false, m.milestone_id from fresh f join merge_requests m on m.id = f.id, (values (0, 2), (1, 10), (2, 100), (3, ${count} / 20)) as k (at, every) where f.n % k.every = 0;
  ${KNOW_LABELS};
  insert into merge_request_assignees (merge_request_id, user_id) select id, 1 + n % 97 from fresh where n % 2 = 0;
  insert into merge_request_reviewers (merge_request_id, user_id) select id, 1 + n % 89 from fresh where n % 2 = 1;
  insert into discussions (key, noteable_id, individual_note)
    select md5('${project}+' || n) || '00000000', id, false from fresh where n % 20 = 0;
  insert into notes (discussion_id, noteable_id, author_id, type, body)
    select d.id, d.noteable_id, 1 + f.n % 100, 'DiscussionNote', 'What is asked of the change.'
      from fresh f join discussions d on d.noteable_id = f.id;
  drop table fresh; insert into noteables (kind) values ('issue');
  insert into issues (id, iid, project_id, title) select max(id), ${TALKED_OF}, ${project}, 'Talked of' from noteables;
  create temporary table talk as select id from issues where project_id = ${project} and iid = ${TALKED_OF};
  insert into discussions (key, noteable_id, individual_note, created_at)
    select md5('${project}-' || n) || '00000000', t.id, n % 5 <> 0, now() - (${count} - n) * interval '1 second'
      from talk t, generate_series(1, ${count}) n;
  insert into notes (discussion_id, noteable_id, author_id, type, body, system_action, internal, created_at, updated_at)
    select d.id, d.noteable_id, 1 + d.id % 100, case when not d.individual_note then 'DiscussionNote' end,
           'What is said, in a sentence.', case when d.id % 10 = 0 then 'closed' end, false, d.created_at, d.created_at
      from discussions d join talk t on t.id = d.noteable_id;
  insert into award_emoji (name, user_id, noteable_id, noteable_kind, noteable_project_id, noteable_created_at, noteable_state, noteable_confidential)
    select 'emoji_' || n / 100, 1 + n % 100, i.id, 'issue', i.project_id, i.created_at, i.state, i.confidential
      from talk t join issues i on i.id = t.id, generate_series(1, ${count}) n;
  insert into resource_label_events (noteable_id, user_id, label_id, action)
    select t.id, 1 + n % 100, (select min(id) from labels where project_id = ${project}), 'add'
      from talk t, generate_series(1, ${count}) n;
  insert into resource_state_events (noteable_id, user_id, state) select t.id, 1, 'closed' from talk t, generate_series(1, ${count});
  drop table talk; insert into todos (user_id, author_id, project_id, noteable_id, action_name, state)
    select (select id from users where username = '${reader}'), 1 + i.iid % 100, ${project}, i.id, case when i.iid % 3 = 0 then 'assigned' else 'mentioned' end,
           case when i.iid % 4 = 0 then 'done' else 'pending' end
      from issues i where i.project_id = ${project} order by i.iid limit ${count};
  set session_replication_role = origin; select count_labels_anew();`

/** A statement that may take an hour. */
const patient = (text: string): { text: string } => Object.assign({ text }, { query_timeout: 3_600_000 })

/** The guest is reminded of few, the planner of many. */
export async function fillRecords({ client }: Opened, filled: Filled, many: number): Promise<void> {
  const connection = await client.pool.connect()
  await connection.query('set statement_timeout = 0')
  await connection.query(patient(records(filled.few.project, 1_000, 'u2')))
  await connection.query(patient(records(filled.many.project, many, 'u1')))
  await connection.query(patient('vacuum analyze'))
  connection.release()
}
