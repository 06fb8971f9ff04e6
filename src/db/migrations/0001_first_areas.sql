-- Ids, times and counts as the interface has them; names are the wire's names.

create table users (
  id bigint generated always as identity primary key,
  username text not null check (username <> ''),
  name text not null,
  email text not null,
  state text not null default 'active' check (state in ('active', 'blocked', 'deactivated')),
  user_type text not null default 'human' check (user_type in ('human', 'project_bot')),
  admin boolean not null default false,
  external boolean not null default false,
  avatar_url text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index users_username_key on users (lower(username));
create unique index users_email_key on users (lower(email));

create table namespaces (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('group', 'user')),
  parent_id bigint references namespaces,
  owner_id bigint references users on delete cascade,
  name text not null,
  path text not null,
  full_name text not null,
  full_path text not null,
  traversal_ids bigint[] not null,
  description text not null default '',
  visibility text not null default 'private' check (visibility in ('private', 'internal', 'public')),
  avatar_url text,
  runners_token bytea,
  repository_storage text not null default 'default',
  plan text not null default 'default',
  marked_for_deletion_on date,
  settings jsonb not null default '{}',
  custom_attributes jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((kind = 'user') = (owner_id is not null)),
  check (kind = 'group' or parent_id is null),
  check (traversal_ids[cardinality(traversal_ids)] = id)
);
create unique index namespaces_owner_key on namespaces (owner_id);
create unique index namespaces_full_path_key on namespaces (lower(full_path));
create index namespaces_parent_path on namespaces (parent_id, lower(path));
create index namespaces_traversal_ids on namespaces using gin (traversal_ids);
create index groups_name on namespaces (name, id) where kind = 'group';
create index groups_path on namespaces (path, id) where kind = 'group';

create table projects (
  id bigint generated always as identity primary key,
  namespace_id bigint not null references namespaces,
  creator_id bigint references users on delete set null,
  name text not null,
  path text not null,
  full_path text not null,
  description text,
  visibility text not null default 'private' check (visibility in ('private', 'internal', 'public')),
  archived boolean not null default false,
  default_branch text,
  topics text[] not null default '{}',
  avatar_url text,
  repository_access_level text not null default 'enabled'
    check (repository_access_level in ('disabled', 'private', 'enabled')),
  settings jsonb not null default '{}',
  custom_attributes jsonb not null default '{}',
  star_count integer not null default 0,
  forks_count integer not null default 0,
  open_issues_count integer not null default 0,
  repository_size bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_activity_at timestamptz not null default now()
);
create unique index projects_full_path_key on projects (lower(full_path));
create index projects_namespace_created_at on projects (namespace_id, created_at, id);
create index projects_namespace_name on projects (namespace_id, name, id);

-- A path belongs to one namespace or project, whatever its kind and letter case.
create table routes (
  path text primary key,
  namespace_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  check (num_nonnulls(namespace_id, project_id) = 1)
);
create unique index routes_namespace_id on routes (namespace_id);
create unique index routes_project_id on routes (project_id);
create function keep_namespace_route() returns trigger language plpgsql as $$
begin
  insert into routes (path, namespace_id) values (lower(new.full_path), new.id)
  on conflict (namespace_id) do update set path = excluded.path;
  return null;
end $$;
create function keep_project_route() returns trigger language plpgsql as $$
begin
  insert into routes (path, project_id) values (lower(new.full_path), new.id)
  on conflict (project_id) do update set path = excluded.path;
  return null;
end $$;
create trigger keep_route after insert or update of full_path on namespaces
  for each row execute function keep_namespace_route();
create trigger keep_route after insert or update of full_path on projects
  for each row execute function keep_project_route();

create table members (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  access_level smallint not null check (access_level in (0, 5, 10, 15, 20, 30, 40, 50)),
  expires_at date,
  created_by_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(namespace_id, project_id) = 1)
);
-- Not partial: it also finds everything that a user holds.
create unique index members_namespace_key on members (user_id, namespace_id);
create unique index members_project_key on members (user_id, project_id) where project_id is not null;
create index members_namespace_id on members (namespace_id);
create index members_project_id on members (project_id);

create table group_group_links (
  id bigint generated always as identity primary key,
  shared_group_id bigint not null references namespaces on delete cascade,
  shared_with_group_id bigint not null references namespaces on delete cascade,
  group_access smallint not null check (group_access in (10, 15, 20, 30, 40, 50)),
  expires_at date,
  created_at timestamptz not null default now(),
  unique (shared_group_id, shared_with_group_id)
);
create index group_group_links_with on group_group_links (shared_with_group_id);

