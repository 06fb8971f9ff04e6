-- Reactions know what label links know of their records: what somebody reacted to is found and counted in the order of time
-- without a look at the records.
alter table award_emoji
  add column noteable_kind text,
  add column noteable_project_id bigint,
  add column noteable_created_at timestamptz,
  add column noteable_state text,
  add column noteable_confidential boolean;
drop index award_emoji_user;
drop index award_emoji_user_id_ref;
update award_emoji e
   set noteable_kind = r.kind, noteable_project_id = r.project_id, noteable_created_at = r.created_at,
       noteable_state = r.state, noteable_confidential = r.confidential
  from (select id, 'issue' as kind, project_id, created_at, state, confidential from issues
        union all
        select id, 'merge_request', project_id, created_at, state, false from merge_requests) r
 where r.id = e.noteable_id;
create index award_emoji_records
  on award_emoji (user_id, name, noteable_kind, noteable_project_id, noteable_created_at, noteable_id)
  include (noteable_state, noteable_confidential);

create function know_reacted() returns trigger language plpgsql as $$
begin
  select 'issue', project_id, created_at, state, confidential
    into new.noteable_kind, new.noteable_project_id, new.noteable_created_at, new.noteable_state, new.noteable_confidential
    from issues where id = new.noteable_id for no key update;
  if not found then
    select 'merge_request', project_id, created_at, state, false
      into new.noteable_kind, new.noteable_project_id, new.noteable_created_at, new.noteable_state, new.noteable_confidential
      from merge_requests where id = new.noteable_id for no key update;
  end if;
  return new;
end $$;
create trigger know_reacted before insert on award_emoji
  for each row when (new.noteable_id is not null) execute function know_reacted();

create or replace function tell_links() returns trigger language plpgsql as $$
begin
  update label_links
     set noteable_state = new.state, noteable_confidential = new.confidential, noteable_milestone_id = new.milestone_id
   where noteable_id = new.id;
  if old.state <> new.state or old.confidential <> new.confidential then
    update issue_assignees set issue_state = new.state, issue_confidential = new.confidential where issue_id = new.id;
    update award_emoji set noteable_state = new.state, noteable_confidential = new.confidential where noteable_id = new.id;
  end if;
  return null;
end $$;
create or replace function tell_label_links() returns trigger language plpgsql as $$
begin
  update label_links set noteable_state = new.state, noteable_milestone_id = new.milestone_id where noteable_id = new.id;
  if old.state <> new.state then
    update award_emoji set noteable_state = new.state where noteable_id = new.id;
  end if;
  return null;
end $$;

-- Who wrote of a record is looked for one after the other.
create index notes_authors on notes (noteable_id, internal, author_id)
  where system_action is null and author_id is not null;
analyze award_emoji;
