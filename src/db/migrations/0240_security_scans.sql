-- What became of the security report of a job: one row a job and kind of report, of the last time it was read.
create table security_scans (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  -- Of child pipelines the one at the top.
  pipeline_id bigint not null references pipelines on delete cascade,
  job_id bigint not null references ci_jobs on delete cascade,
  report_type text not null,
  -- outdated: a later pipeline was imported before.
  status text not null check (status in ('succeeded', 'job_failed', 'report_error', 'outdated')),
  faults text[] not null default '{}',
  created_count bigint not null default 0,
  updated_count bigint not null default 0,
  unchanged_count bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint security_scans_job_key unique (job_id, report_type)
);
create index security_scans_project on security_scans (project_id, report_type, pipeline_id);
create index security_scans_pipeline on security_scans (pipeline_id);
