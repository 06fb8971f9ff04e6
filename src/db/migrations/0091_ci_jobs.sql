-- Pipelines with jobs of their own. What other programs report (commit_statuses) belongs to the same pipelines.
alter table pipelines
  add before_sha text not null default '0000000000000000000000000000000000000000',
  add tag boolean not null default false,
  add protected boolean not null default false,
  add name text,
  add stages text[] not null default '{}',
  add yaml_errors text,
  add failure_reason text,
  -- Sealed JSON: variables given by whoever started the pipeline may be secrets.
  add variables bytea,
  -- What bridges forward: root variables of the configuration.
  add yaml_variables jsonb not null default '[]',
  add on_new_commit text not null default 'conservative',
  add on_job_failure text not null default 'none',
  add auto_canceled_by_id bigint references pipelines on delete set null,
  add merge_request_id bigint references merge_requests on delete cascade,
  add parent_id bigint references pipelines on delete cascade,
  add committed_at timestamptz,
  add started_at timestamptz,
  add finished_at timestamptz,
  add duration bigint;
create index pipelines_project on pipelines (project_id, id);
create index pipelines_ref on pipelines (project_id, ref, id);
create index pipelines_user on pipelines (user_id);
create index pipelines_parent on pipelines (parent_id) where parent_id is not null;
create index pipelines_merge_request on pipelines (merge_request_id, id) where merge_request_id is not null;
create index pipelines_unfinished on pipelines (project_id, ref, id)
  where status not in ('success', 'failed', 'canceled', 'skipped');

