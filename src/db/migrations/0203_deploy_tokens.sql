-- Tokens of projects and groups that fetch code and packages, and act for no user.
create table deploy_tokens (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  name text not null,
  username text not null,
  digest bytea not null constraint deploy_tokens_digest_key unique,
  scopes text[] not null,
  expires_at timestamptz,
  revoked boolean not null default false,
  created_at timestamptz not null default now(),
  constraint deploy_tokens_parent_check check (num_nonnulls(project_id, namespace_id) = 1)
);
create index deploy_tokens_project on deploy_tokens (project_id, id);
create index deploy_tokens_namespace on deploy_tokens (namespace_id, id);
