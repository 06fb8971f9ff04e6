-- Tokens that let runners register themselves: of the instance, a group or a project. Only a reset shows one.
create table ci_registration_tokens (
  id bigint generated always as identity primary key,
  group_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  digest bytea not null constraint ci_registration_tokens_digest_key unique,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (group_id is null or project_id is null)
);
create unique index ci_registration_tokens_place
  on ci_registration_tokens (coalesce(group_id, 0), coalesce(project_id, 0));
create index ci_registration_tokens_group on ci_registration_tokens (group_id) where group_id is not null;
create index ci_registration_tokens_project on ci_registration_tokens (project_id) where project_id is not null;