create table project_group_links (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  group_id bigint not null references namespaces on delete cascade,
  group_access smallint not null check (group_access in (10, 15, 20, 30, 40, 50)),
  expires_at date,
  created_at timestamptz not null default now(),
  unique (project_id, group_id)
);
create index project_group_links_group on project_group_links (group_id);

create function today() returns date language sql stable return (now() at time zone 'utc')::date;

-- Who was given which level on what, every way there is: the one place for that rule. A level counts on the
-- namespace and everything below it (0 takes away, 5 counts on the namespace alone).
create view grants (user_id, namespace_id, project_id, access_level) as
  select user_id, namespace_id, project_id, access_level::int
    from members
   where expires_at is null or expires_at > today()
  union all
  select owner_id, id, null, 50 from namespaces where kind = 'user'
  union all
  select m.user_id, l.shared_group_id, null, least(m.access_level, l.group_access)::int
    from members m
    join namespaces w on m.namespace_id = w.id
    join namespaces invited on invited.traversal_ids @> array[w.id]
    join group_group_links l on l.shared_with_group_id = invited.id
   where m.access_level <> 5
     and (m.expires_at is null or m.expires_at > today())
     and (l.expires_at is null or l.expires_at > today())
  union all
  select m.user_id, null, l.project_id, least(m.access_level, l.group_access)::int
    from members m
    join namespaces w on m.namespace_id = w.id
    join namespaces invited on invited.traversal_ids @> array[w.id]
    join project_group_links l on l.group_id = invited.id
   where m.access_level <> 5
     and (m.expires_at is null or m.expires_at > today())
     and (l.expires_at is null or l.expires_at > today());

create table personal_access_tokens (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  name text not null,
  digest bytea not null unique,
  scopes text[] not null,
  impersonation boolean not null default false,
  revoked boolean not null default false,
  expires_at date,
  last_used_at timestamptz,
  previous_personal_access_token_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index personal_access_tokens_user on personal_access_tokens (user_id);

create table settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);
create table features (
  name text primary key,
  enabled boolean not null,
  updated_at timestamptz not null default now()
);
create function tell_settings() returns trigger language plpgsql as $$
begin
  perform pg_notify('settings', '');
  return null;
end $$;
create trigger tell after insert or update or delete on settings for each statement execute function tell_settings();
create trigger tell after insert or update or delete on features for each statement execute function tell_settings();

create table labels (
  id bigint generated always as identity primary key,
  group_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  title text not null,
  color text not null,
  description text,
  lock_on_merge boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(group_id, project_id) = 1)
);
create unique index labels_group_title_key on labels (group_id, title, id);
create unique index labels_group_title_once on labels (group_id, title) where group_id is not null;
create unique index labels_project_title_once on labels (project_id, title) where project_id is not null;

create table issues (
  id bigint generated always as identity primary key,
  iid integer not null,
  project_id bigint not null references projects on delete cascade,
  author_id bigint references users on delete set null,
  title text not null,
  state text not null default 'opened' check (state in ('opened', 'closed')),
  confidential boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, iid)
);
create table issue_assignees (
  issue_id bigint not null references issues on delete cascade,
  user_id bigint not null references users on delete cascade,
  primary key (issue_id, user_id)
);
create table merge_requests (
  id bigint generated always as identity primary key,
  iid integer not null,
  project_id bigint not null references projects on delete cascade,
  author_id bigint references users on delete set null,
  title text not null,
  state text not null default 'opened' check (state in ('opened', 'closed', 'locked', 'merged')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, iid)
);
create table label_links (
  label_id bigint not null references labels on delete cascade,
  issue_id bigint references issues on delete cascade,
  merge_request_id bigint references merge_requests on delete cascade,
  check (num_nonnulls(issue_id, merge_request_id) = 1)
);
create unique index label_links_issue_key on label_links (label_id, issue_id) where issue_id is not null;
create unique index label_links_merge_request_key on label_links (label_id, merge_request_id)
  where merge_request_id is not null;
create index label_links_issue on label_links (issue_id) where issue_id is not null;
create index label_links_merge_request on label_links (merge_request_id) where merge_request_id is not null;
create table label_subscriptions (
  label_id bigint not null references labels on delete cascade,
  user_id bigint not null references users on delete cascade,
  primary key (label_id, user_id)
);

create table project_stars (
  user_id bigint not null references users on delete cascade,
  project_id bigint not null references projects on delete cascade,
  primary key (user_id, project_id)
);

create table project_aliases (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  name text not null,
  created_at timestamptz not null default now(),
  constraint project_aliases_name_key unique (name)
);
create index project_aliases_project on project_aliases (project_id);

create table plan_limits (
  plan_name text primary key,
  limits jsonb not null default '{}',
  updated_at timestamptz not null default now()
);
insert into plan_limits (plan_name) values ('default');
