-- What people talk about: issues, merge requests, snippets, epics and commits. They draw their ids from one sequence,
-- so that notes, reactions, labels and events hang on any of them by one column.
create sequence noteables_id;
create table noteables (
  id bigint primary key default nextval('noteables_id'),
  kind text not null check (kind in ('issue', 'merge_request', 'snippet', 'epic', 'commit'))
);
create function make_noteable() returns trigger language plpgsql as $$
begin
  new.id := nextval('noteables_id');
  insert into noteables (id, kind) values (new.id, tg_argv[0]);
  return new;
end $$;
create function drop_noteable() returns trigger language plpgsql as $$
begin
  delete from noteables where id = old.id;
  return null;
end $$;

create table milestones (
  id bigint generated always as identity primary key,
  iid integer not null,
  project_id bigint references projects on delete cascade,
  group_id bigint references namespaces on delete cascade,
  title text not null check (title <> ''),
  description text,
  state text not null default 'active' check (state in ('active', 'closed')),
  start_date date,
  due_date date,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) = 1),
  constraint milestones_project_iid_key unique (project_id, iid),
  constraint milestones_group_iid_key unique (group_id, iid)
);
create unique index milestones_project_title_key on milestones (project_id, title) where project_id is not null;
create unique index milestones_group_title_key on milestones (group_id, title) where group_id is not null;
create index milestones_project_due_date on milestones (project_id, due_date, id desc);
create index milestones_project_state_due_date on milestones (project_id, state, due_date, id desc);
create index milestones_group_due_date on milestones (group_id, due_date, id desc);
create index milestones_group_state_due_date on milestones (group_id, state, due_date, id desc);
create index milestones_title on milestones (title);

create table iteration_cadences (
  id bigint generated always as identity primary key,
  group_id bigint not null references namespaces on delete cascade,
  title text not null,
  description text,
  automatic boolean not null default false,
  active boolean not null default true,
  roll_over boolean not null default false,
  start_date date,
  duration_in_weeks integer check (duration_in_weeks > 0),
  iterations_in_advance integer check (iterations_in_advance > 0),
  -- The day up to which issues were rolled over.
  rolled_over_on date,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (not automatic or num_nulls(start_date, duration_in_weeks, iterations_in_advance) = 0),
  constraint iteration_cadences_title_key unique (group_id, title)
);
-- An iteration has no state of its own: its dates say it.
create table iterations (
  id bigint generated always as identity primary key,
  iid integer not null,
  sequence integer not null,
  group_id bigint not null references namespaces on delete cascade,
  iterations_cadence_id bigint not null references iteration_cadences on delete cascade,
  title text,
  description text,
  start_date date not null,
  due_date date not null check (due_date >= start_date),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (group_id, iid),
  unique (iterations_cadence_id, sequence)
);
create index iterations_group_due_date on iterations (group_id, due_date, title, id);
create index iterations_cadence_due_date on iterations (iterations_cadence_id, due_date);

create table epics (
  id bigint primary key,
  iid integer not null,
  group_id bigint not null references namespaces on delete cascade,
  author_id bigint references users on delete set null,
  title text not null,
  description text,
  state text not null default 'opened' check (state in ('opened', 'closed')),
  confidential boolean not null default false,
  discussion_locked boolean not null default false,
  parent_id bigint references epics on delete set null,
  start_date date,
  due_date date,
  color text not null default '#1068bf',
  user_notes_count integer not null default 0,
  closed_at timestamptz,
  closed_by_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint epics_iid_key unique (group_id, iid)
);
create index epics_group_created_at on epics (group_id, created_at, id);
create trigger make_noteable before insert on epics for each row execute function make_noteable('epic');
create trigger drop_noteable after delete on epics for each row execute function drop_noteable();

