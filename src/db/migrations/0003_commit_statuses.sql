-- Numbers that count up inside a project, such as the iid of pipelines. The row is locked while one is drawn.
create table project_counters (
  project_id bigint not null references projects on delete cascade,
  counts text not null,
  last bigint not null default 0,
  primary key (project_id, counts)
);

create table pipelines (
  id bigint generated always as identity primary key,
  iid bigint not null,
  project_id bigint not null references projects on delete cascade,
  sha text not null check (sha ~ '^[0-9a-f]{40}$'),
  ref text not null,
  status text not null default 'created',
  source text not null default 'push',
  user_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint pipelines_iid_key unique (project_id, iid)
);
create index pipelines_commit on pipelines (project_id, sha, id);

-- What other programs say about a commit. Of one name and ref in a pipeline the newest counts; the others are retried.
create table commit_statuses (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  pipeline_id bigint not null references pipelines on delete cascade,
  author_id bigint references users on delete set null,
  sha text not null,
  ref text not null,
  name text not null,
  status text not null check (status in ('pending', 'running', 'success', 'failed', 'canceled', 'skipped')),
  target_url text,
  description text,
  coverage double precision,
  allow_failure boolean not null default false,
  retried boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index commit_statuses_commit on commit_statuses (project_id, sha, id);
create index commit_statuses_pipeline on commit_statuses (pipeline_id);
create unique index commit_statuses_latest on commit_statuses (pipeline_id, ref, name) where not retried;

-- Comments on a commit, on the whole of it or on a line of its difference.
create table commit_notes (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  author_id bigint references users on delete set null,
  sha text not null,
  note text not null check (note <> ''),
  path text,
  line bigint,
  line_type text check (line_type in ('new', 'old')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((path is null) = (line is null) and (line is null) = (line_type is null))
);
create index commit_notes_commit on commit_notes (project_id, sha, id);
