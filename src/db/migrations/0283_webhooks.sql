-- A webhook of a project, of a group, or of the instance (neither is set).
create table web_hooks (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  group_id bigint references namespaces on delete cascade,
  url text not null check (length(url) <= 2048),
  name text,
  description text,
  -- Flags such as push_events.
  subscriptions text[] not null,
  enable_ssl_verification boolean not null,
  push_events_branch_filter text,
  branch_filter_strategy text not null check (branch_filter_strategy in ('wildcard', 'regex', 'all_branches')),
  custom_webhook_template text,
  -- Sealed JSON: token, signing token, values of URL variables and headers.
  secrets bytea not null,
  has_token boolean not null default false,
  has_signing_token boolean not null default false,
  url_variables text[] not null default '{}',
  custom_headers text[] not null default '{}',
  -- Failed deliveries in a row.
  failures int not null default 0,
  disabled_until timestamptz,
  -- Nothing is sent before, after a failure that does not disable yet.
  retry_at timestamptz,
  -- The worker that delivers holds the webhook until then.
  leased_until timestamptz,
  lease uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (project_id is null or group_id is null)
);
create index web_hooks_project on web_hooks (project_id) where project_id is not null;
create index web_hooks_group on web_hooks (group_id) where group_id is not null;
create index web_hooks_system on web_hooks (id) where project_id is null and group_id is null;

create table web_hook_deliveries (
  id bigint generated always as identity primary key,
  hook_id bigint not null references web_hooks on delete cascade,
  -- Null for a test or a delivery that is sent again, which `asked_by` asked for.
  event_id bigint,
  asked_by bigint,
  trigger text not null,
  pending boolean not null,
  attempts int not null default 0,
  idempotency_key uuid not null default gen_random_uuid(),
  event_uuid uuid not null default gen_random_uuid(),
  -- What the last attempt sent and got; null before the first.
  url text,
  body text,
  request_headers jsonb,
  response_headers jsonb,
  response_body text,
  response_status text,
  execution_duration float8,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index web_hook_deliveries_pending on web_hook_deliveries (hook_id, id) where pending;
create index web_hook_deliveries_done on web_hook_deliveries (hook_id, id) where attempts > 0;
create index web_hook_deliveries_asked on web_hook_deliveries (asked_by, created_at) where asked_by is not null;
create index web_hook_deliveries_event on web_hook_deliveries (event_id) where pending;
create index web_hook_deliveries_created on web_hook_deliveries (created_at);
