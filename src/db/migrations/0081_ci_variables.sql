-- Variables of jobs: a project's, a group's, or, with neither, the instance's. Values are sealed with the instance secret.
create table ci_variables (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  group_id bigint references namespaces on delete cascade,
  key text not null,
  sealed_value bytea not null,
  variable_type text not null default 'env_var' check (variable_type in ('env_var', 'file')),
  protected boolean not null default false,
  masked boolean not null default false,
  hidden boolean not null default false,
  raw boolean not null default false,
  environment_scope text not null default '*',
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) <= 1),
  check (masked or not hidden)
);
create unique index ci_variables_of_project on ci_variables (project_id, key, environment_scope)
  where project_id is not null;
create unique index ci_variables_of_group on ci_variables (group_id, key, environment_scope)
  where group_id is not null;
create unique index ci_variables_of_instance on ci_variables (key)
  where project_id is null and group_id is null;
