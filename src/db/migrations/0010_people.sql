-- What is known of people beside a name: their own words, their addresses, what they may make.

alter table users
  drop constraint users_user_type_check,
  add constraint users_user_type_check check (user_type in ('human', 'project_bot', 'ghost')),
  add column public_email text,
  add column private_profile boolean not null default false,
  add column note text,
  add column can_create_group boolean not null default true,
  add column projects_limit integer not null default 100000,
  add column confirmed_at timestamptz default now(),
  add column created_by_id bigint references users on delete set null,
  add column profile jsonb not null default '{}',
  add column status jsonb not null default '{}';
create index users_public_email on users (lower(public_email)) where public_email is not null;
create index users_by_name on users (name, id);
create index users_by_username on users (username, id);
create index users_by_created_at on users (created_at, id);
create index users_by_updated_at on users (updated_at, id);
create unique index users_ghost on users (user_type) where user_type = 'ghost';
create index users_created_by on users (created_by_id) where created_by_id is not null;

-- Every address that somebody has, the primary one too.
create table user_emails (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  email text not null,
  is_primary boolean not null default false,
  confirmed_at timestamptz,
  created_at timestamptz not null default now()
);
-- An address that nobody confirmed is a claim, and many may make it: who claims one learns nothing of others.
create unique index user_emails_email_key on user_emails (lower(email)) where confirmed_at is not null or is_primary;
create index user_emails_email on user_emails (lower(email));
create unique index user_emails_own on user_emails (user_id, lower(email));
create unique index user_emails_primary on user_emails (user_id) where is_primary;
insert into user_emails (user_id, email, is_primary, confirmed_at)
  select id, email, true, confirmed_at from users;
create function keep_primary_email() returns trigger language plpgsql as $$
begin
  insert into user_emails (user_id, email, is_primary, confirmed_at)
  values (new.id, new.email, true, new.confirmed_at)
  on conflict (user_id) where is_primary
  do update set email = excluded.email, confirmed_at = excluded.confirmed_at;
  return null;
end $$;
create trigger keep_email after insert or update of email, confirmed_at on users
  for each row execute function keep_primary_email();

alter table personal_access_tokens add column description text;
-- The bot behind a token of a project or a group. Nobody else uses its name.
create table resource_bots (
  user_id bigint primary key references users on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  access_level smallint not null,
  check (num_nonnulls(namespace_id, project_id) = 1)
);
create index resource_bots_namespace on resource_bots (namespace_id) where namespace_id is not null;
create index resource_bots_project on resource_bots (project_id) where project_id is not null;
create function end_bot_tokens() returns trigger language plpgsql as $$
begin
  update personal_access_tokens set revoked = true, updated_at = now()
   where user_id = old.user_id and not revoked;
  return null;
end $$;
create trigger end_tokens after delete on resource_bots for each row execute function end_bot_tokens();

create table invitations (
  id bigint generated always as identity primary key,
  namespace_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  email text not null,
  access_level smallint not null check (access_level in (0, 5, 10, 15, 20, 30, 40, 50)),
  expires_at date,
  token_digest bytea not null unique,
  sealed_token bytea not null,
  mailed_at timestamptz,
  created_by_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(namespace_id, project_id) = 1)
);
create unique index invitations_namespace_email on invitations (namespace_id, lower(email)) where namespace_id is not null;
create unique index invitations_project_email on invitations (project_id, lower(email)) where project_id is not null;
create index invitations_email on invitations (lower(email));

-- Who invites an address and who confirms it wait for each other, so that no invitation is left behind.
-- Addresses share a few locks: a transaction has room for so many, and may bring any number of people.
create function address_lock(address text) returns integer language sql immutable as $$
  select (hashtext(lower(address)) & 1023)
$$;
create function accept_invitations() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7163021, address_lock(new.email));
  with taken as (delete from invitations where lower(email) = lower(new.email) returning *)
  insert into members (user_id, namespace_id, project_id, access_level, expires_at, created_by_id)
  select new.user_id, namespace_id, project_id, access_level, expires_at, created_by_id
    from taken where expires_at is null or expires_at > today()
  on conflict do nothing;
  return null;
end $$;
create trigger accept after insert or update of email, confirmed_at on user_emails
  for each row when (new.confirmed_at is not null) execute function accept_invitations();

-- Promotions into a billable role that wait for an administrator.
create table member_promotions (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  access_level smallint not null,
  expires_at date,
  requested_by_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  check (num_nonnulls(namespace_id, project_id) = 1)
);
create unique index member_promotions_namespace on member_promotions (user_id, namespace_id) where namespace_id is not null;
create unique index member_promotions_project on member_promotions (user_id, project_id) where project_id is not null;

-- Every request reads this beside its token, so that a setting is in force everywhere from the next request on.
create table settings_clock (
  id boolean primary key default true check (id),
  version bigint not null
);
insert into settings_clock (version) values (0);
create or replace function tell_settings() returns trigger language plpgsql as $$
begin
  update settings_clock set version = version + 1;
  perform pg_notify('settings', '');
  return null;
end $$;

-- A page of members is a walk along one of these.
create index members_namespace_user on members (namespace_id, user_id) where namespace_id is not null;
create index members_project_user on members (project_id, user_id) where project_id is not null;
drop index members_namespace_id;
drop index members_project_id;
