-- Comments on commits become notes like all others.
insert into noteable_commits (project_id, sha) select distinct project_id, sha from commit_notes;
do $$
declare
  old record;
  about bigint;
  thread bigint;
begin
  for old in select * from commit_notes order by id loop
    select id into about from noteable_commits where project_id = old.project_id and sha = old.sha;
    insert into discussions (key, noteable_id, individual_note, created_at)
      values (substr(encode(sha256(convert_to('commit note ' || old.id, 'utf8')), 'hex'), 1, 40), about, old.path is null,
              old.created_at)
      returning id into thread;
    insert into notes (discussion_id, noteable_id, author_id, type, body, diff_position, created_at, updated_at)
      values (thread, about, old.author_id, case when old.path is not null then 'DiffNote' end, old.note,
              case when old.path is not null then jsonb_build_object(
                'base_sha', old.sha, 'start_sha', old.sha, 'head_sha', old.sha, 'position_type', 'text',
                'old_path', old.path, 'new_path', old.path,
                'old_line', case when old.line_type = 'old' then old.line end,
                'new_line', case when old.line_type = 'new' then old.line end, 'line_range', null) end,
              old.created_at, old.updated_at);
  end loop;
end $$;
drop table commit_notes;