create table snippets (
  id bigint primary key,
  project_id bigint not null references projects on delete cascade,
  author_id bigint references users on delete set null,
  title text not null,
  description text,
  visibility text not null default 'private' check (visibility in ('private', 'internal', 'public')),
  user_notes_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index snippets_project on snippets (project_id, id);
create trigger make_noteable before insert on snippets for each row execute function make_noteable('snippet');
create trigger drop_noteable after delete on snippets for each row execute function drop_noteable();
create table snippet_files (
  snippet_id bigint not null references snippets on delete cascade,
  position integer not null,
  path text not null,
  content text not null,
  primary key (snippet_id, position),
  unique (snippet_id, path)
);

-- A commit gets a row when somebody first says something about it.
create table noteable_commits (
  id bigint primary key,
  project_id bigint not null references projects on delete cascade,
  sha text not null,
  constraint noteable_commits_sha_key unique (project_id, sha)
);
create trigger make_noteable before insert on noteable_commits
  for each row execute function make_noteable('commit');
create trigger drop_noteable after delete on noteable_commits for each row execute function drop_noteable();

-- Issues and merge requests that were there before share no sequence: they get new ids, and their links with them.
alter table label_links add column noteable_id bigint;
alter table label_links drop constraint label_links_issue_id_fkey;
alter table label_links drop constraint label_links_merge_request_id_fkey;
alter table issue_assignees drop constraint issue_assignees_issue_id_fkey;
alter table issues alter column id drop identity;
alter table merge_requests alter column id drop identity;
do $$
declare
  old record;
  fresh bigint;
begin
  for old in select id from issues order by id loop
    insert into noteables (kind) values ('issue') returning id into fresh;
    update issues set id = -fresh where id = old.id;
    update issue_assignees set issue_id = -fresh where issue_id = old.id;
    update label_links set noteable_id = fresh where issue_id = old.id;
  end loop;
  update issues set id = -id;
  update issue_assignees set issue_id = -issue_id;
  for old in select id from merge_requests order by id loop
    insert into noteables (kind) values ('merge_request') returning id into fresh;
    update merge_requests set id = -fresh where id = old.id;
    update label_links set noteable_id = fresh where merge_request_id = old.id;
  end loop;
  update merge_requests set id = -id;
end $$;
alter table issue_assignees add foreign key (issue_id) references issues on delete cascade;
alter table label_links drop column issue_id, drop column merge_request_id;
alter table label_links alter column noteable_id set not null;
alter table label_links add foreign key (noteable_id) references noteables on delete cascade;
alter table label_links add primary key (label_id, noteable_id);
create index label_links_noteable on label_links (noteable_id);

alter table issues
  add column description text,
  add column issue_type text not null default 'issue'
    check (issue_type in ('issue', 'incident', 'test_case', 'task')),
  add column milestone_id bigint references milestones on delete set null,
  add column iteration_id bigint references iterations on delete set null,
  add column epic_id bigint references epics on delete set null,
  add column weight integer check (weight >= 0),
  add column due_date date,
  add column discussion_locked boolean not null default false,
  add column time_estimate integer not null default 0,
  add column total_time_spent integer not null default 0,
  add column user_notes_count integer not null default 0,
  add column closed_at timestamptz,
  add column closed_by_id bigint references users on delete set null,
  add column moved_to_id bigint references issues on delete set null;
create index issues_project_created_at on issues (project_id, created_at, id);
create index issues_project_updated_at on issues (project_id, updated_at, id);
create index issues_project_state_created_at on issues (project_id, state, created_at, id);
create index issues_milestone on issues (milestone_id) where milestone_id is not null;
create index issues_iteration on issues (iteration_id) where iteration_id is not null;
create index issues_epic on issues (epic_id) where epic_id is not null;
create index issues_author on issues (author_id, project_id);
create index issue_assignees_user on issue_assignees (user_id);
create trigger make_noteable before insert on issues for each row execute function make_noteable('issue');
create trigger drop_noteable after delete on issues for each row execute function drop_noteable();

alter table merge_requests
  add column description text,
  add column source_project_id bigint references projects on delete set null,
  add column source_branch text not null default '',
  add column target_branch text not null default '',
  add column milestone_id bigint references milestones on delete set null,
  add column squash boolean not null default false,
  add column remove_source_branch boolean not null default false,
  add column discussion_locked boolean not null default false,
  add column time_estimate integer not null default 0,
  add column total_time_spent integer not null default 0,
  add column user_notes_count integer not null default 0,
  add column merge_commit_sha text,
  add column squash_commit_sha text,
  add column merged_at timestamptz,
  add column merged_by_id bigint references users on delete set null,
  add column closed_at timestamptz,
  add column closed_by_id bigint references users on delete set null;
create index merge_requests_project_created_at on merge_requests (project_id, created_at, id);
create index merge_requests_project_updated_at on merge_requests (project_id, updated_at, id);
create index merge_requests_project_state_created_at on merge_requests (project_id, state, created_at, id);
create index merge_requests_milestone on merge_requests (milestone_id) where milestone_id is not null;
create index merge_requests_author on merge_requests (author_id, project_id);
create index merge_requests_source on merge_requests (source_project_id, source_branch) where state = 'opened';
create trigger make_noteable before insert on merge_requests
  for each row execute function make_noteable('merge_request');
create trigger drop_noteable after delete on merge_requests for each row execute function drop_noteable();
create table merge_request_assignees (
  merge_request_id bigint not null references merge_requests on delete cascade,
  user_id bigint not null references users on delete cascade,
  primary key (merge_request_id, user_id)
);
create index merge_request_assignees_user on merge_request_assignees (user_id);
create table merge_request_reviewers (
  merge_request_id bigint not null references merge_requests on delete cascade,
  user_id bigint not null references users on delete cascade,
  state text not null default 'unreviewed',
  primary key (merge_request_id, user_id)
);
create index merge_request_reviewers_user on merge_request_reviewers (user_id);
-- What a merge request compared each time its branch moved; the newest is what it is now.
create table merge_request_diffs (
  id bigint generated always as identity primary key,
  merge_request_id bigint not null references merge_requests on delete cascade,
  base_sha text not null,
  start_sha text not null,
  head_sha text not null,
  created_at timestamptz not null default now()
);
create index merge_request_diffs_merge_request on merge_request_diffs (merge_request_id, id);

-- A thread, or one comment alone. `key` is its id on the wire.
create table discussions (
  id bigint generated always as identity primary key,
  key text not null unique check (key ~ '^[0-9a-f]{40}$'),
  noteable_id bigint not null references noteables on delete cascade,
  individual_note boolean not null,
  -- Who sees a thread is a matter of the whole thread; its notes say it once more for lists of notes.
  internal boolean not null default false,
  mentions_project_id bigint references projects on delete cascade,
  mentions_code boolean not null default false,
  -- That of its first note.
  created_at timestamptz not null default now()
);
create index discussions_noteable on discussions (noteable_id, created_at, id);
create table notes (
  id bigint generated always as identity primary key,
  discussion_id bigint not null references discussions on delete cascade,
  noteable_id bigint not null references noteables on delete cascade,
  author_id bigint references users on delete set null,
  type text check (type in ('DiscussionNote', 'DiffNote')),
  body text not null,
  internal boolean not null default false,
  -- What the service itself wrote, such as `closed` or `milestone`; null on what people wrote.
  system_action text,
  -- Whoever cannot read this project does not see the note, which tells of something in it.
  mentions_project_id bigint references projects on delete cascade,
  -- What it tells of there is for those who may read the code.
  mentions_code boolean not null default false,
  diff_position jsonb,
  commit_id text,
  resolved_at timestamptz,
  resolved_by_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- Single comments are listed by themselves.
create index notes_noteable_created_at on notes (noteable_id, created_at, id) where type is null;
create index notes_noteable_updated_at on notes (noteable_id, updated_at, id) where type is null;
create index notes_noteable on notes (noteable_id);
create index notes_mentions_project on notes (mentions_project_id) where mentions_project_id is not null;
create index discussions_mentions_project on discussions (mentions_project_id) where mentions_project_id is not null;
create index notes_discussion on notes (discussion_id, created_at, id);

create table award_emoji (
  id bigint generated always as identity primary key,
  name text not null,
  user_id bigint not null references users on delete cascade,
  noteable_id bigint references noteables on delete cascade,
  note_id bigint references notes on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(noteable_id, note_id) = 1),
  constraint award_emoji_noteable_key unique (noteable_id, user_id, name),
  constraint award_emoji_note_key unique (note_id, user_id, name)
);
create index award_emoji_noteable on award_emoji (noteable_id, id) where noteable_id is not null;
create index award_emoji_note on award_emoji (note_id, id) where note_id is not null;

create table noteable_subscriptions (
  noteable_id bigint not null references noteables on delete cascade,
  user_id bigint not null references users on delete cascade,
  subscribed boolean not null,
  primary key (noteable_id, user_id)
);

-- What became of a record, as it happened: charts and timelines are drawn from these.
create table resource_label_events (
  id bigint generated always as identity primary key,
  noteable_id bigint not null references noteables on delete cascade,
  user_id bigint references users on delete set null,
  label_id bigint references labels on delete set null,
  action text not null check (action in ('add', 'remove')),
  created_at timestamptz not null default now()
);
create index resource_label_events_noteable on resource_label_events (noteable_id, id);
create table resource_state_events (
  id bigint generated always as identity primary key,
  noteable_id bigint not null references noteables on delete cascade,
  user_id bigint references users on delete set null,
  state text not null check (state in ('opened', 'closed', 'reopened', 'merged')),
  created_at timestamptz not null default now()
);
create index resource_state_events_noteable on resource_state_events (noteable_id, id);
create table resource_milestone_events (
  id bigint generated always as identity primary key,
  noteable_id bigint not null references noteables on delete cascade,
  user_id bigint references users on delete set null,
  milestone_id bigint references milestones on delete cascade,
  action text not null check (action in ('add', 'remove')),
  state text not null,
  created_at timestamptz not null default now()
);
create index resource_milestone_events_noteable on resource_milestone_events (noteable_id, id);
create index resource_milestone_events_milestone on resource_milestone_events (milestone_id, id);
create table resource_weight_events (
  id bigint generated always as identity primary key,
  issue_id bigint not null references issues on delete cascade,
  user_id bigint references users on delete set null,
  weight integer,
  created_at timestamptz not null default now()
);
create index resource_weight_events_issue on resource_weight_events (issue_id, id);
create table resource_iteration_events (
  id bigint generated always as identity primary key,
  issue_id bigint not null references issues on delete cascade,
  user_id bigint references users on delete set null,
  iteration_id bigint references iterations on delete cascade,
  action text not null check (action in ('add', 'remove')),
  created_at timestamptz not null default now()
);
create index resource_iteration_events_issue on resource_iteration_events (issue_id, id);

create table todos (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  author_id bigint references users on delete set null,
  project_id bigint references projects on delete cascade,
  group_id bigint references namespaces on delete cascade,
  noteable_id bigint not null references noteables on delete cascade,
  note_id bigint references notes on delete cascade,
  action_name text not null,
  state text not null default 'pending' check (state in ('pending', 'done')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index todos_user on todos (user_id, state, id desc);
create index todos_noteable on todos (noteable_id, user_id) where state = 'pending';

create table label_priorities (
  project_id bigint not null references projects on delete cascade,
  label_id bigint not null references labels on delete cascade,
  priority integer not null check (priority >= 0),
  primary key (project_id, label_id)
);

-- As project_counters, for what counts up inside a group.
create table namespace_counters (
  namespace_id bigint not null references namespaces on delete cascade,
  counts text not null,
  last bigint not null default 0,
  primary key (namespace_id, counts)
);
-- Counting goes on behind the issues and merge requests that are there.
insert into project_counters (project_id, counts, last)
  select project_id, 'issues', max(iid) from issues group by project_id
  union all
  select project_id, 'merge_requests', max(iid) from merge_requests group by project_id;
