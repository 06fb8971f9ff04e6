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

-- Lists are walked along an index in their order, as far as the page reaches, and counted without a look at the rows.
drop index issues_project_created_at;
drop index issues_project_state_created_at;
create index issues_project_created_at on issues (project_id, created_at, id) include (confidential, author_id);
create index issues_project_state_created_at on issues (project_id, state, created_at, id)
  include (confidential, author_id);
create index issues_created_at on issues (created_at, id);
drop index issues_author;
create index issues_project_author on issues (project_id, author_id, created_at, id) include (state, confidential);
create index issues_author on issues (author_id, created_at, id);
drop index issues_milestone;
create index issues_milestone on issues (milestone_id, project_id, created_at, id)
  include (state, confidential, author_id) where milestone_id is not null;
create index issues_project_due_date on issues (project_id, due_date, id);
create index issues_project_due_date_last on issues (project_id, due_date desc nulls last, id desc);
create index issues_project_weight on issues (project_id, weight, id);
create index issues_project_weight_last on issues (project_id, weight desc nulls last, id desc);
create index issues_project_upvotes on issues (project_id, upvotes, id);
create index issues_project_title on issues (project_id, lower(title), id);

-- Links to labels and assignees know of their issue what lists of it are ordered and counted by, so that a page of those
-- with one label costs the same however many there are.
alter table label_links
  add column issue_project_id bigint,
  add column issue_created_at timestamptz,
  add column issue_state text,
  add column issue_confidential boolean;
alter table issue_assignees
  add column issue_project_id bigint,
  add column issue_created_at timestamptz,
  add column issue_state text,
  add column issue_confidential boolean;
update label_links k
   set issue_project_id = i.project_id, issue_created_at = i.created_at, issue_state = i.state,
       issue_confidential = i.confidential
  from issues i where i.id = k.noteable_id;
update issue_assignees a
   set issue_project_id = i.project_id, issue_created_at = i.created_at, issue_state = i.state,
       issue_confidential = i.confidential
  from issues i where i.id = a.issue_id;
create index label_links_issues on label_links (label_id, issue_project_id, issue_created_at, noteable_id)
  include (issue_state, issue_confidential) where issue_project_id is not null;
drop index issue_assignees_user;
create index issue_assignees_issues on issue_assignees (user_id, issue_project_id, issue_created_at, issue_id)
  include (issue_state, issue_confidential);
create index labels_title on labels (title);
create function know_labelled_issue() returns trigger language plpgsql as $$
begin
  select project_id, created_at, state, confidential
    into new.issue_project_id, new.issue_created_at, new.issue_state, new.issue_confidential
    from issues where id = new.noteable_id for share;
  return new;
end $$;
create function know_assigned_issue() returns trigger language plpgsql as $$
begin
  select project_id, created_at, state, confidential
    into new.issue_project_id, new.issue_created_at, new.issue_state, new.issue_confidential
    from issues where id = new.issue_id for share;
  return new;
end $$;
create function tell_links() returns trigger language plpgsql as $$
begin
  update label_links set issue_state = new.state, issue_confidential = new.confidential where noteable_id = new.id;
  update issue_assignees set issue_state = new.state, issue_confidential = new.confidential where issue_id = new.id;
  return null;
end $$;
create trigger know_issue before insert on label_links for each row execute function know_labelled_issue();
create trigger know_issue before insert on issue_assignees for each row execute function know_assigned_issue();
create trigger tell_links after update of state, confidential on issues for each row
  when (old.state <> new.state or old.confidential <> new.confidential) execute function tell_links();

-- Words are found by three letters at a time, where the server has the extension; without it a search reads the issues.
do $$
begin
  create extension if not exists pg_trgm;
  create index issues_title_words on issues using gin (title gin_trgm_ops);
  create index issues_description_words on issues using gin (left(description, 8000) gin_trgm_ops);
exception when undefined_file or insufficient_privilege or feature_not_supported then
  raise notice 'issues are searched without an index: %', sqlerrm;
end $$;
