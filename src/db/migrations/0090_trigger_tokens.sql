-- Tokens that start pipelines. Found by digest; sealed with the instance's secret so that their owner can see them again.
create table trigger_tokens (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  owner_id bigint references users on delete cascade,
  description text not null,
  digest bytea not null constraint trigger_tokens_digest_key unique,
  sealed bytea not null,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index trigger_tokens_project on trigger_tokens (project_id, id);
create index trigger_tokens_owner on trigger_tokens (owner_id);
