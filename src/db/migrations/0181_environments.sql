-- Where jobs and programs deploy to.
create table environments (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  name text not null check (length(name) between 1 and 255),
  slug text not null check (slug ~ '^[a-z0-9-]{1,24}$'),
  external_url text check (length(external_url) <= 255),
  tier text not null check (tier in ('production', 'staging', 'testing', 'development', 'other')),
  state text not null default 'available' check (state in ('available', 'stopping', 'stopped')),
  -- The environment stops, or once stopped is deleted, when these times have come.
  auto_stop_at timestamptz,
  auto_delete_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint environments_name_key unique (project_id, name),
  constraint environments_slug_key unique (project_id, slug)
);
create index environments_project on environments (project_id, id);
create index environments_auto_stop on environments (auto_stop_at) where state = 'available';
create index environments_auto_delete on environments (auto_delete_at) where auto_delete_at is not null;

alter table ci_jobs add environment_id bigint references environments on delete set null;
create index ci_jobs_environment on ci_jobs (environment_id) where environment_id is not null;

-- The status of a job's deployment follows the job; others are changed by the programs that made them.
create table deployments (
  id bigint generated always as identity primary key,
  iid bigint not null,
  project_id bigint not null references projects on delete cascade,
  environment_id bigint not null references environments on delete cascade,
  job_id bigint references ci_jobs on delete set null constraint deployments_job_key unique,
  user_id bigint references users on delete set null,
  ref text not null,
  tag boolean not null,
  sha text not null,
  status text not null check (status in
    ('created', 'running', 'success', 'failed', 'canceled', 'skipped', 'blocked')),
  -- Of the job's configuration, its variables expanded.
  external_url text,
  finished_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint deployments_iid_key unique (project_id, iid)
);
create index deployments_project on deployments (project_id, id);
create index deployments_environment on deployments (environment_id, id);
create index deployments_user on deployments (user_id);
create index deployments_last on deployments (environment_id, finished_at desc, id desc) where status = 'success';
create index deployments_updated on deployments (project_id, updated_at, id desc);

create table deployment_merge_requests (
  deployment_id bigint not null references deployments on delete cascade,
  merge_request_id bigint not null references merge_requests on delete cascade,
  primary key (deployment_id, merge_request_id)
);
create index deployment_merge_requests_merge_request on deployment_merge_requests (merge_request_id);