-- At most one job of a group runs at a time. No row says which: the job whose status says that it has begun (see ci_jobs).
create table resource_groups (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  key text not null check (length(key) between 1 and 255),
  process_mode text not null default 'unordered' check (process_mode in ('unordered', 'oldest_first', 'newest_first')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint resource_groups_key unique (project_id, key)
);

create table ci_runners (
  id bigint generated always as identity primary key,
  runner_type text not null check (runner_type in ('instance_type', 'group_type', 'project_type')),
  digest bytea not null constraint ci_runners_digest_key unique,
  group_id bigint references namespaces on delete cascade,
  creator_id bigint references users on delete set null,
  description text,
  maintenance_note text,
  paused boolean not null default false,
  locked boolean not null default false,
  run_untagged boolean not null default true,
  tag_list text[] not null default '{}',
  access_level text not null default 'not_protected' check (access_level in ('not_protected', 'ref_protected')),
  maximum_timeout bigint check (maximum_timeout >= 600),
  contacted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((runner_type = 'group_type') = (group_id is not null))
);
create index ci_runners_group on ci_runners (group_id) where group_id is not null;
create index ci_runners_creator on ci_runners (creator_id);

create table ci_runner_projects (
  runner_id bigint not null references ci_runners on delete cascade,
  project_id bigint not null references projects on delete cascade,
  created_at timestamptz not null default now(),
  primary key (runner_id, project_id)
);
create index ci_runner_projects_project on ci_runner_projects (project_id);

-- One process of a runner: several machines may share a runner's token.
create table ci_runner_managers (
  id bigint generated always as identity primary key,
  runner_id bigint not null references ci_runners on delete cascade,
  system_id text not null,
  version text,
  revision text,
  platform text,
  architecture text,
  ip_address text,
  contacted_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  constraint ci_runner_managers_key unique (runner_id, system_id)
);

-- Each combination of tags once: a runner looks for jobs combination by combination, whatever number of jobs waits.
create table ci_tag_sets (
  id bigint generated always as identity primary key,
  tags text[] not null constraint ci_tag_sets_key unique
);

-- What is decided about a job when its pipeline is created; a retried job shares it.
create table ci_job_specs (
  id bigint generated always as identity primary key,
  pipeline_id bigint not null references pipelines on delete cascade,
  run_when text not null check (run_when in ('on_success', 'on_failure', 'always', 'manual', 'delayed')),
  start_in bigint,
  allow_failure boolean not null,
  allow_failure_exit_codes bigint[],
  scheduling_type text not null check (scheduling_type in ('stage', 'dag')),
  -- Names of jobs of the pipeline, and of these the ones whose artifacts are not downloaded.
  needs text[] not null default '{}',
  needs_without_artifacts text[] not null default '{}',
  dependencies text[],
  interruptible boolean not null default false,
  retry_max bigint not null default 0 check (retry_max between 0 and 2),
  retry_when text[] not null default '{}',
  retry_exit_codes bigint[] not null default '{}',
  timeout bigint,
  coverage text,
  manual_confirmation text,
  instance_index bigint,
  instance_total bigint,
  environment jsonb,
  trigger jsonb,
  variables jsonb not null default '[]',
  options jsonb not null default '{}'
);
create index ci_job_specs_pipeline on ci_job_specs (pipeline_id);

create table ci_jobs (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  pipeline_id bigint not null references pipelines on delete cascade,
  spec_id bigint not null references ci_job_specs on delete cascade,
  kind text not null check (kind in ('build', 'bridge')),
  name text not null,
  stage text not null,
  stage_index bigint not null,
  status text not null default 'created' check (status in
    ('created', 'waiting_for_resource', 'pending', 'running', 'canceling', 'success', 'failed', 'canceled', 'skipped',
     'manual', 'scheduled')),
  allow_failure boolean not null,
  retried boolean not null default false,
  failure_reason text,
  exit_code bigint,
  user_id bigint references users on delete set null,
  resource_group_id bigint references resource_groups on delete set null,
  tag_set_id bigint not null references ci_tag_sets,
  protected boolean not null default false,
  -- Whether the project offers the job to runners of the instance.
  instance_runners boolean not null default true,
  runner_id bigint references ci_runners on delete set null,
  runner_manager_id bigint references ci_runner_managers on delete set null,
  -- Set while the job runs: its token opens what its user may, and nothing afterwards.
  token_digest bytea,
  cancels_gracefully boolean not null default false,
  timeout bigint,
  variables bytea,
  downstream_id bigint references pipelines on delete set null,
  coverage double precision,
  trace_size bigint not null default 0,
  artifacts_expire_at timestamptz,
  queued_at timestamptz,
  scheduled_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  erased_at timestamptz,
  -- The lease: a runner that is not heard of for too long has lost the job.
  contacted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index ci_jobs_latest on ci_jobs (pipeline_id, name) where not retried;
create index ci_jobs_pipeline on ci_jobs (pipeline_id, id);
create index ci_jobs_project on ci_jobs (project_id, id);
create index ci_jobs_spec on ci_jobs (spec_id);
create index ci_jobs_user on ci_jobs (user_id);
create index ci_jobs_runner on ci_jobs (runner_id, id) where runner_id is not null;
create index ci_jobs_runner_manager on ci_jobs (runner_manager_id) where runner_manager_id is not null;
create index ci_jobs_downstream on ci_jobs (downstream_id) where downstream_id is not null;
create unique index ci_jobs_token on ci_jobs (token_digest) where token_digest is not null;
-- A group's resource is held by the one job that has begun: it is taken, and free again, with that job's status.
create unique index ci_jobs_resource on ci_jobs (resource_group_id)
  where resource_group_id is not null and status in ('pending', 'running', 'canceling');
create index ci_jobs_upcoming on ci_jobs (resource_group_id, pipeline_id, id)
  where resource_group_id is not null and status in ('created', 'scheduled', 'waiting_for_resource');
create index ci_jobs_queue_instance on ci_jobs (tag_set_id, protected, id)
  where status = 'pending' and kind = 'build' and instance_runners;
create index ci_jobs_queue_project on ci_jobs (project_id, tag_set_id, protected, id)
  where status = 'pending' and kind = 'build';
create index ci_jobs_waiting on ci_jobs (resource_group_id, id)
  where resource_group_id is not null and status = 'waiting_for_resource';
create index ci_jobs_leases on ci_jobs (contacted_at) where status in ('running', 'canceling') and kind = 'build';
create index ci_jobs_scheduled on ci_jobs (scheduled_at) where status = 'scheduled';
create index ci_jobs_queued on ci_jobs (queued_at) where status = 'pending';

create table ci_job_artifacts (
  id bigint generated always as identity primary key,
  job_id bigint not null references ci_jobs on delete cascade,
  project_id bigint not null references projects on delete cascade,
  file_type text not null,
  file_format text not null,
  filename text not null,
  size bigint not null,
  sha256 text not null,
  expire_at timestamptz,
  created_at timestamptz not null default now(),
  constraint ci_job_artifacts_key unique (job_id, file_type)
);
create index ci_job_artifacts_project on ci_job_artifacts (project_id);
create index ci_job_artifacts_expiry on ci_job_artifacts (expire_at) where expire_at is not null;
