-- Votes are counted as they are given: a list of many issues is ordered by them.
alter table issues
  add column upvotes integer not null default 0,
  add column downvotes integer not null default 0;
create function count_votes() returns trigger language plpgsql as $$
declare
  vote award_emoji := coalesce(new, old);
  step integer := case when tg_op = 'INSERT' then 1 else -1 end;
begin
  if vote.name = 'thumbsup' then
    update issues set upvotes = upvotes + step where id = vote.noteable_id;
  else
    update issues set downvotes = downvotes + step where id = vote.noteable_id;
  end if;
  return null;
end $$;
create trigger count_new_votes after insert on award_emoji for each row
  when (new.noteable_id is not null and new.name in ('thumbsup', 'thumbsdown')) execute function count_votes();
create trigger count_gone_votes after delete on award_emoji for each row
  when (old.noteable_id is not null and old.name in ('thumbsup', 'thumbsdown')) execute function count_votes();

-- A project knows how many of its issues are open, and how many of them anybody who sees it may see.
alter table projects add column open_public_issues_count integer not null default 0;
create function add_open_issues(project bigint, issues bigint, public_issues bigint) returns void language sql as $$
  update projects
     set open_issues_count = open_issues_count + issues,
         open_public_issues_count = open_public_issues_count + public_issues
   where id = project and (issues <> 0 or public_issues <> 0)
$$;
create function count_new_issues() returns trigger language plpgsql as $$
begin
  perform add_open_issues(project_id, count(*), count(*) filter (where not confidential))
     from fresh where state = 'opened' group by project_id order by project_id;
  return null;
end $$;
create function count_gone_issues() returns trigger language plpgsql as $$
begin
  perform add_open_issues(project_id, -count(*), -count(*) filter (where not confidential))
     from gone where state = 'opened' group by project_id order by project_id;
  return null;
end $$;
create function recount_issue() returns trigger language plpgsql as $$
begin
  perform add_open_issues(new.project_id,
    (new.state = 'opened')::int - (old.state = 'opened')::int,
    (new.state = 'opened' and not new.confidential)::int - (old.state = 'opened' and not old.confidential)::int);
  return null;
end $$;
create trigger count_new after insert on issues
  referencing new table as fresh for each statement execute function count_new_issues();
create trigger count_gone after delete on issues
  referencing old table as gone for each statement execute function count_gone_issues();
create trigger recount after update of state, confidential on issues for each row
  when (old.state <> new.state or old.confidential <> new.confidential) execute function recount_issue();
update projects p
   set open_issues_count = i.open, open_public_issues_count = i.public
  from (select project_id, count(*) as open, count(*) filter (where not confidential) as public
          from issues where state = 'opened' group by project_id) i
 where i.project_id = p.id;

-- One open reminder of a record is enough for anybody.
drop index todos_noteable;
create unique index todos_pending_key on todos (noteable_id, user_id) where state = 'pending';
create index todos_noteable on todos (noteable_id);
