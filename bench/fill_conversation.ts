import type { Db } from '../src/db/db.ts'

/** The iid of the issue that much is said about. */
export const TALKED_OF = 900_000

/** In that project: an issue of 5,000 threads, each with a note, and 10,000 reactions. */
export const fillConversation = (db: Db, projectId: number): Promise<void> =>
  db.script(`
    begin;
    insert into issues (iid, project_id, title) values (${TALKED_OF}, ${projectId}, 'Talked of');
    insert into discussions (key, noteable_id, individual_note)
      select lpad(to_hex(i), 40, '0'), t.id, i % 5 <> 0
        from issues t, generate_series(1, 5000) i where t.project_id = ${projectId} and t.iid = ${TALKED_OF} order by i;
    insert into notes (discussion_id, noteable_id, author_id, type, body)
      select d.id, d.noteable_id, u.id, case when not d.individual_note then 'DiscussionNote' end, 'What is said, in a sentence.'
        from discussions d join issues t on t.id = d.noteable_id and t.iid = ${TALKED_OF}
        join (select id, row_number() over (order by id) - 1 as at, count(*) over () as all from users) u
          on u.at = d.id % u.all
       order by d.id;
    insert into award_emoji (name, user_id, noteable_id)
      select 'emoji_' || i / u.all, u.id, t.id
        from issues t, generate_series(0, 9999) i
        join (select id, row_number() over (order by id) - 1 as at, count(*) over () as all from users) u
          on u.at = i % u.all
       where t.project_id = ${projectId} and t.iid = ${TALKED_OF} order by i;
    commit;`)
