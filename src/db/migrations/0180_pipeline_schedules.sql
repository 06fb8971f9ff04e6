-- Crons that start pipelines in their owner's name. next_run_at is null for a cron that never fires.
create table pipeline_schedules (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  owner_id bigint references users on delete set null,
  description text not null,
  ref text not null check (ref ~ '^refs/(heads|tags)/.'),
  cron text not null,
  cron_timezone text not null,
  active boolean not null default true,
  next_run_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index pipeline_schedules_project on pipeline_schedules (project_id, id);
create index pipeline_schedules_owner on pipeline_schedules (owner_id);
create index pipeline_schedules_due on pipeline_schedules (next_run_at) where active;

-- Values are sealed with the instance secret.
create table pipeline_schedule_variables (
  id bigint generated always as identity primary key,
  schedule_id bigint not null references pipeline_schedules on delete cascade,
  key text not null,
  sealed_value bytea not null,
  variable_type text not null default 'env_var' check (variable_type in ('env_var', 'file')),
  raw boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint pipeline_schedule_variables_key unique (schedule_id, key)
);

alter table pipelines add schedule_id bigint references pipeline_schedules on delete set null;
create index pipelines_schedule on pipelines (schedule_id, id) where schedule_id is not null;
